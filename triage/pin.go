package triage

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// A number in a program, such as the distance from which an accumulator is dropped, may not be certain
// from the inputs so far: it may matter in only a few ties among them. So its neighbours are tested, too,
// on inputs near those that show the difference.

const (
	pinned      = 3    // numbers on either side
	pinRounds   = 4    // of such inputs
	pinInputs   = 2048 // a round
	pinFullSums = 64   // of a round: those with the largest significands everywhere
)

// pin tests a program that explains everything, and its neighbours that do so as well: it asks for
// inputs near the differing cases that tell them apart. It returns the program if that still explains
// everything, or else the neighbour of the least size that does: a program without the number is smaller
// than one with another number. None: the unit computes otherwise.
func (s *explainer) pin(ctx context.Context, p mma.Params) ([]mma.Params, error) {
	ps := append([]mma.Params{p}, search.Explaining(s.ev, s.neighbours(&p))...)
	if s.pr.Ask == nil || len(ps) == 1 {
		return ps[:1], nil
	}
	for round := range uint64(pinRounds) {
		dots := s.dividing(ps, s.nearCases(round))
		if len(dots) == 0 {
			continue
		}
		answers, err := s.ask(ctx, dots)
		if err != nil {
			return nil, err
		}
		for i := range dots {
			s.learn(Case{dots[i], answers[i]})
		}
		if ps = search.Explaining(s.ev, ps); len(ps) == 0 {
			return nil, nil
		}
	}
	if slices.Contains(ps, p) {
		return []mma.Params{p}, nil
	}
	slices.SortStableFunc(ps, func(x, y mma.Params) int { return s.ev.Size(&x) - s.ev.Size(&y) })
	return ps[:1], nil
}

// neighbours are the programs that differ from p in one number, to which they give a near value or none.
// Only numbers that differ from the base's are changed.
func (s *explainer) neighbours(p *mma.Params) (all []mma.Params) {
	for _, f := range mma.Fields() {
		is, was := f.Int(p), f.Int(&s.pr.Base)
		if !f.Numeric() || is == was {
			continue
		}
		values := []int{0}
		for d := 1; d <= pinned && is != 0; d++ {
			values = append(values, is-d, is+d)
		}
		for _, v := range values {
			q := *p
			if f.SetInt(&q, v); f.Int(&q) == v && v != is && v != was && s.ev.Valid(&q) {
				all = append(all, q)
			}
		}
	}
	return all
}

// nearCases are differing cases with exponents moved, and sums as large as they can be: see fullSum.
func (s *explainer) nearCases(round uint64) (dots []*mma.Dot) {
	r := rand.New(rand.NewPCG(s.pr.Seed, 0x70696e<<8|round))
	for range pinInputs {
		d := s.pr.Differ[r.IntN(len(s.pr.Differ))].Dot.Clone()
		for range 1 + r.IntN(2) {
			gen.MoveExponent(r, s.pr.Formats, d)
		}
		dots = append(dots, d)
	}
	for range pinFullSums {
		dots = append(dots, s.fullSum(r))
	}
	return dots
}

// fullSum is an input whose terms have the largest significands, one sign and one exponent.
func (s *explainer) fullSum(r *rand.Rand) *mma.Dot {
	d := s.pr.Differ[r.IntN(len(s.pr.Differ))].Dot.Clone()
	f := s.pr.Formats
	a, b := f.A.Get(), f.B.Get()
	if a.Integer() || b.Integer() || f.B.RandomBits() != 0 || f.B.IsOne() {
		return d
	}
	x, y := fullSignificand(a, r.IntN(5)-2), fullSignificand(b, r.IntN(5)-2)
	e := exponentOf(a, x) + exponentOf(b, y)
	for k := range d.A {
		d.A[k], d.B[k] = x, y
	}
	if f.C != fp.None && !f.C.Get().Integer() {
		d.C = fullSignificand(f.C.Get(), e)
	}
	if r.IntN(2) == 0 {
		d.C ^= signOf(f.C)
		for k := range d.A {
			d.A[k] ^= a.SignBit()
		}
	}
	return d
}

func signOf(id fp.ID) uint64 {
	if id == fp.None {
		return 0
	}
	return id.Get().SignBit()
}

// fullSignificand is the largest number of an exponent, or of the nearest that a format has.
func fullSignificand(f *fp.Format, e int) uint64 {
	e = min(max(e, int(f.Emin())), int(f.Emax()))
	code := f.FromFloat64(1)
	code = uint64(int64(code)+int64(e)<<f.FracBits) | (1<<f.FracBits - 1)
	return min(code, f.MaxFinite())
}

func exponentOf(f *fp.Format, code uint64) int {
	return int(f.Dyadic(f.Decode(code)).Exponent())
}
