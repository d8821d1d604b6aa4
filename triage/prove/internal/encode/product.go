package encode

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// product is a[i]*b[i], with its scales where they belong to products.
func (e *encoder) product(i int) number {
	x := e.times(e.factor(e.in.a[i]), e.factor(e.in.b[i]))
	if e.Prod.Exp == mma.Normalised {
		x.e = e.exponent(x)
	}
	if e.Prod.Up {
		x.e = e.AddInt(x.e, 1)
	}
	down := -int(e.in.Formats.Down)
	x.q, x.e, x.low, x.high = e.AddInt(x.q, down), e.AddInt(x.e, down), x.low+down, x.high+down
	if e.in.Formats.Scale != fp.None && e.Scale == mma.ScaleProduct {
		block := i / int(e.in.Formats.Block)
		x = e.scaled(e.scaled(x, e.in.sa[block]), e.in.sb[block])
	}
	return e.round(x, e.Prod.Round)
}

// factor reads an a or b: widening, the treatment of subnormals, and the choice of the
// exponent.
func (e *encoder) factor(o operand) number {
	x := e.number(o, o.f)
	emin, own := int(o.f.Emin()), int(o.f.Emin())
	if e.In.Widen != fp.None {
		emin = int(e.In.Widen.Get().Emin())
	}
	value := x.e
	if emin != own || e.Prod.Exp == mma.OperandSum {
		value = e.value(o, x)
	}
	if emin != own {
		x.e = e.Max(value, e.Int(emin))
	}
	if e.In.Sub != mma.KeepSub {
		var tiny *graph.Node // subnormal or zero
		if emin == own {
			tiny = e.Less(x.mag, e.Int(1<<o.f.FracBits))
		} else {
			tiny = e.Or(e.Eq(x.mag, e.Int(0)), e.Less(value, e.Int(emin)))
		}
		tiny = e.And(tiny, e.Not(o.special))
		x.mag = e.Ite(tiny, e.Int(0), x.mag)
		x.null = e.Or(x.null, tiny)
		x.low = max(x.low, emin-int(o.f.FracBits))
		if e.In.Sub == mma.FlushPlus {
			x.neg = e.And(x.neg, e.Not(tiny))
		}
	}
	if e.Prod.Exp == mma.OperandSum {
		x.e = value
	}
	return x
}

// value is floor(log2) of an operand that is not 0.
func (e *encoder) value(o operand, x number) *graph.Node {
	if o.f.NoZero {
		return x.e
	}
	subnormal := e.AddInt(e.Log2(o.frac), int(o.f.Emin())-int(o.f.FracBits))
	return e.Ite(e.Eq(o.field, e.Int(0)), subnormal, e.AddInt(o.field, -int(o.f.Bias)))
}

// times is the exact product. Its nominal exponent is the sum of theirs.
func (e *encoder) times(x, y number) number {
	zeroX, zeroY := e.And(x.null, e.Not(x.nan)), e.And(y.null, e.Not(y.nan))
	return number{
		neg:  e.Xor(x.neg, y.neg),
		mag:  e.Mul(x.mag, y.mag),
		q:    e.Add(x.q, y.q),
		e:    e.Add(x.e, y.e),
		null: e.Or(x.null, y.null),
		inf:  e.Or(x.inf, y.inf),
		nan:  e.Or(x.nan, y.nan, e.And(x.inf, zeroY), e.And(zeroX, y.inf)),
		low:  x.low + y.low,
		high: x.high + y.high,
	}
}

// scaled multiplies a term by a scale. A sum that cancelled is zero but not null: it
// keeps its exponent. Infinity times a zero scale is NaN.
func (e *encoder) scaled(x number, scale operand) number {
	return e.times(x, e.number(scale, scale.f))
}
