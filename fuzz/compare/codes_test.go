package compare

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// TestCodes compares recordings of two units that give other NaNs, of which the catalogue has one:
// the codes count, whoever was recorded. Where they do not, by a flag, the result says so, and that
// of the night before is neither gone nor still there.
func TestCodes(t *testing.T) {
	f := fleet(t, map[string]string{"a": "sim:hopper", "v": "model:testdata/quiet.json"}, corpus.PlanInput{Source: "raw@1", Count: 512})
	run := func(baseline *Result, nan *oracle.Strictness) (r *Result, text, page string) {
		r, _ = through(t, comparison(t, Options{Baseline: baseline, NaN: nan}, f["a"], f["v"]))
		var b bytes.Buffer
		if err := r.Write(&b, TextOptions{Width: 200}); err != nil {
			t.Fatal(err)
		}
		text = b.String()
		b.Reset()
		if err := Page([]Night{{Result: r}}).Write(&b, "text", document.Options{Width: 400}); err != nil {
			t.Fatal(err)
		}
		return reread(t, r), text, b.String()
	}
	has := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	first, text, page := run(nil, nil)
	n := first.Cells[0].Mismatches
	if n == 0 || first.Exit != exitNews || len(first.Differences) != 1 || first.Differences[0].Bucket != "nan-encoding" {
		t.Fatalf("%d cases of %+v, exit %d", n, first.Differences, first.Exit)
	}
	has(page, "Results that differ in any bit count, each instruction")
	if strings.Contains(text, "codes:") {
		t.Errorf("codes do not count:\n%s", text)
	}
	class := oracle.ByClass
	last := first
	for range 2 { // the second night finds it in what the first one did not compare
		last, text, page = run(last, &class)
		if x := &last.Cells[0]; x.Mismatches != 0 || x.Codes != n || last.Exit != exitNoNews || last.Counts != (Counts{}) {
			t.Errorf("%+v, exit %d, %+v", x, last.Exit, last.Counts)
		}
		has(text, fmt.Sprintf("codes:  %d more differ in NaN codes alone (counted by --nan bits)\n", n), "no mismatch on 1 instruction\n", "NOT COMPARED THIS TIME  1 difference\n", "NaN codes are compared by class this time\n")
		has(page, "Results that differ in any bit count, except that any NaN equals any other, each", fmt.Sprintf("Codes: %d more of a ~ v", n), "not compared this time: NaN codes are compared by class this time")
	}
	if r, _, _ := run(last, nil); r.Counts != (Counts{Still: 1}) || r.Exit != exitNoNews || len(r.Gone) != 0 {
		t.Errorf("%+v, exit %d", r.Counts, r.Exit)
	}
}

// TestHides tells which differences a comparison by class says nothing of: those of a class that does
// not count, and those that have such cases among others.
func TestHides(t *testing.T) {
	for _, tc := range []struct {
		class, kind, by string
		want            bool
	}{
		{"nan-code", "x", "nan-code", true},
		{"value", "x:nan-code", "nan-code", true},
		{"value", "x:nan", "nan-code", false},
		{"nan-code", "x", "zero-sign", false},
		{"zero-sign", "x", "zero-sign", true},
		{"value", "x", "", false},
	} {
		d := &Difference{Class: tc.class, Details: []Kind{{Name: tc.kind}}}
		if got := (&Cell{ByClass: []string{tc.by}}).hides(&Gone{Codes: d.codes()}); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}
