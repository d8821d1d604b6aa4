package engine

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Code coverage says nothing about a GPU, and little about a simulator
// whose work is arithmetic. What guides a campaign instead are features of the
// computation, taken from the model's trace of an input: how terms line up, what
// is cut off, whether the sum carries or cancels, how the result is rounded. An
// input with a feature that no input had before is kept and mutated.

// FeaturesOf appends the features of a trace, as hashes.
func FeaturesOf(dst []uint32, tr *sim.Trace, salt uint32) []uint32 {
	f := hasher{dst, salt}
	for i := range tr.Sums {
		f.sum(&tr.Sums[i])
	}
	return f.out
}

type hasher struct {
	out  []uint32
	salt uint32
}

// add adds a feature made of small numbers.
func (f *hasher) add(what byte, values ...int) {
	h := uint32(2166136261) ^ f.salt
	h = (h ^ uint32(what)) * 16777619
	for _, v := range values {
		h = (h ^ uint32(v&0xffff)) * 16777619
	}
	f.out = append(f.out, h)
}

func (f *hasher) sum(s *sim.SumTrace) {
	place := int(s.Place)
	if s.Sum.Kind >= sim.Inf {
		f.special(s, place)
		return
	}
	cut, floored := 0, true
	for i := range s.Terms {
		t := &s.Terms[i]
		if t.Kind != sim.Finite {
			continue
		}
		floored = floored && t.E < s.E
		lost := lostBits(t)
		isC := 0
		if t.From == sim.FromC || t.From == sim.FromAcc {
			isC = 1
		}
		f.add('t', place, isC, bucket(s.E-t.E), lost, sign(t.Value.Neg))
		cut |= 1 << lost
	}
	carry := -1000
	if !s.Sum.Cut.IsZero() {
		carry = int(s.Sum.Cut.Exponent() - s.E)
	}
	f.add('s', place, cut, max(carry, -45), sign(s.Sum.Cut.Neg))
	if floored && s.HasE {
		f.add('f', place, cut)
	}
	for i := range s.Rounds {
		f.round(s, &s.Rounds[i], place)
	}
}

// special adds the feature of a sum that is Inf or NaN: which kinds of terms it has.
func (f *hasher) special(s *sim.SumTrace, place int) {
	kinds := 0
	for i := range s.Terms {
		t := &s.Terms[i]
		n := int(t.Kind)
		if t.Kind == sim.Inf {
			n += 8 * sign(t.Value.Neg)
		}
		kinds |= 1 << n
	}
	f.add('x', place, kinds)
}

func (f *hasher) round(s *sim.SumTrace, r *sim.RoundTrace, place int) {
	lost := 4
	if r.After.Kind == sim.Finite && !s.Sum.Cut.IsZero() {
		lost = lostAt(s.Sum.Cut, r.After.Value)
	}
	exp := 0
	if r.After.Kind == sim.Finite {
		exp = edge(r.After.Value.Exponent(), int32(r.Round.Emin), int32(r.Round.Emax))
	}
	f.add('r', place, int(r.Name[0]), lost, int(r.After.Kind), exp, sign(r.After.Value.Neg))
}

// lostBits classifies how much of a term a cut removes: nothing, less than half a unit,
// half, more, or all of it.
func lostBits(t *sim.TermTrace) int {
	switch {
	case t.Cut.IsZero() && !t.Value.IsZero():
		return 4
	case !t.IsCut || t.Value.Q >= t.Q:
		return 0
	}
	return lostAt(t.Value, fp.Dyadic{Q: t.Q})
}

// lostAt compares the bits of x below the unit of r with half a unit: 0 for none,
// 1 less, 2 half, 3 more.
func lostAt(x, r fp.Dyadic) int {
	q := r.Q
	if x.Q >= q {
		return 0
	}
	down := x.Round(q, fp.RZ)
	up := x.Round(q, fp.RNA)
	switch {
	case x.Low() >= q:
		return 0
	case x.Low() == q-1:
		return 2
	case up.Lo != down.Lo:
		return 3
	}
	return 1
}

// bucket maps a distance of exponents to a small number: exactly up to 40, which covers
// the widths of all alignments, and coarsely beyond.
func bucket(n int32) int {
	switch {
	case n <= 40:
		return int(n)
	case n <= 64:
		return 41 + int(n-40)/8
	}
	return 50
}

// edge says where an exponent lies in its range: near the lower end, near the
// upper, or between.
func edge(e, emin, emax int32) int {
	switch {
	case emin != 0 && e <= emin+1:
		return int(max(e-emin, -3))
	case emax != 0 && e >= emax-1:
		return int(20 + e - emax)
	}
	return 10
}

func sign(neg bool) int {
	if neg {
		return 1
	}
	return 0
}
