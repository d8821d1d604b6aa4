package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestWithSignsOfZeros: what was inferred of a chain of FMAs lacks the signs of its zeros, and sums begin with +0.
func TestWithSignsOfZeros(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	unit := mma.Params{L: 1, Start: mma.StartEmpty, Acc: mma.To(fp.FP32, fp.RNE), Late: mma.To(fp.FP32, fp.RNE), Special: mma.Special{NegZero: true}}
	m, err := sim.New(f, 2, unit)
	if err != nil {
		t.Fatal(err)
	}
	var cases []triage.Case
	for _, a := range []uint64{0, 0x8000, 0x3c00, 0xbc00} {
		for _, c := range []uint64{0, 1 << 31, 0x3f800000} {
			d := &mma.Dot{A: []uint64{a, 0x8000}, B: []uint64{0x3c00, 0x3c00}, C: c}
			cases = append(cases, triage.Case{Dot: d, Want: m.Dot(d, nil)})
		}
	}
	inferred := unit
	inferred.Start, inferred.Special.NegZero = mma.StartZero, false
	pr := &triage.Unknown{Formats: f, K: 2, Differ: cases[:6], Agree: cases[6:]}
	v := &triage.Verdict{Program: inferred, Partial: true}
	if right := triage.Right(pr, &inferred, cases); right == len(cases) {
		t.Fatal("no case shows the signs of zeros")
	}
	if !withSignsOfZeros(pr, v) || v.Program != unit || !v.Complete() {
		t.Errorf("%+v", v)
	}
	cases[0].Want ^= 1 << 20
	if v = (&triage.Verdict{Program: inferred}); withSignsOfZeros(pr, v) || v.Program != inferred {
		t.Errorf("a case that the signs do not explain: %+v", v)
	}
}
