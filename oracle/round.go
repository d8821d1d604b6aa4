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
func toMultiple(t term, u int, m fp.Mode) term {
	if t.q >= u {
		return t
	}
	floor, half, exact := t.m.floor(u - t.q)
	if !exact && up(m, floor, half) {
		floor = floor.plus(newInteger(1))
	}
	t.m, t.q = floor, u
	return t
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
	case fp.RZ:
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

// round applies a Round to a term.
func (e *evaluator) round(t term, r mma.Round) term {
	if r == (mma.Round{}) {
		return t
	}
	return e.roundTo(t, r, r.Short(e.f.D))
}

// roundTo is round; with short, the largest number is one unit less than its bits allow
// (mma.Formats.Short).
func (e *evaluator) roundTo(t term, r mma.Round, short bool) term {
	if r == (mma.Round{}) {
		return t
	}
	if r.Frac != 0 {
		if t.kind == NotANumber && e.Special.NaN == mma.NaNZero {
			return term{null: true}
		}
		t.invalid, t.signals, t.direct = false, false, false // the NaN is now the result of an operation
	}
	if t.kind == Infinite && r.Over == mma.OverSat {
		return overflow(t.neg, r, short)
	}
	if t.kind != Finite {
		return t
	}
	if t.isZero() {
		t.null = t.null || r.Frac != 0
		return t
	}
	d := t
	if r.Frac != 0 {
		d = toMultiple(t, quantum(t, r), r.Mode)
	}
	switch {
	case d.isZero() || flushed(t, d, r):
		return term{null: true, neg: t.neg && e.Special.TinySign}
	case r.Emax != 0 && (d.log2() > int(r.Emax) || short && atLeast(d, largest(r, false))):
		return overflow(t.neg, r, short)
	}
	if r.Frac != 0 {
		d.e = normalExponent(d, r)
	}
	return d
}

// normalExponent is max(floor(log2|t|), Emin).
func normalExponent(t term, r mma.Round) int {
	if r.HasEmin() {
		return max(t.log2(), int(r.Emin))
	}
	return t.log2()
}

// quantum is the exponent of the unit to which r rounds t.
func quantum(t term, r mma.Round) int { return normalExponent(t, r) - int(r.Frac) }

// flushed reports whether r flushes t, of which d is the rounded number.
func flushed(t, d term, r mma.Round) bool {
	emin := int(r.Emin)
	switch r.Flush {
	case mma.FlushBefore:
		return t.below(emin)
	case mma.FlushAfter:
		if r.Frac != 0 { // as if the exponent range had no lower end
			t = toMultiple(t, t.log2()-int(r.Frac), r.Mode)
		}
		return t.below(emin)
	case mma.FlushResult:
		return d.below(emin)
	}
	return false
}

// overflow returns what a result beyond Emax becomes.
func overflow(neg bool, r mma.Round, short bool) term {
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
func largest(r mma.Round, short bool) term {
	m := newInteger(2).shifted(int(r.Frac)).plus(newInteger(-1))
	if short {
		m = m.plus(newInteger(-1))
	}
	return term{m: m, q: int(r.Emax) - int(r.Frac), e: int(r.Emax)}
}

// atLeast reports whether |t| >= |u|.
func atLeast(t, u term) bool { return cmpAbs(t, u) >= 0 }

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
