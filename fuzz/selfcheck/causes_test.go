package selfcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestCauses compares some pairs of architectures on few inputs: few causes, none of them
// a catch-all, the same with the sides swapped.
func TestCauses(t *testing.T) {
	pairs := [][2]string{{"volta", "cdna2"}, {"turing", "cdna3"}, {"ampere", "hopper"}, {"volta", "ampere"}, {"cdna1", "cdna3"}}
	for _, names := range pairs[:tier.Of(1, 1, 3, len(pairs))] {
		p, err := causesOf(t.Context(), names[0], names[1], 2000)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil || p.Mismatches == 0 || len(p.Causes) == 0 {
			t.Fatalf("%s and %s: %+v", names[0], names[1], p)
		}
		if fault := p.Fault(); fault != "" {
			t.Errorf("%s and %s: %s", names[0], names[1], fault)
		}
		back, err := causesOf(t.Context(), names[1], names[0], 2000)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Cells()[2:], back.Cells()[2:]); diff != "" {
			t.Errorf("%s and %s, turned:\n%s", names[0], names[1], diff)
		}
	}
}

// TestCausesFault has pairs with something wrong.
func TestCausesFault(t *testing.T) {
	many := make([]CauseCases, CausesMost+1)
	for _, tc := range []struct {
		p    PairCauses
		want string
	}{
		{PairCauses{Turned: true}, ""},
		{PairCauses{Mismatches: 100, Causes: []CauseCases{{triage.Overflow, 96}, {triage.Unexplained, 4}}, Turned: true}, ""},
		{PairCauses{Mismatches: 100, Causes: []CauseCases{{triage.Overflow, 95}, {triage.Unexplained, 5}}, Turned: true}, "5 of 100 mismatches in catch-alls, less than 5 % are allowed"},
		{PairCauses{Mismatches: 100, Causes: many, Turned: true}, "13 primary causes, at most 12 are allowed"},
		{PairCauses{}, "other causes with the sides swapped"},
	} {
		if got := tc.p.Fault(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestCausesTable checks that each row is of two architectures that share instructions, on
// as many dot products as it should be, and shows what it must. A row of fewer instructions
// than there are now lacks the others; otherwise it must be of the same ones.
func TestCausesTable(t *testing.T) {
	table := tableOf(t, "causes.tsv", func(ctx context.Context, old *Table) (*Table, error) {
		return CausesTable(ctx, old, func(p *PairCauses) { detail(t, p.Cells()) })
	})
	var missing []string
	rows := table.Rows
	for i, a := range gpuArchs() {
		for _, b := range gpuArchs()[i+1:] {
			pairs, err := sharedPairs(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if pairs == nil {
				continue
			}
			if len(rows) == 0 || rows[0][1] != a || rows[0][2] != b {
				missing = append(missing, a+" and "+b)
				continue
			}
			missing = append(missing, checkCausesRow(t, rows[0], pairs)...)
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Errorf("%s and %s: the row is of nothing that there is, or in the wrong place: %s", rows[0][1], rows[0][2], remedy("CausesTable"))
	}
	notMeasured(t, "CausesTable", missing...)
}

// checkCausesRow checks a row, and returns what it lacks: instructions that its two
// architectures share since it was measured.
func checkCausesRow(t *testing.T, cells []string, pairs []devices.Pair) (missing []string) {
	t.Helper()
	p, err := ParsePairCauses(cells)
	if err != nil {
		t.Fatalf("%q: %v", cells, err)
	}
	if fault := p.Fault(); fault != "" {
		t.Errorf("%s and %s: %s", p.A, p.B, fault)
	}
	sum := uint64(0)
	for _, c := range p.Causes {
		sum += c.Cases
	}
	if sum != p.Mismatches || p.Dots < uint64(p.Instructions)*CausesCount {
		t.Errorf("%q does not add up", cells)
	}
	if diff := cmp.Diff(cells[1:], p.Cells()); diff != "" {
		t.Errorf("-table +parsed:\n%s", diff)
	}
	switch now := len(pairs); {
	case p.Instructions < now:
		return []string{fmt.Sprintf("%s and %s: %d of %d instructions", p.A, p.B, now-p.Instructions, now)}
	case p.Instructions > now || cells[colDigest] != causesDigest(pairs):
		t.Errorf("%s and %s: the row is stale: %s", p.A, p.B, remedy("CausesTable"))
	}
	return nil
}

// TestRefinementLabels checks that no program of the catalogue that was compared with anything has a
// parameter with these labels, and that no row of the table, which has such programs alone, names one.
func TestRefinementLabels(t *testing.T) {
	for _, i := range mma.Arithmetics() {
		if !i.Checked() {
			continue
		}
		for _, l := range triage.LabelsOf(&mma.Params{}, &i.Params) {
			if slices.Contains(refinementLabels, l) {
				t.Errorf("%s: %s", i.FullName(), l)
			}
		}
	}
	table, err := ReadTableFile("testdata/causes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		for _, l := range refinementLabels {
			if strings.Contains(row[len(row)-1], string(l)) {
				t.Errorf("%q", row)
			}
		}
	}
}
