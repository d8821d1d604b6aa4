package defect

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestReadRules reads effects whose numbers a damaged or a foreign file may have: each is refused, or
// predicts a result.
func TestReadRules(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	program := mma.Params{Acc: mma.To(fp.FP32, fp.RNE)}
	d := mma.NewDot(f, 4)
	for i := range d.A {
		d.A[i], d.B[i] = 0x3c01, 0x3c03
	}
	for _, test := range []struct {
		effect Effect
		ok     bool
	}{
		{Effect{On: OnSum, Do: "normalise", N: -5}, false},
		{Effect{On: OnSum, Do: "normalise", N: 63}, true},
		{Effect{On: OnSum, Do: brokenCarry, N: 0}, false},
		{Effect{On: OnSum, Do: brokenCarry, N: 64}, false},
		{Effect{On: OnSum, Do: brokenCarry, N: 63}, true},
		{Effect{On: OnTerm, Do: brokenCarry, N: 3}, false},
		{Effect{On: OnTerm, Do: "sign-acc"}, false},
		{Effect{On: OnExact, Do: "exp-wrap", N: 1 << 40}, false},
		{Effect{On: OnExact, Do: "exp-wrap", N: -5}, true},
		{Effect{On: OnExact, Do: "set", N: -1}, false},
		{Effect{On: OnShift, Do: far, N: 1}, false},
		{Effect{On: OnShift, Do: far, N: 127}, true},
		{Effect{On: OnShift, Do: "modulo", N: 9}, false},
		{Effect{On: OnPair, Do: "wrap", N: 1}, false}, // of products that are no integers
	} {
		p, err := NewPredictor(f, 4, program, Rule{Scope: test.effect.scope(), Effect: test.effect})
		if (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.effect, err)
		}
		if err == nil {
			p.Predict(d)
		}
	}
}
