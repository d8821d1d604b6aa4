package encode

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// round applies a Round.
func (e *encoder) round(x number, r mma.Round) number {
	if r == (mma.Round{}) || x.mag.Is(0) && x.inf.Is(0) {
		return x
	}
	var u number
	tiny := e.Int(0) // became zero
	flushes := r.Flush != mma.NoFlush && x.low < int(r.Emin)
	ex := e.exponent(x)
	rounds := false
	switch {
	case r.Frac == 0 || e.exact(x, r) || flushes && e.exactOrTiny(x, r):
		u = e.renamed(x, r, ex)
		if flushes {
			tiny = e.And(e.Not(e.Eq(x.mag, e.Int(0))), e.Less(ex, e.Int(int(r.Emin))))
			u.mag = e.Ite(tiny, e.Int(0), u.mag)
		}
	default:
		rounds = r.Mode != fp.RZ
		u, tiny = e.cutTo(x, r, ex, flushes)
	}
	over, high := e.Int(0), x.high-1
	if rounds {
		high++ // up to a power of two
	}
	if r.Emin != 0 {
		high = max(high, int(r.Emin)) // up to the smallest number, or with this nominal exponent
	}
	if r.Emax != 0 && high > int(r.Emax) {
		high = int(r.Emax)
		at := u.e
		if u.frac == 0 {
			at = ex
		}
		over = e.And(e.Less(e.Int(int(r.Emax)), at), e.Not(tiny), e.Not(e.Eq(x.mag, e.Int(0))))
	}
	return e.assemble(x, u, r, tiny, over, high)
}

// renamed is x with the nominal exponent that a rounding gives it.
func (e *encoder) renamed(x number, r mma.Round, ex *graph.Node) number {
	switch {
	case r.Frac == 0 || x.frac != 0 && r.Emin != 0 && x.emin == int(r.Emin):
		return x
	case r.Emin == 0:
		x.e = ex
	default:
		x.e = e.Max(ex, e.Int(int(r.Emin)))
	}
	x.frac = 0
	return x
}

// assemble puts the result of a rounding together: u, of exponent high at most, or zero, or
// what an overflow gives.
func (e *encoder) assemble(x, u number, r mma.Round, tiny, over *graph.Node, high int) number {
	infinite := over
	if r.Over != mma.OverInf {
		toMax := e.toMax(r, x.neg)
		infinite = e.And(over, e.Not(toMax))
		largest := e.AddInt(e.Left(e.Int(1), int(r.Frac)+1), -1)
		u.mag = e.Ite(e.And(over, toMax), largest, u.mag)
	}
	if u.frac != 0 {
		u.e = e.Min(u.e, e.Int(high))
		u.q = e.AddInt(u.e, -u.frac)
	}
	u.neg = x.neg
	if !e.Special.TinySign {
		special := e.Or(x.inf, x.nan)
		u.neg = e.And(x.neg, e.Or(e.Not(tiny), special))
	}
	u.null = e.Or(x.null, tiny)
	if r.Frac != 0 {
		u.null = e.Eq(u.mag, e.Int(0))
	}
	u.inf, u.nan = e.Or(x.inf, infinite), x.nan
	u.low, u.high = x.low, high+1
	if r.Emin != 0 && r.Frac != 0 {
		u.low = max(u.low, int(r.Emin)-int(r.Frac))
	}
	return u
}

// exact reports whether a rounding keeps every bit.
func (e *encoder) exact(x number, r mma.Round) bool {
	return x.mag.Bits() <= int(r.Frac)+1 && (r.Emin == 0 || x.low >= int(r.Emin)-int(r.Frac)) && !e.saturates(x, r)
}

// exactOrTiny reports whether a rounding keeps every bit of numbers from 2^Emin on, and
// rounds no smaller number up to 2^Emin.
func (e *encoder) exactOrTiny(x number, r mma.Round) bool {
	bits := x.mag.Bits()
	return (bits <= int(r.Frac) || bits == int(r.Frac)+1 && r.Flush != mma.FlushResult) && !e.saturates(x, r)
}

// saturates reports whether an overflow may give the largest number.
func (e *encoder) saturates(x number, r mma.Round) bool {
	return r.Over != mma.OverInf && r.Emax != 0 && x.high > int(r.Emax) && !e.toMax(r, x.neg).Is(0)
}

// toMax reports whether an overflow gives the largest number.
func (e *encoder) toMax(r mma.Round, neg *graph.Node) *graph.Node {
	switch {
	case r.Over == mma.OverMax:
		return e.Int(1)
	case r.Over == mma.OverInf:
		return e.Int(0)
	}
	switch r.Mode {
	case fp.RZ, fp.RTO:
		return e.Int(1)
	case fp.RD:
		return e.Not(neg)
	case fp.RU:
		return neg
	}
	return e.Int(0)
}

// cutTo rounds the magnitude of x, of exponent ex, to r.Frac bits. It normalises the
// magnitude, so that its first bit has a fixed place, and drops one more bit for each step
// of ex below Emin. tiny is that it becomes zero, by rounding or by a flush.
func (e *encoder) cutTo(x number, r mma.Round, ex *graph.Node, flushes bool) (u number, tiny *graph.Node) {
	frac := int(r.Frac)
	norm, width := e.Norm(x.mag), x.mag.Bits()
	if more := frac + 2 - width; more > 0 {
		norm, width = e.Left(norm, more), width+more
	}
	at, deficit := ex, e.Int(0)
	if r.Emin != 0 {
		at = e.Max(ex, e.Int(int(r.Emin)))
		if x.low < int(r.Emin) {
			deficit = e.Max(e.Sub(e.Int(int(r.Emin)), ex), e.Int(0))
		}
	}
	kept, carry := e.significand(norm, e.AddInt(deficit, width-1-frac), frac, r.Mode, x.neg)
	u.frac, u.emin = frac, int(r.Emin)
	u.e = e.Add(at, carry)
	u.q = e.AddInt(u.e, -frac)
	zero, flushed := e.Int(0), e.Int(0)
	if r.Emin != 0 && x.low < int(r.Emin)-frac {
		zero = e.Eq(kept, e.Int(0))
	}
	if flushes {
		flushed = e.flushes(r, norm, width, ex, kept, carry, x.neg)
	}
	u.mag = e.Ite(flushed, e.Int(0), kept)
	return u, e.And(e.Not(e.Eq(x.mag, e.Int(0))), e.Or(zero, flushed))
}

// significand rounds norm/2^place to an integer of at most frac+1 bits. If rounding gives
// 2^(frac+1), kept is 2^frac and carry is 1.
func (e *encoder) significand(norm, place *graph.Node, frac int, m fp.Mode, neg *graph.Node) (kept, carry *graph.Node) {
	kept = e.rounded(norm, place, m, neg)
	if kept.Bits() <= frac+1 {
		return kept, e.Int(0)
	}
	carry = e.Eq(kept, e.Left(e.Int(1), frac+1))
	return e.Low(e.Ite(carry, e.Left(e.Int(1), frac), kept), e.Int(frac+1)), carry
}

// flushes reports whether r flushes the number to zero.
func (e *encoder) flushes(r mma.Round, norm *graph.Node, width int, ex, kept, carry, neg *graph.Node) *graph.Node {
	emin := e.Int(int(r.Emin))
	switch r.Flush {
	case mma.FlushBefore:
		return e.Less(ex, emin)
	case mma.FlushAfter:
		_, free := e.significand(norm, e.Int(width-1-int(r.Frac)), int(r.Frac), r.Mode, neg)
		return e.Less(e.Add(ex, free), emin)
	}
	return e.And(e.Not(carry), e.Less(kept, e.Left(e.Int(1), int(r.Frac))))
}

// code returns the code in D's format of a representable number.
func (e *encoder) code(x number) *graph.Node {
	d := e.d
	frac, emin := int(d.FracBits), int(d.Emin())
	if x.frac == 0 || x.frac > frac || x.emin != emin {
		u, _ := e.cutTo(x, mma.Round{Frac: mma.Frac(frac), Mode: fp.RZ, Emin: mma.Exp(emin)}, e.exponent(x), false)
		x.mag, x.e, x.frac = u.mag, u.e, frac
	}
	shifted := e.Left(e.AddInt(x.e, int(d.Bias)-1), frac)
	finite := e.Add(shifted, e.Left(x.mag, frac-x.frac))
	finite = e.Ite(e.Eq(x.mag, e.Int(0)), e.Int(0), finite)
	sign := e.Left(x.neg, frac+int(d.ExpBits))
	infinite := e.Left(e.Int(1<<d.ExpBits-1), frac)
	code := e.Add(sign, e.Ite(x.inf, infinite, finite))
	return e.Ite(x.nan, e.nanCode(), code)
}

// nanCode is the code of a NaN result that is not taken from an operand.
func (e *encoder) nanCode() *graph.Node {
	code := e.d.QuietNaN(e.Special.NegativeNaN())
	if e.Special.NaN == mma.NaNOnes {
		code = e.d.OnesNaNCode()
	}
	n := e.Int(int(code >> 1))
	return e.AddInt(e.Left(n, 1), int(code&1))
}
