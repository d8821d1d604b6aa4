package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// product multiplies two factors and, unless nil, their scales.
func (x *machine) product(a, b, sa, sb *operand) term {
	classes := a.class | b.class
	zero := a.class == fp.Zero || b.class == fp.Zero
	if sa != nil {
		classes |= sa.class | sb.class
		zero = zero || sa.class == fp.Zero || sb.class == fp.Zero
	}
	if classes >= fp.Inf { // Inf and NaN are the classes with that bit
		if x.gates(a, b) {
			za, zb := x.zeroed(&x.a, a), x.zeroed(&x.b, b)
			return x.product(&za, &zb, sa, sb)
		}
		return x.specialProduct(a, b, sa, sb)
	}
	neg := a.neg != b.neg
	if x.p.Prod.Xor {
		return exclusive(a, b)
	}
	if zero {
		if x.p.Prod.Gate >= mma.GateSkip && (a.class == fp.Zero || b.class == fp.Zero) {
			neg = true
		}
		if x.p.Prod.Zeros {
			return x.zeroProduct(neg, a, b, sa, sb)
		}
		return zeroTerm(neg)
	}
	t := term{e: a.e + b.e}
	t.Neg, t.Q = neg, a.q+b.q
	t.Hi, t.Lo = bits.Mul64(a.sig, b.sig)
	if x.change != nil && x.change.Product != nil {
		if t.Dyadic, t.e = x.change.Product(x.element, t.Dyadic, t.e); t.IsZero() {
			return zeroTerm(t.Neg)
		}
	}
	if x.p.Prod.Exp == mma.Normalised {
		t.e = t.Exponent()
	}
	if x.p.Prod.Up {
		t.e++
	}
	weight := int32(x.p.Weight(x.m.formats))
	t.Q, t.e = t.Q+weight, t.e+weight
	if sa != nil {
		t.scale(sa, sb)
	}
	if !x.rounds.products || t.Exponent() < x.exact {
		return t
	}
	if t = x.round(t, &x.p.Prod.Round); t.kind == Inf && x.p.Prod.FirstOver {
		t.nan = ofOverflow
	}
	return t
}

// exclusive is mma.Product.Xor: the factor that is not zero, if only one is.
func exclusive(a, b *operand) term {
	switch {
	case a.class == b.class:
		return zeroTerm(false)
	case a.class == fp.Zero:
		return b.term()
	}
	return a.term()
}

// scale multiplies t by two scales, which are finite and not zero.
func (t *term) scale(sa, sb *operand) {
	f := sa.sig * sb.sig // below 2^8
	hi, lo := bits.Mul64(t.Lo, f)
	t.Hi, t.Lo = t.Hi*f+hi, lo
	t.Q += sa.q + sb.q
	t.e += sa.e + sb.e
}

// gates reports whether a zero factor makes its product with an infinity or a NaN zero.
func (x *machine) gates(a, b *operand) bool {
	switch x.p.Prod.Gate {
	case mma.GateOff, mma.GateSkipNumbers:
		return false
	case mma.GateInf:
		if a.class == fp.NaN || b.class == fp.NaN {
			return false
		}
	}
	return (a.class == fp.Zero || b.class == fp.Zero) && (a.class|b.class) >= fp.Inf
}

// zeroed returns a zero of an operand's sign.
func (x *machine) zeroed(d *decoder, o *operand) operand {
	return operand{code: o.code, neg: o.neg, class: fp.Zero, e: d.leastExponent()}
}

// zeroProduct is mma.Product.Zeros: the product of factors one of which is zero.
func (x *machine) zeroProduct(neg bool, a, b, sa, sb *operand) term {
	t := term{e: a.e + b.e + int32(x.p.Weight(x.m.formats))}
	t.Neg = neg
	if x.p.Prod.Up {
		t.e++
	}
	if sa != nil {
		if sa.class == fp.Zero || sb.class == fp.Zero {
			return zeroTerm(t.Neg)
		}
		t.e += sa.e + sb.e
	}
	return x.round(t, &x.p.Prod.Round)
}
