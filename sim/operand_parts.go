package sim

import "github.com/mmafuzz/mmafuzz/sim/fp"

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
