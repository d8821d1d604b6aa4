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
		return x.specialProduct(a, b, sa, sb)
	}
	neg := a.neg != b.neg
	if zero {
		return zeroTerm(neg)
	}
	t := term{e: a.e + b.e}
	t.Neg, t.Q = neg, a.q+b.q
	t.Hi, t.Lo = bits.Mul64(a.sig, b.sig)
	if x.p.Prod.Exp == mma.Normalised {
		t.e = t.Exponent()
	}
	down := int32(x.m.formats.Down)
	t.Q, t.e = t.Q-down, t.e-down
	if sa != nil {
		t.scale(sa, sb)
	}
	return x.round(t, &x.p.Prod.Round)
}

// scale multiplies t by two scales, which are finite and not zero.
func (t *term) scale(sa, sb *operand) {
	f := sa.sig * sb.sig // below 2^8
	hi, lo := bits.Mul64(t.Lo, f)
	t.Hi, t.Lo = t.Hi*f+hi, lo
	t.Q += sa.q + sb.q
	t.e += sa.e + sb.e
}
