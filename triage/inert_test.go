package triage

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestUnreached compares, bit for bit, programs with and without labels of which it is said that
// no number reaches what they limit.
func TestUnreached(t *testing.T) {
	tier.SkipUnderRace(t)
	all := mma.Arithmetics()
	r := rand.New(rand.NewPCG(1, 1))
	compared := map[Label]int{}
	for range tier.Of(10_000, 20_000, 100_000) {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		f := a.Formats
		if f.A != b.A {
			continue
		}
		if b.Params.Validate(f, a.K) != nil {
			continue
		}
		n := NewAttributor(f, a.K, oracle.Policy{}, Program{a.Params, a.K}, Program{b.Params, a.K})
		dots := gen.Probe(gen.Spec{Formats: f, K: a.K}, r.Uint64(), 0, &a.Params, &b.Params)
		batch := mma.BatchOf(f, a.K, dots)
		for i, l := range n.labels {
			set := r.Uint32() & n.all()
			with, without := n.model(set|1<<i), n.model(set&^(1<<i))
			if !n.unreached(i) || with == nil || without == nil {
				continue
			}
			x, y := make([]byte, batch.Dots()*f.D.Width()), make([]byte, batch.Dots()*f.D.Width())
			with.Run(batch, x)
			without.Run(batch, y)
			if compared[l]++; !bytes.Equal(x, y) {
				t.Errorf("%s and %s on %s: %s makes a difference beside the set %b", a.FullName(), b.FullName(), f, l, set)
			}
		}
	}
	for _, l := range []Label{Overflow, ZeroExponent} {
		if compared[l] < 3 {
			t.Errorf("compared only %d programs with and without %s", compared[l], l)
		}
	}
}

// TestReached has limits that numbers reach.
func TestReached(t *testing.T) {
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	brain := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	plain := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -133)
	for _, tc := range []struct {
		name   string
		f      mma.Formats
		change func(p *mma.Params)
		want   bool
	}{
		{"largest product", half, func(p *mma.Params) { p.Prod.Round.Emax = 31 }, true},
		{"below the largest product", half, func(p *mma.Params) { p.Prod.Round.Emax = 30 }, false},
		{"largest product of BF16", brain, func(p *mma.Params) { p.Prod.Round.Emax = 127 }, false},
		{"rounded products", half, func(p *mma.Params) { p.Prod.Round = mma.To(fp.FP32, fp.RZ) }, false},
		{"saturated products", half, func(p *mma.Params) { p.Prod.Round = mma.Round{Emax: 127, Over: mma.OverSat} }, false},
		{"no floor", half, func(p *mma.Params) { p.Join.Align.Floor = 0 }, true},
		{"floor at the least c", half, func(p *mma.Params) { p.Join.Align.Floor = -126 }, true},
		{"floor above the least c", half, func(p *mma.Params) { p.Join.Align.Floor = -125 }, false},
		{"no floor below products of BF16", brain, func(p *mma.Params) { p.Join.Align.Floor = 0 }, false},
		{"accumulator without an end", half, func(p *mma.Params) { p.Join.Align.Floor, p.Acc.Emin, p.Acc.Flush = 0, 0, mma.NoFlush }, false},
	} {
		other := plain
		tc.change(&other)
		n := NewAttributor(tc.f, 8, oracle.Policy{}, Program{plain, 8}, Program{other, 8})
		got := true
		for i := range n.labels {
			got = got && n.unreached(i)
		}
		if got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}
