package encode

import "github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"

// sort puts terms in the order of their magnitudes by exchanging neighbours, which keeps the
// order of equal ones. Infinities and NaNs have one magnitude, above that of all numbers.
func (e *encoder) sort(ts []number, falling bool) {
	for end := len(ts); end > 1; end-- {
		for i := range end - 1 {
			x, y := &ts[i], &ts[i+1]
			wrong := e.above(x, y)
			if falling {
				wrong = e.above(y, x)
			}
			ts[i], ts[i+1] = e.either(wrong, y, x), e.either(wrong, x, y)
		}
	}
}

// above reports whether |x| > |y|.
func (e *encoder) above(x, y *number) *graph.Node {
	special := func(t *number) *graph.Node { return e.Or(t.inf, t.nan) }
	zero := func(t *number) *graph.Node { return e.Eq(t.mag, e.Int(0)) }
	width := max(x.mag.Bits(), y.mag.Bits())
	significand := func(t *number) *graph.Node { return e.Left(e.Norm(t.mag), width-t.mag.Bits()) }
	ex, ey := e.exponent(*x), e.exponent(*y)
	larger := e.Or(e.Less(ey, ex), e.And(e.Eq(ex, ey), e.Less(significand(y), significand(x))))
	finite := e.And(e.Not(special(x)), e.Not(zero(x)), e.Or(zero(y), larger))
	return e.And(e.Not(special(y)), e.Or(special(x), finite))
}

// either is x if a condition holds, else y.
func (e *encoder) either(c *graph.Node, x, y *number) number {
	pick := func(x, y *graph.Node) *graph.Node { return e.Ite(c, x, y) }
	t := number{
		neg: pick(x.neg, y.neg), mag: pick(x.mag, y.mag), q: pick(x.q, y.q), e: pick(x.e, y.e), null: pick(x.null, y.null),
		inf: pick(x.inf, y.inf), nan: pick(x.nan, y.nan), over: pick(x.over, y.over),
		low: min(x.low, y.low), high: max(x.high, y.high),
	}
	if x.frac == y.frac && x.emin == y.emin {
		t.frac, t.emin = x.frac, x.emin
	}
	return t
}
