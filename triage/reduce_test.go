package triage

import (
	"math/rand/v2"
	"slices"
	"testing"

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
	s := &search{pr: &Unknown{Formats: f, K: 16, Base: base}, ev: newEvidence(&Unknown{Formats: f, K: 16})}
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		d := mma.NewDot(f, 16)
		for k := range d.A { // numbers between 2^-7 and 2^8
			d.A[k], d.B[k] = r.Uint64()&0xbfff+0x2000, r.Uint64()&0xbfff+0x2000
		}
		s.learn(Case{d, unit.Dot(d, nil)})
	}
	got := s.reduce(full)
	if !s.ev.Explains(&got) {
		t.Fatal("what is left does not explain the cases")
	}
	left := changedParts(&base, &got)
	if len(left) == 0 || len(left) >= len(parts) {
		t.Errorf("%d parts of %d are left", len(left), len(parts))
	}
	for i := range left {
		q, ok := s.apply(left, (1<<len(left)-1)&^(1<<i))
		if ok && s.ev.Explains(&q) {
			t.Errorf("%v can be left out", left[i])
		}
	}
}
func TestSubsets(t *testing.T) {
	for _, tc := range []struct {
		n, size int
		want    []uint32
	}{
		{3, 1, []uint32{1, 2, 4}},
		{3, 2, []uint32{3, 5, 6}},
		{4, 2, []uint32{3, 5, 6, 9, 10, 12}},
		{3, 3, []uint32{7}},
	} {
		var got []uint32
		for s := range subsets(tc.n, tc.size) {
			got = append(got, s)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: %v, want %v", tc.size, tc.n, got, tc.want)
		}
	}
}
