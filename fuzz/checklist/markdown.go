package checklist

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// tables are what the report shows of the data of a step's rows, by the step's name: the
// head of a table, and the lines of one row, whose cells are Markdown.
var tables = map[string]struct {
	head  []string
	right bool // all columns but the first are numbers
	lines func(*Row) [][]string
}{
	"loader":    {[]string{"what results depend on", ""}, false, (*Row).environment},
	"questions": {[]string{"question", "instruction", "a, b, c", "expected", "observed", ""}, false, (*Row).answers},
	"speed":     {speedHead(), true, (*Row).speeds},
}

func speedHead() []string {
	head := []string{"instruction"}
	for _, n := range sizes {
		head = append(head, fmt.Sprintf("tiles/s, batch of %d", n))
	}
	return append(head, "pack ns", "unpack ns", "launch us", "kernel us", "one tile us", "latency", "interval")
}

// markdown returns the report for people.
func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Checklist of %s\n\nBegun %s, %.0f s in this part.\n\n", readable.Markdown(r.Target), r.Began, r.Seconds)
	var counts [][]string
	for _, s := range r.Steps {
		line := []string{s.Title}
		for _, state := range []State{OK, Differs, Failed, Skipped} {
			line = append(line, fmt.Sprint(s.Counts[state]))
		}
		counts = append(counts, line)
	}
	table(&b, []string{"step", "ok", "differs", "failed", "skipped"}, true, counts)
	for i := range r.Steps {
		r.Steps[i].markdown(&b)
	}
	return b.String()
}

// table writes a table.
func table(b *strings.Builder, head []string, right bool, lines [][]string) {
	b.WriteString(readable.MarkdownRow(head...))
	others := " --- |"
	if right {
		others = " ---: |"
	}
	b.WriteString("| --- |" + strings.Repeat(others, len(head)-1) + "\n")
	for _, line := range lines {
		b.WriteString(readable.MarkdownRow(line...))
	}
}

// markdown writes a step: its rows, then the table of their data, if the step has one.
func (s *StepReport) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", s.Title)
	if len(s.Rows) == 0 {
		b.WriteString("Nothing yet.\n")
		return
	}
	var rows, details [][]string
	of, detailed := tables[s.Name]
	for i := range s.Rows {
		row := &s.Rows[i]
		rows = append(rows, []string{readable.MarkdownCode(row.Key), readable.Markdown(string(row.State)), readable.Markdown(row.Text)})
		if detailed {
			details = append(details, of.lines(row)...)
		}
	}
	table(b, []string{"", "state", ""}, false, rows)
	if len(details) > 0 {
		b.WriteString("\n")
		table(b, of.head, of.right, details)
	}
}

// data returns the Data of a row as a T, whether the row is new or was read from the
// journal.
func data[T any](row *Row) (v T, ok bool) {
	body, err := json.Marshal(row.Data)
	return v, err == nil && row.Data != nil && json.Unmarshal(body, &v) == nil
}

// environment lists what results depend on.
func (r *Row) environment() (lines [][]string) {
	env, ok := data[map[string]string](r)
	if r.Key != "environment" || !ok {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		lines = append(lines, []string{readable.Markdown(k), readable.Markdown(env[k])})
	}
	return lines
}

// answers lists what was expected and what was observed.
func (r *Row) answers() (lines [][]string) {
	all, _ := data[answerTable](r)
	for _, a := range all.Answers {
		mark := ""
		if a.Expected != "" && a.Expected != a.Got {
			mark = "**differs** "
		}
		lines = append(lines, []string{readable.Markdown(a.ID), readable.MarkdownCode(r.Key), readable.MarkdownCode(a.Dot), readable.MarkdownCode(a.Expected), readable.MarkdownCode(a.Got), mark + readable.Markdown(a.About)})
	}
	return lines
}

// speeds has the figures of an instruction.
func (r *Row) speeds() [][]string {
	v, ok := data[speedTable](r)
	if !ok {
		return nil
	}
	line := make([]string, len(sizes)+8)
	line[0] = readable.MarkdownCode(r.Key)
	for n, rate := range v.Rates[:min(len(v.Rates), len(sizes))] {
		line[1+n] = fmt.Sprintf("%.3g", rate.PerSec)
	}
	if t := v.Timing; t != nil {
		for n, x := range []float64{t.PackNs, t.UnpackNs, t.LaunchUs, t.KernelUs, t.OneUs, t.Latency, t.Interval} {
			line[1+len(sizes)+n] = fmt.Sprintf("%.4g", x)
		}
	}
	return [][]string{line}
}
