package triage

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// TestReduceManyParts reduces a program of more parts than are tried in all
// combinations: what is left explains all, and no part of it can be left out.
func TestReduceManyParts(t *testing.T) {
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
	if len(parts) <= search.EverySet {
		t.Fatalf("%d parts: every subset is tried", len(parts))
	}
	unit, err := sim.New(f, 16, full)
	if err != nil {
		t.Fatal(err)
	}
	s := newExplainer(&Unknown{Formats: f, K: 16, Base: base})
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
	left := s.pr.between(got)
	if len(left.parts) == 0 || len(left.parts) >= len(parts) {
		t.Errorf("%d parts of %d are left", len(left.parts), len(parts))
	}
	for i := range left.parts {
		q, ok := left.program(left.all() &^ (1 << i))
		if ok && s.ev.Explains(&q.Params) {
			t.Errorf("%v can be left out", left.parts[i])
		}
	}
}

// TestMoreThanASet takes two programs that differ in more parts than a set has room for: the
// set of all is the second program all the same.
func TestMoreThanASet(t *testing.T) {
	from, to := madeup.Unit(586), madeup.Unit(119)
	if n := len(changedParts(&from.Params, &to.Params)); n <= mostParts {
		t.Fatalf("%d parts: a set has room for them", n)
	}
	x := (&Unknown{Formats: from.Formats, K: from.K, Base: from.Params}).between(to.Params)
	if p, ok := x.program(x.all()); !ok || p.Params != to.Params || len(x.parts) != mostParts {
		t.Errorf("%d parts give %s, want %s", len(x.parts), mma.Brief(mma.Diff(&from.Params, &p.Params)), mma.Brief(mma.Diff(&from.Params, &to.Params)))
	}
}
