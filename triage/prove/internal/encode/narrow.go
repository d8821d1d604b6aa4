package encode

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// unread is an operand without the bits that a Narrow without a Mode takes away.
func unread(g *graph.Graph, o operand, n mma.Narrow) operand {
	if n.Frac != 0 && n.Mode == 0 {
		away := int(o.f.FracBits) - int(n.Frac)
		o.frac = g.Left(g.Shr(o.frac, g.Int(away)), away)
	}
	return o
}

// read is a, b or c as a term.
func (e *encoder) read(o operand) number {
	x := e.number(o, o.f)
	if e.In.NaNInf {
		x.inf, x.nan = e.Or(x.inf, x.nan), e.Int(0)
		x.null = e.And(x.null, e.Not(x.inf))
	}
	if e.In.InfNaN {
		x.nan, x.inf = e.Or(x.inf, x.nan), e.Int(0)
	}
	return x
}

// narrowed rounds a number of a format to fewer bits, or to a smaller range.
func (e *encoder) narrowed(x number, n mma.Narrow, f *fp.Format) number {
	r, emin := n.Rounding(f)
	if r.Frac == 0 {
		return x
	}
	r.Emin = mma.Exp(emin)
	return e.roundTo(x, rounding{Round: r, hasEmin: true, hasEmax: true, operand: true, factor: true})
}

// rest is what a part of an operand, which is the operand narrowed, leaves to the next part.
// It is counted in units of the operand's last place.
func (e *encoder) rest(x number, n mma.Narrow, f *fp.Format) number {
	r, emin := n.Rounding(f)
	emax, keep := int(r.Emax), int(r.Frac)
	place := e.Max(e.AddInt(e.Max(e.Log2(x.mag), e.Sub(e.Int(int(emin)), x.q)), -keep), e.Int(0))
	part := e.Shl(e.rounded(x.mag, place, r.Mode, x.neg), place)
	over := e.And(e.Not(e.Eq(part, e.Int(0))), e.Less(e.Int(emax), e.Add(e.Log2(part), x.q)))
	toMax := e.toMax(r, x.neg)
	if !over.Is(0) && !toMax.Is(0) {
		largest := e.Int(2<<keep - 1)
		above := e.Sub(e.Int(emax-keep), x.q)
		if above.Lo.Sign() < 0 {
			panic(&TooHard{"passes of operands with in.a.to or in.b.to, and with in.a.over or in.b.over that gives the largest number"})
		}
		part = e.Ite(e.And(over, toMax), e.Shl(largest, above), part)
	}
	left := e.Sub(x.mag, part)
	y := number{
		neg: e.Xor(x.neg, e.Less(left, e.Int(0))), mag: e.Abs(left), q: x.q,
		over: e.Int(0), low: x.low, high: max(x.high, int(emin)+1),
	}
	special := e.Or(x.inf, x.nan)
	infinite := e.And(over, e.Not(toMax), e.Not(special)) // the part is infinite
	y.inf, y.nan = infinite, e.Int(0)
	if r.Over == mma.OverSat { // the part of an infinity is finite
		y.inf = e.Or(y.inf, x.inf)
	} else if e.In.Rest {
		y.nan = x.inf
	}
	if e.In.Rest {
		y.nan = e.Or(y.nan, x.nan)
	}
	y.mag = e.Ite(e.Or(special, infinite), e.Int(0), y.mag)
	zero := e.And(e.Eq(y.mag, e.Int(0)), e.Not(y.inf), e.Not(y.nan))
	y.null = zero
	y.neg = e.And(e.Ite(infinite, e.Not(x.neg), e.Ite(x.inf, x.neg, y.neg)), e.Not(zero))
	y.e = e.Max(e.exponent(y), e.Int(int(emin)))
	return y
}
