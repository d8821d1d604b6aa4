package triage

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestReduceGreedily reduces a program of more parts than are tried in all
// combinations: what is left explains all, and no part of it can be left out.
func TestReduceGreedily(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base := mma.TFDPA(16, 25, mma.To(fp.FP32, fp.RZ), -133)
	full := base
	full.L, full.Order = 8, mma.Halves
	full.Join.Align = mma.Align{F: 23, Mode: fp.RNE, Floor: -130}
	full.Join.CMode, full.Join.CDrop = fp.RD, 30
	full.Prod.Exp = mma.Normalised
	full.In = mma.Input{Sub: mma.FlushSign, C: mma.FlushPlus, Acc: mma.FlushSign}
	full.Acc.Mode, full.Acc.Flush, full.Acc.Over = fp.RNE, mma.FlushAfter, mma.OverMax
	full.Special = mma.Special{NaN: mma.NaNQuiet, NegZero: true, TinySign: true}
	parts := changedParts(&base, &full)
	if len(parts) <= maxDiff {
		t.Fatalf("%d parts: every subset is tried", len(parts))
	}
	unit, err := sim.New(f, 16, full)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{pr: &Problem{Formats: f, K: 16, Base: base}, ev: newEvidence(f, 16, oracle.Policy{})}
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		d := mma.NewDot(f, 16)
		for k := range d.A { // numbers between 2^-7 and 2^8
			d.A[k], d.B[k] = r.Uint64()&0xbfff+0x2000, r.Uint64()&0xbfff+0x2000
		}
		s.ev.add(Case{d, unit.Dot(d, nil)})
	}
	got := s.reduce(full)
	if !s.ev.explains(&got) {
		t.Fatal("what is left does not explain the cases")
	}
	left := changedParts(&base, &got)
	if len(left) == 0 || len(left) >= len(parts) {
		t.Errorf("%d parts of %d are left", len(left), len(parts))
	}
	for i := range left {
		q, ok := s.apply(left, (1<<len(left)-1)&^(1<<i))
		if ok && s.ev.explains(&q) {
			t.Errorf("%v can be left out", left[i])
		}
	}
}
