package fuzztest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

const (
	columns  = 100 // of a failure's message
	pictures = 2   // in it, of the causes that most cases have
)

// causes counts the cases of each cause, draws the smallest input of the most frequent ones, and
// names the bundles of all others.
func (h *harness) causes(s *strings.Builder, state *fuzz.State) {
	findings := slices.Clone(state.Pairs[0].Findings)
	var drawn []*fuzz.Case
	g := readable.Table{Width: columns, Right: map[int]bool{0: true}, Head: true}
	g.Add("CASES", "FIRST CAUSE", "WHAT DIFFERS")
	for _, c := range fuzz.Causes(state) {
		if i := slices.IndexFunc(findings, func(f *fuzz.Case) bool { return f.Bucket == c.Name }); i >= 0 && len(drawn) < pictures {
			drawn, findings = append(drawn, findings[i]), slices.Delete(findings, i, i+1)
		}
		g.Add(readable.Thousands(c.Cases), c.Name, bundle.LabelDoc(c.Name))
	}
	g.Write(s, nil)
	for _, f := range drawn {
		s.WriteString(h.describe(f))
	}
	if len(findings) > 0 {
		fmt.Fprintln(s, "\nother kinds of cases, which mmafuzz show draws:")
	}
	for _, f := range findings {
		fmt.Fprintf(s, "bundle: %s  %s\n", f.Dir, f.Detail)
	}
}

// describe describes a finding: its cause, its smallest input, and the picture of that.
func (h *harness) describe(f *fuzz.Case) string {
	var s strings.Builder
	heading := f.Bucket
	if f.Detail != f.Bucket {
		heading += ": " + f.Detail
	}
	fmt.Fprintf(&s, "\n%s\n", heading)
	pic, err := bundle.Picture(f.Mismatch, f.Dir)
	if err == nil {
		err = report.Text(&s, pic, report.TextOptions{Width: columns})
	}
	if err != nil {
		fmt.Fprintf(&s, "  %s\n  there is no picture: %v\n", f.Mismatch.Case, err)
	}
	fmt.Fprintf(&s, "bundle: %s\n", f.Dir)
	return s.String()
}
