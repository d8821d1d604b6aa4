package infer

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestRevealed checks that the programs that a tree suggests are of different kinds, with the
// unit's among them.
func TestRevealed(t *testing.T) {
	bf := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	up, down := mma.To(fp.FP32, fp.RU), mma.To(fp.FP32, fp.RD)
	window := mma.Align{F: 24, Mode: fp.RZ}
	for _, tc := range []struct {
		name string
		unit mma.Params
		is   func(p mma.Params) bool
	}{
		{"pairs of pairs and c", // lanes of pairs have the same tree
			mma.Params{Stage0: mma.Stage{Sum: mma.Pairwise, Group: 2, Round: down},
				Stage1: mma.Stage{Sum: mma.Pairwise, Align: window, Round: mma.To(fp.FP32, fp.RNE)},
				Join:   mma.Join{Align: mma.Align{F: 24, Mode: fp.RU}}, Acc: mma.To(fp.FP32, fp.RZ)},
			func(p mma.Params) bool { return p.Lanes <= 1 && p.Stage0.Sum == mma.Pairwise }},
		{"pairs of pairs that are rounded up, in steps", // small positive terms are not swamped
			mma.Params{L: 4, Stage0: mma.Stage{Sum: mma.Pairwise, Round: up}, Join: mma.Join{Align: window}, Acc: up},
			func(p mma.Params) bool { return p.L == 4 && p.Stage0.Sum == mma.Pairwise }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := newLoop(newUnit(t, bf, 8, tc.unit), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.gather(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(l.revealed, tc.is) {
				t.Errorf("none of %d programs is of the unit's kind", len(l.revealed))
			}
			kinds := map[mma.Params]bool{}
			for _, p := range l.revealed {
				if kinds[kindOf(p)] {
					t.Errorf("twice the same kind: %s", brief(&p))
				}
				kinds[kindOf(p)] = true
				t.Log(brief(&p))
			}
		})
	}
}
