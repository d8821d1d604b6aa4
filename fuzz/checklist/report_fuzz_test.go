package checklist

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// FuzzReport reads anything as the row of a checklist's journal and writes the report
// of each step with it, which only has what can be seen, and tables whose lines have as
// many cells as their heads.
func FuzzReport(f *testing.F) {
	for _, row := range []Row{
		{"loader", "environment", OK, "", map[string]string{"driver": "1|2", "chip\n": "\x1b[2J"}},
		{"questions", "mma.m16n8k8.f32.f16.f16.f32", Differs, "a | b", answerTable{Answers: []answer{{ID: "x", Expected: "1", Got: "2"}}}},
		{"speed", "mma.m16n8k8.f32.f16.f16.f32", OK, "", speedTable{Rates: []rate{{}, {}, {}, {}, {}, {}}}},
		{"differential", "x raw", Failed, "panic\n\ttext", nil},
	} {
		body, err := json.Marshal(row)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"step":"speed","data":{"rates":null,"timing":{}}}`))
	f.Add([]byte(`{"step":"loader","key":"environment","data":["a"]}`))
	f.Add([]byte(`{"step":"questions","key":"x","state":"a\u007f | \nb","data":{"answers":[{"id":"1\u007f|\n2"}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var row Row
		if json.Unmarshal(body, &row) != nil {
			return
		}
		rep := &Report{V: 1, Target: row.Key}
		for _, s := range steps {
			rep.Steps = append(rep.Steps, StepReport{Name: s.name, Title: s.title, Counts: map[State]int{row.State: 1}, Rows: []Row{row}})
		}
		text := rep.markdown()
		if printable.Text(text) != text {
			t.Fatalf("%s is reported as %q", body, text)
		}
		cells := 0
		for line := range strings.Lines(text) {
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if cells > 0 && strings.HasPrefix(line, "|") && n != cells {
				t.Fatalf("%s: a table of %d has the line %q", body, cells, line)
			}
			if cells = n; !strings.HasPrefix(line, "|") {
				cells = 0
			}
		}
		for _, s := range []State{OK, Differs, row.State} {
			if n := rep.Count(s); n != 0 && n != len(steps) {
				t.Fatalf("%d in state %q", n, s)
			}
		}
	})
}
