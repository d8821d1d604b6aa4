package checklist

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// markdown returns the report for people.
func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Checklist of %s\n\nBegun %s, %.0f s in this part.\n\n", readable.Markdown(r.Target), r.Began, r.Seconds)
	b.WriteString("| step | ok | differs | failed | skipped |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", s.Title, s.Counts[OK], s.Counts[Differs], s.Counts[Failed], s.Counts[Skipped])
	}
	for i := range r.Steps {
		r.Steps[i].markdown(&b)
	}
	return b.String()
}

// markdown writes a step: its rows, then a table of their data, if the step has one.
func (s *StepReport) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", s.Title)
	if len(s.Rows) == 0 {
		b.WriteString("Nothing yet.\n")
		return
	}
	b.WriteString("| | state | |\n| --- | --- | --- |\n")
	for _, row := range s.Rows {
		b.WriteString(readable.MarkdownRow(readable.MarkdownCode(row.Key), readable.Markdown(string(row.State)), readable.Markdown(row.Text)))
	}
	switch s.Name {
	case "loader":
		s.environment(b)
	case "questions":
		s.answers(b)
	case "speed":
		s.speeds(b)
	}
}

// data returns the Data of a row as a T, whether the row is new or was read from the
// journal.
func data[T any](row *Row) (v T, ok bool) {
	body, err := json.Marshal(row.Data)
	return v, err == nil && row.Data != nil && json.Unmarshal(body, &v) == nil
}

// environment writes what results depend on.
func (s *StepReport) environment(b *strings.Builder) {
	for i := range s.Rows {
		env, ok := data[map[string]string](&s.Rows[i])
		if s.Rows[i].Key != "environment" || !ok {
			continue
		}
		b.WriteString("\n| what results depend on | |\n| --- | --- |\n")
		for _, k := range slices.Sorted(maps.Keys(env)) {
			b.WriteString(readable.MarkdownRow(readable.Markdown(k), readable.Markdown(env[k])))
		}
	}
}

// answers writes what was expected and what was observed.
func (s *StepReport) answers(b *strings.Builder) {
	b.WriteString("\n| question | instruction | a, b, c | expected | observed | |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range s.Rows {
		all, ok := data[answerTable](&s.Rows[i])
		if !ok {
			continue
		}
		for _, a := range all.Answers {
			mark := ""
			if a.Expected != "" && a.Expected != a.Got {
				mark = "**differs** "
			}
			b.WriteString(readable.MarkdownRow(readable.Markdown(a.ID), readable.MarkdownCode(s.Rows[i].Key), readable.MarkdownCode(a.Dot), readable.MarkdownCode(a.Expected), readable.MarkdownCode(a.Got), mark+readable.Markdown(a.About)))
		}
	}
}

// speeds writes the figures of every instruction.
func (s *StepReport) speeds(b *strings.Builder) {
	b.WriteString("\n| instruction |")
	for _, n := range sizes {
		fmt.Fprintf(b, " tiles/s, batch of %d |", n)
	}
	b.WriteString(" pack ns | unpack ns | launch us | kernel us | one tile us | latency | interval |\n| --- |" + strings.Repeat(" ---: |", len(sizes)+7) + "\n")
	for i := range s.Rows {
		v, ok := data[speedTable](&s.Rows[i])
		if !ok {
			continue
		}
		row := []string{readable.MarkdownCode(s.Rows[i].Key)}
		for n := range sizes {
			text := ""
			if n < len(v.Rates) {
				text = fmt.Sprintf("%.3g", v.Rates[n].PerSec)
			}
			row = append(row, text)
		}
		for range 7 - len(v.timing()) {
			row = append(row, "")
		}
		b.WriteString(readable.MarkdownRow(append(row, v.timing()...)...))
	}
}

// timing returns the cells of a timing, none if there is no timing.
func (s *speedTable) timing() []string {
	t := s.Timing
	if t == nil {
		return nil
	}
	var all []string
	for _, v := range []float64{t.PackNs, t.UnpackNs, t.LaunchUs, t.KernelUs, t.OneUs, t.Latency, t.Interval} {
		all = append(all, fmt.Sprintf("%.4g", v))
	}
	return all
}
