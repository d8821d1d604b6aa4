package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// powers reports whether a Round makes powers of two of magnitudes: see mma.Round.
func (x *machine) powers(r *mma.Round) bool { return r.Frac == 0 && r.Mode != 0 && x.fd.PowersOfTwo() }

// round applies a Round to a term.
func (x *machine) round(t term, r *mma.Round) term {
	powers := x.powers(r)
	if powers {
		t.Neg = false
	}
	switch {
	case x.fd.Integer():
		return integerRange(t, r, x.fd.Signed)
	case t.kind >= Inf:
		return x.roundSpecial(t, r)
	case r.Frac == 0 && r.Emax == 0 && r.Flush == mma.NoFlush:
		return t
	case t.IsZero():
		if r.Frac != 0 || powers {
			t.kind = Null
		}
		return t
	}
	rounds := r.Frac != 0 || powers
	u := t
	e := t.Exponent()
	emin := int32(r.Emin)
	if rounds {
		at := e
		if r.HasEmin() {
			at = max(e, emin)
		}
		u.Dyadic = x.roundAt(t.Dyadic, at-int32(r.Frac), r.Mode)
		if u.IsZero() {
			return x.tiny(t.Neg)
		}
		e = u.Exponent()
		u.e = e
	}
	if r.Flush != mma.NoFlush && x.flushes(t, u, r) {
		return x.tiny(t.Neg)
	}
	if r.Emax != 0 && e >= int32(r.Emax) {
		if e > int32(r.Emax) || bits.OnesCount64(u.Hi)+bits.OnesCount64(u.Lo) > int(r.Frac) && x.short(r) {
			return x.overflow(t.Neg, r)
		}
	}
	if rounds && r.HasEmin() {
		u.e = max(u.e, emin)
	}
	return u
}

// roundAt rounds a number to a multiple of 2^q.
func (x *machine) roundAt(d fp.Dyadic, q int32, m fp.Mode) fp.Dyadic {
	if m == fp.RS {
		return d.RoundRandom(q, x.random, x.m.formats.B.RandomBits())
	}
	return d.Round(q, m)
}

// integerRange brings an integer into the range that a Round keeps: Frac bits and, if the result is
// signed, a sign.
func integerRange(t term, r *mma.Round, signed bool) term {
	if r.Frac == 0 || t.IsZero() {
		return t
	}
	whole := t.Round(0, fp.RZ) // the bits below 1 are zeros
	v := int64(whole.Lo) << whole.Q
	if t.Neg {
		v = -v
	}
	v = newIntRange(r, signed).of(v)
	if v == 0 {
		return zeroTerm(false)
	}
	return term{Dyadic: fp.Dyadic{Lo: uint64(max(v, -v)), Neg: v < 0}, e: int32(r.Emin)}
}

// roundSpecial applies a Round to an infinity or a NaN.
func (x *machine) roundSpecial(t term, r *mma.Round) term {
	switch {
	case t.kind >= NaN && (r.Frac != 0 || x.powers(r)):
		return x.roundedNaN(t)
	case t.kind == Inf && r.Over == mma.OverSat:
		return x.overflow(t.Neg, r)
	}
	return t
}

// short reports whether the largest number of a rounding is one unit less than its bits
// allow.
func (x *machine) short(r *mma.Round) bool {
	if r == &x.p.ScaleRound {
		return r.Short(x.m.formats.Scale)
	}
	return r.Short(x.m.formats.D)
}

// flushes reports whether t, which rounds to u, counts as tiny.
func (x *machine) flushes(t, u term, r *mma.Round) bool {
	emin := int32(r.Emin)
	switch r.Flush {
	case mma.FlushBefore:
		return t.Exponent() < emin
	case mma.FlushAfter:
		free := t.Dyadic
		if r.Frac != 0 {
			free = x.roundAt(free, t.Exponent()-int32(r.Frac), r.Mode)
		}
		return free.Exponent() < emin
	}
	return u.Exponent() < emin
}

// tiny returns the zero that a non-zero number becomes.
func (x *machine) tiny(neg bool) term {
	return zeroTerm(neg && x.p.Special.TinySign)
}

// overflow returns what a number above the largest one becomes.
func (x *machine) overflow(neg bool, r *mma.Round) term {
	if !overflowsToLargest(neg, r) {
		return infTerm(neg)
	}
	return largest(neg, r, x.short(r))
}

// overflowsToLargest reports whether a number of too large a magnitude becomes the largest
// one, and not an infinity.
func overflowsToLargest(neg bool, r *mma.Round) bool {
	m := r.Mode
	return r.Over == mma.OverMax || r.Over == mma.OverSat ||
		r.Over == mma.OverIEEE && (m == fp.RZ || m == fp.RTO || m == fp.RD && !neg || m == fp.RU && neg)
}

// largest returns the number of the largest magnitude: with short, one unit less than its
// bits allow.
func largest(neg bool, r *mma.Round, short bool) term {
	n := int32(r.Frac) + 1 // significant bits, at most 64+1
	d := fp.Dyadic{Lo: 1, Q: int32(r.Emax) - n + 1}
	d = d.Shl(n)
	if d.Lo == 0 {
		d.Hi--
	}
	d.Lo--
	if short {
		d.Lo--
	}
	d.Q, d.Neg = int32(r.Emax)-n+1, neg
	return term{Dyadic: d, e: int32(r.Emax)}
}
