package triage_test

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestClosest has pairs of programs of which one was written otherwise than the other, and the
// labels that are left if it is written as much like the other as can be.
func TestClosest(t *testing.T) {
	single := mma.To(fp.FP32, fp.RNE)
	chain := mma.FMA(fp.FP32)
	dropping := chain
	dropping.Prod.Exp, dropping.Join.Align.Drop, dropping.Join.CDrop = mma.Normalised, 12, 25
	tree := mma.Params{L: 8, Acc: single, Prod: mma.Product{Round: single}, Special: mma.Special{NegZero: true, TinySign: true},
		Stage0: mma.Stage{Sum: mma.Pairwise, Round: single}}
	lanes := mma.Params{L: 1, Lanes: 8, Start: mma.StartEmpty, Acc: single, Late: single, Special: tree.Special}
	lanes.Merge, lanes.Leaf = mma.MergeBy(8, 1, 2, 4), mma.LeafLast
	ampere, hopper := find(t, ampere16), find(t, hopper16)
	brain := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		name     string
		f        mma.Formats
		k        int
		from, to mma.Params
		want     []triage.Label
	}{
		// No exponent matters to a chain in which nothing is dropped.
		{"dropped terms", ampere.Formats, 8, dropping, chain, []triage.Label{triage.SpecialTruncation}},
		// The lanes round each product as the tree does.
		{"c in another place", brain, 8, tree, lanes, []triage.Label{triage.AccumulatePlacement, triage.SummationOrder}},
		{"two differences", ampere.Formats, 16, ampere.Params, hopper.Params, []triage.Label{triage.FusionWidth, triage.TruncationWidth}},
	} {
		from, to := triage.Program{Params: tc.from, K: tc.k}, triage.Program{Params: tc.to, K: tc.k}
		got, labels := triage.Closest(tc.f, tc.k, oracle.Policy{}, from, to)
		if l := triage.LabelsOf(&tc.from, &got.Params); !slices.Equal(l, tc.want) || labels != len(tc.want) {
			t.Errorf("%s: %d labels, %s, not %s", tc.name, labels, l, tc.want)
		}
	}
}
