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

// part returns part n of an operand: see mma.Passes.
func (d *decoder) part(o *operand, n int) operand {
	rest, code := o.term(), o.code
	for ; n > 0; n-- {
		p := d.narrow.of(rest)
		switch left := d.left(rest, p); {
		case left.kind != NaN:
			rest = left
		case d.rest:
			if rest = left; o.class != fp.NaN {
				code = d.quiet
			}
		default:
			rest = zeroTerm(false)
		}
	}
	p := d.operand(code, d.narrow.of(rest))
	d.flushed(&p)
	return p
}

// left returns x - p.
func (d *decoder) left(x, p term) term {
	switch {
	case x.kind == NaN || x.kind == Inf && p.kind == Inf:
		return term{kind: NaN}
	case x.kind == Inf:
		return x
	case p.kind == Inf:
		return infTerm(!p.Neg)
	case x.kind == Null:
		return zeroTerm(false)
	case p.kind == Null:
		return x
	}
	q := min(x.Q, p.Q)
	p.Neg = !p.Neg
	var s acc128
	s.add(x.Dyadic, q)
	s.add(p.Dyadic, q)
	t := s.term(q)
	if t.IsZero() {
		return zeroTerm(false)
	}
	t.e = max(t.Exponent(), d.leastExponent())
	return t
}

// overflow returns what an operand above the largest number becomes.
func (n *narrower) overflow(neg bool) term {
	if !overflowsToLargest(neg, &n.Round) {
		return infTerm(neg)
	}
	return largest(neg, &n.Round, false)
}
