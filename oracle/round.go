package oracle

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Rounding here is a choice between the two neighbouring multiples of the unit,
// floor and ceiling, of a signed number: a definition rather than an algorithm
// on lost bits.

// toMultiple rounds a number that is not 0 to a multiple of 2^u. It keeps its
// sign, also as a zero.
func (t *term) toMultiple(u int, m fp.Mode) {
	if t.q >= u {
		return
	}
	floor, half, exact := t.m.floor(u - t.q)
	if !exact && up(m, floor, half) {
		floor = floor.plus(newInteger(1))
	}
	t.m, t.q = floor, u
}

// up reports whether a number between floor and floor+1 is rounded to the latter;
// half compares its distance from floor with 1/2.
func up(m fp.Mode, floor integer, half int) bool {
	negative := floor.sign() < 0
	odd := floor.odd()
	switch m {
	case fp.RD:
		return false
	case fp.RU:
		return true
	case fp.RZ, fp.RS: // the random bits are added before
		return negative
	case fp.RTO:
		return !odd
	case fp.RNE:
		return half > 0 || half == 0 && odd
	case fp.RNA:
		return half > 0 || half == 0 && !negative
	}
	panic("oracle: rounding with no mode set")
}

// toUnit is toMultiple with the random bits of the operands, if m is RS.
func (e *evaluator) toUnit(t *term, u int, m fp.Mode) {
	if m == fp.RS {
		t.addRandom(u, e.random, int(e.f.B.RandomBits()))
	}
	t.toMultiple(u, m)
}

// addRandom adds n random bits, which are a fraction of 2^u, to the magnitude of a number. A multiple
// of 2^u stays as it is: what is added to it would be cut off again.
func (t *term) addRandom(u int, random uint64, n int) {
	if t.q >= u {
		return
	}
	low := min(t.q, u-n)
	r := newInteger(int64(random & (1<<n - 1))).shifted(u - n - low)
	if t.neg {
		r = r.neg()
	}
	t.m, t.q = t.m.shifted(t.q-low).plus(r), low
}

// round applies a Round to a term.
func (e *evaluator) round(t *term, r *mma.Round) {
	switch {
	case *r == (mma.Round{}):
	case e.whole:
		*t = integerTerm(inRange(t.m.shifted(t.q), r, e.f.D.Get().Signed), int(r.Emin))
	case e.rule != 0:
		e.roundWithFlags(t, r)
	default:
		e.roundTo(t, r, r.Short(e.f.D))
	}
}

// roundTo is round; with short, the largest number is one unit less than its bits allow
// (mma.Formats.Short).
func (e *evaluator) roundTo(t *term, r *mma.Round, short bool) {
	rounds := r.Frac != 0
	if r.Frac == 0 && r.Mode != 0 && e.f.D.Get().PowersOfTwo() { // of magnitudes
		if rounds = true; t.neg {
			t.neg, t.m = false, t.m.neg()
		}
	}
	if rounds {
		if t.kind == NotANumber && e.Special.NaN == mma.NaNZero {
			*t = plusZero
			return
		}
		t.invalid, t.signals, t.direct = false, false, false // the NaN is now the result of an operation
	}
	switch {
	case t.kind == Infinite && r.Over == mma.OverSat:
		*t = overflow(t.neg, r, short)
		return
	case t.kind != Finite:
		return
	case t.isZero():
		t.null = t.null || rounds
		return
	}
	flushed := e.tooSmall(t, r)
	if rounds {
		e.toUnit(t, quantum(t, r), r.Mode)
	}
	switch {
	case flushed || t.isZero() || r.Flush == mma.FlushResult && t.below(int(r.Emin)):
		*t = term{null: true, neg: t.neg && e.Special.TinySign}
	case r.Emax != 0 && (t.log2() > int(r.Emax) || short && cmpAbs(*t, largest(r, false)) >= 0):
		*t = overflow(t.neg, r, short)
	case rounds:
		t.e = normalExponent(t, r)
	}
}

// inRange returns what an integer becomes in Frac bits and, if signed, a sign: the nearest integer
// of that range or, with OverWrap, the one that leaves the same remainder.
func inRange(n integer, r *mma.Round, signed bool) integer {
	end, least, bits := newInteger(1).shifted(int(r.Frac)), newInteger(0), int(r.Frac)
	if signed {
		least, bits = end.neg(), bits+1
	}
	turns, _, _ := n.plus(least.neg()).floor(bits)
	switch {
	case r.Over == mma.OverWrap:
		return n.plus(turns.shifted(bits).neg())
	case turns.sign() < 0:
		return least
	case turns.sign() > 0:
		return end.plus(newInteger(-1))
	}
	return n
}

// normalExponent is max(floor(log2|t|), Emin).
func normalExponent(t *term, r *mma.Round) int {
	if r.HasEmin() {
		return max(t.log2(), int(r.Emin))
	}
	return t.log2()
}

// quantum is the exponent of the unit to which r rounds t.
func quantum(t *term, r *mma.Round) int { return normalExponent(t, r) - int(r.Frac) }

// tooSmall reports whether r flushes t for what it is before it is rounded, or would be after
// that if the exponent range had no lower end.
func (e *evaluator) tooSmall(t *term, r *mma.Round) bool {
	switch r.Flush {
	case mma.FlushBefore:
		return t.below(int(r.Emin))
	case mma.FlushAfter:
		unbounded := *t
		if r.Frac != 0 {
			e.toUnit(&unbounded, t.log2()-int(r.Frac), r.Mode)
		}
		return unbounded.below(int(r.Emin))
	}
	return false
}

// overflow returns what a result beyond Emax becomes.
func overflow(neg bool, r *mma.Round, short bool) term {
	if r.Over == mma.OverInf || r.Over == mma.OverIEEE && toInfinity(r.Mode, neg) {
		return term{kind: Infinite, neg: neg}
	}
	t := largest(r, short)
	if t.neg = neg; neg {
		t.m = t.m.neg()
	}
	return t
}

// largest returns the largest number that a Round makes: Frac+1 ones or, with short, one
// unit less.
func largest(r *mma.Round, short bool) term {
	m := newInteger(2).shifted(int(r.Frac)).plus(newInteger(-1))
	if short {
		m = m.plus(newInteger(-1))
	}
	return term{m: m, q: int(r.Emax) - int(r.Frac), e: int(r.Emax)}
}

// toInfinity reports whether a direction carries an overflow to infinity: IEEE
// 754-2019 section 7.4.
func toInfinity(m fp.Mode, neg bool) bool {
	switch m {
	case fp.RD:
		return neg
	case fp.RU:
		return !neg
	}
	return m == fp.RNE || m == fp.RNA
}
