package infer

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNearTie checks that near ties tell wide adders from exact ones.
func TestNearTie(t *testing.T) {
	for _, tc := range []struct {
		operands fp.ID
		f        mma.Frac
	}{{fp.BF16, 34}, {fp.FP16, 36}, {fp.TF32, 36}, {fp.FP32, 40}} {
		f := mma.Formats{A: tc.operands, B: tc.operands, C: fp.FP32, D: fp.FP32}
		const k, n = 4, 20_000
		exact := mma.Params{L: 1, Acc: mma.To(fp.FP32, fp.RNE)}
		wide := exact
		wide.Join.Align = mma.Align{F: tc.f, Mode: fp.RZ}
		of := func(p mma.Params) *sim.Model {
			m, err := sim.New(f, k, p)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		x, y := of(exact), of(wide)
		family := &family{make: nearTie}
		differ := 0
		for _, d := range design(gen.Spec{Formats: f, K: k}, family, rand.New(rand.NewPCG(1, 2)), n, nil) {
			if x.Dot(d, nil) != y.Dot(d, nil) {
				differ++
			}
		}
		if differ < n/1000 {
			t.Errorf("%s: %d of %d differ", f, differ, n)
		}
	}
}
