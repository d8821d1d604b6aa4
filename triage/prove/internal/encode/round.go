package encode

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// rounding is a Round at its place.
type rounding struct {
	mma.Round
	hasEmin, hasEmax bool // also where they are 0
	short            bool // the largest number is a NaN: see mma.Round.Over
	operand          bool // of an operand: zeros keep their signs, NaNs stay
	factor           bool // the result is multiplied: what is not a number is no zero
}

// placed is a Round of numbers of a format.
func placed(r mma.Round, id fp.ID) rounding {
	return rounding{Round: r, hasEmin: r.HasEmin(), hasEmax: r.Emax != 0, short: r.Short(id)}
}

// round applies a Round.
func (e *encoder) round(x number, r mma.Round) number {
	y := e.roundTo(x, placed(r, e.in.Formats.D))
	y.rel = e.roundedError(x.rel, r)
	return y
}

func (e *encoder) roundTo(x number, r rounding) number {
	if r.Frac != 0 && !r.operand && e.Special.NaN == mma.NaNZero && !x.nan.Is(0) {
		number := e.Not(x.nan)
		x.mag, x.null = e.Ite(x.nan, e.Int(0), x.mag), e.Or(x.null, x.nan)
		x.neg, x.inf, x.nan = e.And(x.neg, number), e.And(x.inf, number), e.Int(0)
	}
	if r.Round == (mma.Round{}) || x.mag.Is(0) && x.inf.Is(0) {
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
	if r.hasEmin {
		high = max(high, int(r.Emin)) // up to the smallest number, or with this nominal exponent
	}
	if r.hasEmax && (high > int(r.Emax) || r.short && high == int(r.Emax)) {
		high = int(r.Emax)
		at := u.e
		if u.frac == 0 {
			at = ex
		}
		over = e.Less(e.Int(int(r.Emax)), at)
		if r.short {
			over = e.Or(over, e.And(e.Eq(at, e.Int(int(r.Emax))), e.Eq(u.mag, e.Int(2<<r.Frac-1))))
		}
		over = e.And(over, e.Not(tiny), e.Not(e.Eq(x.mag, e.Int(0))))
	}
	return e.assemble(x, u, r, tiny, over, high)
}

// renamed is x with the nominal exponent that a rounding gives it.
func (e *encoder) renamed(x number, r rounding, ex *graph.Node) number {
	switch {
	case r.Frac == 0 || x.frac != 0 && r.hasEmin && x.emin == int(r.Emin):
		return x
	case !r.hasEmin:
		x.e = ex
	default:
		x.e = e.Max(ex, e.Int(int(r.Emin)))
	}
	x.frac = 0
	return x
}

// assemble puts the result of a rounding together: u, of exponent high at most, or zero, or
// what an overflow gives.
func (e *encoder) assemble(x, u number, r rounding, tiny, over *graph.Node, high int) number {
	infinite := e.Or(x.inf, over)
	if r.Over != mma.OverInf {
		toMax := e.toMax(r.Round, x.neg)
		most := e.And(over, toMax)
		infinite = e.Or(x.inf, e.And(over, e.Not(toMax)))
		if r.Over == mma.OverSat && !x.inf.Is(0) {
			most, infinite, high = e.Or(over, x.inf), e.Int(0), max(high, int(r.Emax))
			u.e = e.Ite(x.inf, e.Int(int(r.Emax)), u.e)
		}
		largest := e.AddInt(e.Left(e.Int(1), int(r.Frac)+1), -1)
		if r.short {
			largest = e.AddInt(largest, -1)
		}
		u.mag = e.Ite(most, largest, u.mag)
	}
	if u.frac != 0 {
		u.e = e.Min(u.e, e.Int(high))
		u.q = e.AddInt(u.e, -u.frac)
	}
	u.neg = x.neg
	if !e.Special.TinySign && !r.operand {
		special := e.Or(x.inf, x.nan)
		u.neg = e.And(x.neg, e.Or(e.Not(tiny), special))
	}
	u.null = e.Or(x.null, tiny)
	if r.Frac != 0 {
		u.null = e.Eq(u.mag, e.Int(0))
	}
	u.inf, u.nan, u.over = infinite, x.nan, x.over
	if r.factor {
		u.null = e.And(u.null, e.Not(u.inf), e.Not(u.nan))
	}
	u.low, u.high = x.low, high+1
	if r.hasEmin && r.Frac != 0 {
		u.low = max(u.low, int(r.Emin)-int(r.Frac))
	}
	return u
}

// exact reports whether a rounding keeps every bit.
func (e *encoder) exact(x number, r rounding) bool {
	return x.mag.Bits() <= int(r.Frac)+1 && (!r.hasEmin || x.low >= int(r.Emin)-int(r.Frac)) && !e.saturates(x, r)
}

// exactOrTiny reports whether a rounding keeps every bit of numbers from 2^Emin on, and
// rounds no smaller number up to 2^Emin.
func (e *encoder) exactOrTiny(x number, r rounding) bool {
	bits := x.mag.Bits()
	return (bits <= int(r.Frac) || bits == int(r.Frac)+1 && r.Flush != mma.FlushResult) && !e.saturates(x, r)
}

// saturates reports whether a rounding may give the largest number, or has to know whether it
// would give the one above it.
func (e *encoder) saturates(x number, r rounding) bool {
	if r.Over == mma.OverSat && !x.inf.Is(0) {
		return true
	}
	return r.hasEmax && x.high > int(r.Emax) && (r.short || r.Over != mma.OverInf && !e.toMax(r.Round, x.neg).Is(0))
}

// toMax reports whether an overflow gives the largest number.
func (e *encoder) toMax(r mma.Round, neg *graph.Node) *graph.Node {
	switch {
	case r.Over == mma.OverMax, r.Over == mma.OverSat:
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
func (e *encoder) cutTo(x number, r rounding, ex *graph.Node, flushes bool) (u number, tiny *graph.Node) {
	frac := int(r.Frac)
	norm, width := e.Norm(x.mag), x.mag.Bits()
	if more := frac + 2 - width; more > 0 {
		norm, width = e.Left(norm, more), width+more
	}
	at, deficit := ex, e.Int(0)
	if r.hasEmin {
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
	if r.hasEmin && x.low < int(r.Emin)-frac {
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
func (e *encoder) flushes(r rounding, norm *graph.Node, width int, ex, kept, carry, neg *graph.Node) *graph.Node {
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
		r := rounding{Round: mma.Round{Frac: mma.Frac(frac), Mode: fp.RZ, Emin: mma.Exp(emin)}, hasEmin: true}
		u, _ := e.cutTo(x, r, e.exponent(x), false)
		x.mag, x.e, x.frac = u.mag, u.e, frac
	}
	shifted := e.Left(e.AddInt(x.e, int(d.Bias)-1), frac)
	finite := e.Add(shifted, e.Left(x.mag, frac-x.frac))
	zero := e.Eq(x.mag, e.Int(0))
	finite = e.Ite(zero, e.Int(0), finite)
	neg, nan := x.neg, x.nan
	if !d.HasInf() {
		nan = e.Or(nan, x.inf)
	}
	if !d.HasNegZero() {
		neg = e.And(neg, e.Not(zero))
	}
	sign := e.Left(neg, frac+int(d.ExpBits))
	if d.HasInf() {
		finite = e.Ite(x.inf, e.Left(e.Int(1<<d.ExpBits-1), frac), finite)
	}
	return e.Ite(nan, e.nanCode(), e.Add(sign, finite))
}

// nanCode is the code of a NaN result that is not taken from an operand.
func (e *encoder) nanCode() *graph.Node {
	if !e.d.HasNaN() {
		return e.code64(e.d.MaxFinite())
	}
	code := e.d.QuietNaN(e.Special.NegativeNaN())
	if e.Special.NaN == mma.NaNOnes {
		code = e.d.OnesNaNCode()
	}
	for i := range e.Special.Ones {
		code |= 1 << (e.d.FracBits - 1 - i)
	}
	return e.code64(code)
}

// code64 is a constant.
func (e *encoder) code64(code uint64) *graph.Node { return e.Big(new(big.Int).SetUint64(code)) }

// nanOfC is a result with mma.NaNOfC: a NaN of c is the result, code for code.
func (e *encoder) nanOfC(result *graph.Node) *graph.Node {
	o := e.in.c
	if e.Special.NaN != mma.NaNOfC || o.f == nil {
		return result
	}
	return e.Ite(e.read(unread(e.Graph, o, e.In.NarrowC)).nan, e.in.codeOf(o), result)
}
