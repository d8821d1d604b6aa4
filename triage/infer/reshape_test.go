package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestReshape begins with the widths and the roundings of a unit, but in another shape.
func TestReshape(t *testing.T) {
	bf := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	round := mma.To(fp.FP32, fp.RD)
	halves := mma.Stage{Sum: mma.PairHalves, Split: mma.Interleaved, Group: 2, Align: mma.Align{F: 12, Mode: fp.RTO}}
	units := []struct {
		name       string
		k          int
		unit, from mma.Params
	}{
		{"pairs that are cut alone", 4,
			mma.Params{Acc: round, Join: mma.Join{CDrop: 21}, Stage0: mma.Stage{Sum: mma.Fused, Group: 2, Align: mma.Align{F: 27, Mode: fp.RNE}},
				Stage1: mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: 2, Align: mma.Align{F: 10, Mode: fp.RD}}},
			mma.Params{Acc: round, Join: mma.Join{CDrop: 21, Align: mma.Align{F: 10, Mode: fp.RD}}, Order: mma.EvenOdd, Lanes: 2, Late: round,
				Stage0: mma.Stage{Sum: mma.Fused, Align: mma.Align{F: 27, Mode: fp.RNE}}}},
		{"pairs of pairs", 6,
			mma.Params{Start: mma.StartZero, Acc: round, Late: round, Join: mma.Join{Align: mma.Align{F: 32, Mode: fp.RZ}},
				Stage0: mma.Stage{Sum: mma.Sequential, Group: 2, Round: mma.To(fp.FP32, fp.RZ)}, Stage1: halves},
			mma.Params{Start: mma.StartZero, Acc: round, Late: round, Join: mma.Join{Align: mma.Align{F: 32, Mode: fp.RZ}}, Order: mma.Split4, L: 4,
				Stage0: mma.Stage{Sum: mma.Fused, Group: 2, Round: mma.To(fp.FP32, fp.RZ)}, Stage1: mma.Stage{Sum: mma.Pairwise, Align: halves.Align}}},
	}
	for _, c := range units[:tier.Of(0, 1, len(units))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := newLoop(newUnit(t, bf, c.k, c.unit), Options{Effort: 20})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.gather(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.budget.Allow(l.effort)
			s := l.reshape(t.Context(), reshapeSteps, []mma.Params{c.from})
			if b := s.Best(); s.Left(b) != 0 {
				t.Errorf("the best leaves %d of %d cases: %s", s.Left(b), len(l.All().Want), brief(&b.P))
			}
		})
	}
}
