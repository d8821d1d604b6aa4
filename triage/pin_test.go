package triage

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestPin has an adder that is two bits too narrow beside one that has no such limit: an adder of two
// bits more would show its limit only in sums of the largest terms.
func TestPin(t *testing.T) {
	f := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	wide := mma.Params{L: 8, Acc: mma.To(fp.FP32, fp.RNE)}
	wide.Join.Align = mma.Align{F: 24, Mode: fp.RZ}
	narrow := wide
	narrow.Join.Align.Bits = 27
	base, err := sim.New(f, 8, narrow)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := sim.New(f, 8, wide)
	if err != nil {
		t.Fatal(err)
	}
	pr := &Unknown{Formats: f, K: 8, Base: narrow, Seed: 1, Effort: -1}
	pr.Ask = func(_ context.Context, dots []*mma.Dot) (codes []uint64, err error) {
		for _, d := range dots {
			codes = append(codes, unit.Dot(d, nil))
		}
		return codes, nil
	}
	for round := range 3 {
		for _, d := range gen.Probe(gen.Spec{Formats: f, K: 8}, 1, round, &narrow) {
			c := Case{d, unit.Dot(d, nil)}
			if base.Dot(d, nil) == c.Want {
				pr.Agree = append(pr.Agree, c)
			} else {
				pr.Differ = append(pr.Differ, c)
			}
		}
	}
	v, err := Explain(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	if got := mma.Brief(v.Changes); got != "bits of the sum without its sign 27→none" {
		t.Error(got)
	}
}
