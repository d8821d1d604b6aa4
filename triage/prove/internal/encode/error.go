package encode

import (
	"math/big"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// This file derives a bound of the error of a program that holds for all operands, as the
// analyses of Blanchard et al. (SIAM J. Sci. Comput. 42, 2020) and Table 9 of arXiv:2511.10909
// do for single units. Of each number of the program it keeps how far rounding may have moved it,
// in terms of S: the sum of the magnitudes of the products, and of c, that it is the sum of.
//
//	|x' - x| <= err*S + abs + lost*2^e   x' is the number, x what it is if nothing is rounded
//	2^e      <= top*S + under            e is the nominal exponent of x'
//	x' is a multiple of 2^(e-bits)       unless bits is negative
//	|x'| < 2^(e+size)
//
// A product of normal numbers has 2^e <= |x|, so top is 1. A subnormal operand of p fraction bits
// may count with an exponent that is too large by p. c may be subnormal: under is then 2^emin.
//
// Fused sum, cut at 2^(E-F). Every term loses less than 2^(E-F), half of that to nearest. E is
// the exponent of one of the terms; if none has more than F bits, that one loses nothing. A term
// that is dropped below 2^(E-n) is below 2^(E-n-1+size). One that is negated without the 1 of two's
// complement is too small by a unit or, if RZ has cut it, within a unit of what it should be.
//
// Rounding to n bits, of a sum with |x'| in [2^(e+j), 2^(e+j+1)). The last place is 2^(e+j-n), or
// that of emin. For j <= 0 the loss is largest at j = 0, and 2^e is at most top*S + under. For
// j >= 1, S is larger, too: 2^(e+j) <= |x'| <= (1+err)*S + abs + lost*2^e. So either the terms that
// were cut or the rounding weigh most, and not both; the bound is the largest over all j.
// A multiple of 2^(e-bits) loses a whole number of these units.
type relative struct {
	err, abs, lost, top, under *big.Rat
	bits, size                 int
}

// Bound is a bound of the errors of all results: at most Relative*S + Absolute, where S is the
// sum of the magnitudes of all products and of c. It holds for finite operands, if S is below
// 2^(Emax-1): then nothing overflows.
type Bound struct {
	Relative, Absolute *big.Rat
	Emax               int
}

// ErrorBound derives the bound of a program, if normal is set for operands of which no a, b or
// scale is subnormal. A *TooHard error names what is not followed.
func ErrorBound(f mma.Formats, k int, p *mma.Params, normal bool) (*Bound, error) {
	in := NewInputs(graph.New(), f, k, p.Special.OperandNaN())
	e := &encoder{Graph: in.Graph, Params: p, in: in, d: f.D.Get(), bounds: true, normal: normal, emax: int(f.D.Get().Emax())}
	var r *relative
	err := e.try(func() { r = e.execute().rel.folded() })
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, tooHard("the error of %s", e.unbounded)
	case r.err.Cmp(big.NewRat(1, 2)) > 0:
		return nil, tooHard("an error of half of all magnitudes")
	}
	return &Bound{r.err, r.abs, e.emax}, nil
}

func power(n int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n)))
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

func plus(x, y *big.Rat) *big.Rat  { return new(big.Rat).Add(x, y) }
func times(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }

func larger(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) < 0 {
		return y
	}
	return x
}

// noBound is that of a number that is not followed, because of the first thing that is said.
func (e *encoder) noBound(what string) *relative {
	if e.unbounded == "" {
		e.unbounded = what
	}
	return nil
}

// given is the bound of a number that is given, with so many bits below its exponent, and
// whose exponent is as large as its value says, or at most 2^under.
func (e *encoder) given(bits int, under *big.Rat) *relative {
	if !e.bounds {
		return nil
	}
	return &relative{err: new(big.Rat), abs: new(big.Rat), lost: new(big.Rat), top: big.NewRat(1, 1), under: under, bits: bits, size: 1}
}

// exactProduct is the bound of a product.
func (e *encoder) exactProduct() *relative {
	r := e.given(e.productBits(), new(big.Rat))
	if r == nil {
		return nil
	}
	r.size = 2
	switch {
	case e.Passes != 0 || e.In.A != (mma.Narrow{}) || e.In.B != (mma.Narrow{}):
		return e.noBound("narrowed operands")
	case e.Prod.Shift != 0 || e.Prod.Zeros:
		return e.noBound("prod.shift and prod.zeros")
	case !e.normal && e.In.Sub != mma.KeepSub:
		return e.noBound("subnormal operands that are zeros")
	case !e.normal && e.Prod.Exp == mma.FieldSum:
		r.top = power(e.productBits())
	case e.Prod.Exp == mma.Normalised:
		r.bits++
	}
	if e.Prod.Up {
		r.top, r.bits = times(r.top, power(1)), r.bits+1
	}
	return r
}

// scaledError is the bound of a number that is multiplied by two scales.
func (e *encoder) scaledError(r *relative) *relative {
	switch {
	case r == nil:
		return nil
	case e.ScaleRound != (mma.Round{}) || r.err.Sign() != 0 || r.abs.Sign() != 0 || r.lost.Sign() != 0 || r.under.Sign() != 0:
		return e.noBound("rounded sums or scales that are multiplied")
	}
	s, frac := *r, 2*int(e.in.Formats.Scale.Get().FracBits)
	s.size += 2
	if s.bits >= 0 {
		s.bits += frac
	}
	if !e.normal {
		s.top = times(r.top, power(frac))
	}
	return &s
}

// fixedError is the bound of a sum of products whose nominal exponent is 0.
func (e *encoder) fixedError(r *relative) *relative {
	if r == nil || r.lost.Sign() != 0 || r.err.Sign() != 0 || e.Prod.Up || e.Prod.Exp != mma.FieldSum || e.Leaf != mma.NoLeaf || e.Stage1.Fixed || e.in.Formats.Scale != fp.None && e.Scale == mma.ScaleProduct {
		return e.noBound("sums in fixed point that are cut")
	}
	if e.Join.Align.Drop != 0 || e.Stage1.Align.Drop != 0 {
		return e.noBound("sums in fixed point that are dropped")
	}
	least := int(e.in.Formats.A.Get().Emin() + e.in.Formats.B.Get().Emin()) // of a product's exponent
	s := *r
	if s.top = power(-least); !e.normal {
		s.top = power(e.productBits() - least)
	}
	s.bits = e.productBits() - least
	return &s
}

func (e *encoder) productBits() int {
	return int(e.in.Formats.A.Get().FracBits + e.in.Formats.B.Get().FracBits)
}

// folded has what was lost by cuts as a part of err and abs.
func (r *relative) folded() *relative {
	if r == nil || r.lost.Sign() == 0 {
		return r
	}
	s := *r
	s.err, s.abs, s.lost = plus(r.err, times(r.lost, r.top)), plus(r.abs, times(r.lost, r.under)), new(big.Rat)
	return &s
}

// flushedError is the bound of a number that becomes zero below 2^emin.
func (r *relative) flushedError(emin int) *relative {
	if r == nil {
		return nil
	}
	s := *r
	s.abs = plus(r.abs, power(emin))
	return &s
}

// anyOf is a bound of each of some numbers.
func anyOf(ts []number) *relative {
	var all *relative
	for i := range ts {
		r := ts[i].rel.folded()
		switch {
		case r == nil:
			return nil
		case all == nil:
			s := *r
			all = &s
			continue
		}
		all.err, all.abs, all.top, all.under = larger(all.err, r.err), larger(all.abs, r.abs), larger(all.top, r.top), larger(all.under, r.under)
		all.size = max(all.size, r.size)
		if all.bits >= 0 && r.bits >= 0 {
			all.bits = max(all.bits, r.bits)
		} else {
			all.bits = -1
		}
	}
	return all
}

func half(m fp.Mode) bool { return m == fp.RNE || m == fp.RNA }

// summedError is the bound of a fused sum.
func (e *encoder) summedError(all []number, c *cut, aligned, dropped []*graph.Node, top *graph.Node) *relative {
	if !e.bounds {
		return nil
	}
	r := anyOf(all)
	switch {
	case r == nil:
		return nil
	case c.Align.Sticky != mma.StickyOff || c.Align.Bits != 0 || c.Apart || c.acc >= 0 && (c.CBeside || c.CGrid):
		return e.noBound("adders other than those of integers")
	}
	r.abs, r.bits, r.size = new(big.Rat), c.unit(), r.size+bits.Len(uint(len(all)))
	spared := true     // the largest term is not cut
	var least *big.Rat // what a term loses at least of these bounds
	for i := range all {
		t := all[i].rel
		r.abs = plus(r.abs, t.folded().abs)
		negates := c.Align.Negate != mma.NegateExact
		if all[i].mag.Is(0) && !negates {
			continue
		}
		f, mode := c.of(i)
		loss := power(-f)
		if half(mode) {
			loss = power(-f - 1)
		}
		if f == 0 {
			loss = new(big.Rat)
		} else if _, place := e.cutAt(&all[i], aligned[i], top, f); place.Hi.Sign() <= 0 {
			loss = new(big.Rat)
		}
		if !dropped[i].Is(0) {
			most := int(c.Align.Drop)
			if i == c.acc && c.CDrop != 0 {
				most = int(c.CDrop)
			}
			loss = larger(loss, power(t.size-1-most))
		}
		if unit := power(-r.bits); negates && mode == fp.RZ {
			loss = larger(loss, unit)
		} else if negates {
			loss = plus(loss, unit)
		}
		r.lost = plus(r.lost, loss)
		if least == nil || loss.Cmp(least) < 0 {
			least = loss
		}
		spared = spared && !negates && t.bits >= 0 && t.bits <= f
	}
	if least != nil && spared {
		r.lost = new(big.Rat).Sub(r.lost, least)
	}
	if c.Align.F == 0 {
		r.bits = -1
	}
	if c.Align.Floor != 0 { // then no term may be spared: twice the others lose as much as all
		r.under = larger(r.under, power(int(c.Align.Floor)+1))
	}
	return r
}

// farthest is the largest j for which roundedError looks at the bits of a sum.
const farthest = 16

// roundedError is the bound of a number that is rounded.
func (e *encoder) roundedError(r *relative, to mma.Round) *relative {
	if r == nil || to == (mma.Round{}) {
		return r
	}
	if to.Emax != 0 {
		e.emax = min(e.emax, int(to.Emax))
	}
	if r.bits < 0 || to.Frac == 0 {
		r = r.folded()
	}
	s := *r
	if to.Frac != 0 {
		if r.lost.Cmp(big.NewRat(1, 1)) >= 0 {
			return e.noBound("cuts that may lose the largest term")
		}
		n, nearest := int(to.Frac), half(to.Mode)
		loss := func(j int, sees bool) *big.Rat {
			switch {
			case sees && n >= r.bits+j:
				return new(big.Rat)
			case nearest:
				return power(j - n - 1)
			case sees:
				return new(big.Rat).Sub(power(j-n), power(-r.bits))
			}
			return power(j - n)
		}
		most := new(big.Rat) // part of |x'| that is lost at j >= 1
		part := func(j int, sees bool) {
			most = larger(most, new(big.Rat).Quo(plus(r.lost, loss(j, sees)), new(big.Rat).Sub(power(j), r.lost)))
		}
		var here *big.Rat // units of 2^e that are lost at j <= 0
		if r.bits < 0 {
			here = new(big.Rat)
			part(0, false)
		} else {
			here = plus(r.lost, loss(0, true))
			for j := 1; j <= farthest; j++ {
				part(j, true)
			}
			part(farthest+1, false)
		}
		one := big.NewRat(1, 1)
		s.err = plus(r.err, larger(times(here, r.top), times(most, plus(one, r.err))))
		s.abs = plus(r.abs, larger(times(here, r.under), times(most, r.abs)))
		s.lost, s.bits, s.size = new(big.Rat), n, 1
		s.top, s.under = plus(one, s.err), s.abs
		if to.HasEmin() {
			s.abs = plus(s.abs, power(int(to.Emin)-n))
			s.under = plus(s.abs, power(int(to.Emin)))
		}
	}
	if to.Flush != mma.NoFlush {
		s.abs = plus(s.abs, power(int(to.Emin)))
		s.under = plus(s.under, power(int(to.Emin)))
	}
	return &s
}
