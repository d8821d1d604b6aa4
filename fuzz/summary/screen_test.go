package summary

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestFirstChanges holds that what is left out is counted once, over all pairs.
func TestFirstChanges(t *testing.T) {
	pairs := [][]string{{"F 13→32"}, {"c 13→24", "RZ→RD"}, {"F 25→32", "RZ→RD"}}
	for _, c := range []struct {
		n, each int
		want    string
	}{
		{3, 3, "F 13→32; c 13→24, RZ→RD; F 25→32, RZ→RD"},
		{3, 1, "F 13→32; c 13→24; F 25→32, and 1 more"},
		{2, 2, "F 13→32; c 13→24, RZ→RD, and 1 more"},
		{1, 3, "F 13→32, and 3 more"},
	} {
		if got := firstChanges(pairs, c.n, c.each); got != c.want {
			t.Errorf("%d pairs, %d of each: %q, want %q", c.n, c.each, got, c.want)
		}
	}
	if got := firstChanges([][]string{{"L 16→8", "x"}, {"L 16→8", "y"}}, 2, 1); got != "L 16→8, and 2 more" {
		t.Errorf("two pairs with the same first change: %q", got)
	}
}

// TestInstead holds that a cause is named with another one that no input tells apart, from A to B, where there is
// room for a few lines.
func TestInstead(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	subnormal, flush := mma.Change{Path: "in.c", From: "keep", To: "zero"}, mma.Change{Path: "acc.flush", From: "keep", To: "before"}
	v := &triage.Verdict{Program: i.Params, Changes: []mma.Change{subnormal}, Equivalent: [][]mma.Change{{flush}}, Same: 1, Labels: []triage.Label{triage.InputFTZ}}
	if err := v.Program.Apply(v.Changes); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		baseA bool
		room  int
		want  string
	}{
		{true, 60, "subnormal c keep→zero (or, which no input tells apart: flush to zero of the result keep→before)"},
		{false, 60, "subnormal c zero→keep (or, which no input tells apart: flush to zero of the result before→keep)"},
		{true, 21, "subnormal c keep→zero"},
	} {
		p := &fuzz.PairState{BaseA: tc.baseA}
		p.Verdict = v
		w := &printer{state: &fuzz.State{Pairs: []*fuzz.PairState{p}}}
		if got := w.shortWords()(triage.InputFTZ, tc.room); got != tc.want {
			t.Errorf("base A %t, room %d: %q, want %q", tc.baseA, tc.room, got, tc.want)
		}
	}
}
