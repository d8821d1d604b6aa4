package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// narrower rounds numbers of a format as an mma.Narrow describes.
type narrower struct {
	mma.Round       // Frac 0: not at all
	emin      int32 // numbers below 2^emin become multiples of 2^(emin-Frac)
}

func newNarrower(n mma.Narrow, f *fp.Format) narrower {
	r, emin := n.Rounding(f)
	return narrower{r, emin}
}

// of returns t narrowed.
func (n *narrower) of(t term) term {
	switch {
	case n.Frac == 0 || t.kind == NaN || t.kind == Null:
		return t
	case t.kind == Inf && n.Over == mma.OverSat:
		return n.overflow(t.Neg)
	case t.kind == Inf:
		return t
	}
	d := t.Round(max(t.Exponent(), n.emin)-int32(n.Frac), n.Mode)
	switch {
	case d.IsZero():
		return zeroTerm(t.Neg)
	case d.Exponent() > int32(n.Emax):
		return n.overflow(t.Neg)
	}
	return term{Dyadic: d, e: max(d.Exponent(), n.emin)}
}

// overflow returns what an operand above the largest number becomes.
func (n *narrower) overflow(neg bool) term {
	if !overflowsToLargest(neg, &n.Round) {
		return infTerm(neg)
	}
	return largest(neg, &n.Round, false)
}

// term returns an operand as a term. That of a NaN lacks its code.
func (o *operand) term() term {
	t := term{Dyadic: fp.Dyadic{Lo: o.sig, Q: o.q, Neg: o.neg}, e: o.e}
	switch o.class {
	case fp.Zero:
		t.kind = Null
	case fp.Inf:
		t.kind = Inf
	case fp.NaN:
		t.kind = NaN
	}
	return t
}

// operand returns a term as an operand; code is its code if it is a NaN.
func (d *decoder) operand(code uint64, t term) operand {
	o := operand{code: code, sig: t.Lo, q: t.Q, e: t.e, neg: t.Neg, class: fp.Finite}
	switch {
	case t.kind == NaN:
		o.class = fp.NaN
	case t.kind == Inf:
		o.class = fp.Inf
	case t.IsZero():
		o.class, o.e = fp.Zero, d.leastExponent()
	}
	return o
}
