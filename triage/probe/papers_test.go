package probe_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// sameWord translates words of the papers into ours.
var sameWord = map[string]string{"✓": "yes", "✗": "no", "truncate": "RZ", "RTN-TE": "RNE", "RN": "RNE", "N.A.": "-"}

// TestPapers regenerates the papers' tables from the simulators and compares them
// entry by entry. An entry that differs has a reason.
func TestPapers(t *testing.T) {
	data, err := os.ReadFile("testdata/papers.txt")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]probe.Answer{}
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			t.Fatalf("%q has %d columns", line, len(f))
		}
		table, row, name, id, printed, want, why := f[0], f[1], f[2], f[3], f[4], f[5], f[6]
		if answers[name] == nil {
			answers[name] = answersOf(t, name)
		}
		a, ok := answers[name][id]
		if !ok {
			t.Fatalf("table %s, %s: no question %q", table, row, id)
		}
		if a.Value != want {
			t.Errorf("table %s, %s, %s, %s: %s (%s), want %s", table, row, name, id, a.Value, a.Why, want)
		}
		if w, ok := sameWord[printed]; ok {
			printed = w
		}
		if (printed == want) != (why == "") {
			t.Errorf("table %s, %s, %s: printed %s, answered %s, reason %q", table, row, id, printed, want, why)
		}
		n++
	}
	if n < 300 {
		t.Errorf("%d entries", n)
	}
}

// answersOf asks everything of ARCH/INSTRUCTION.
func answersOf(t *testing.T, name string) map[string]probe.Answer {
	t.Helper()
	arch, inst, _ := strings.Cut(name, "/")
	p := probe.New(context.Background(), open(t, arch, inst))
	all := map[string]probe.Answer{}
	for _, paper := range probe.Papers {
		answers, err := p.Ask(paper.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			all[a.ID] = a
		}
	}
	return all
}
