package encode

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// productKey is all that a product depends on.
type productKey struct {
	a, b, sa, sb operand
	pass         mma.Pass
	params       mma.Params // no others but these
	signs        bool       // of zeros
}

// product is a[i]*b[i], or that of parts of them, with its scales where they belong to
// products. Programs that multiply alike share it.
func (e *encoder) product(i int, pass mma.Pass) number {
	key := productKey{a: e.in.a[i], b: e.in.b[i], pass: pass, signs: e.signsOfZeros(),
		params: mma.Params{In: e.In, Prod: e.Prod, Scale: e.Scale, ScaleRound: e.ScaleRound, Special: e.Special}}
	if e.in.Formats.Scale != fp.None {
		block := i / int(e.in.Formats.Block)
		key.sa, key.sb = e.in.sa[block], e.in.sb[block]
	}
	x, ok := e.in.products[key]
	if !ok || e.bounds {
		x = e.newProduct(i, pass)
		e.in.products[key] = x
	}
	return x
}

func (e *encoder) newProduct(i int, pass mma.Pass) number {
	a, b := e.factor(e.in.a[i], e.In.A, pass.A), e.factor(e.in.b[i], e.In.B, pass.B)
	x := e.gated(e.times(a.number, b.number), &a, &b)
	if e.Prod.Exp == mma.Normalised {
		x.e = e.exponent(x)
	}
	special := e.Or(x.inf, x.nan)
	if e.Prod.Zeros {
		zero := e.And(x.null, e.Not(special))
		x.null, x.e = e.And(x.null, special), e.Ite(zero, e.Add(a.exponent, b.exponent), x.e)
	}
	if e.Prod.Gate >= mma.GateSkip && e.signsOfZeros() {
		x.neg = e.Or(x.neg, e.And(e.Eq(x.mag, e.Int(0)), e.Not(special)))
	}
	if e.Prod.Up {
		x.e = e.AddInt(x.e, 1)
	}
	weight := e.Weight(e.in.Formats)
	x.q, x.e, x.low, x.high = e.AddInt(x.q, weight), e.AddInt(x.e, weight), x.low+weight, x.high+weight
	x.rel = e.exactProduct()
	if e.in.Formats.Scale != fp.None && e.Scale == mma.ScaleProduct {
		x = e.scaled(x, i/int(e.in.Formats.Block))
	}
	y := e.round(x, e.Prod.Round)
	if e.Prod.FirstOver {
		y.over = e.And(y.inf, e.Not(x.inf))
	}
	return y
}

// factor is a or b, or a part of one.
type factor struct {
	number
	exponent *graph.Node // what it adds to the exponent of a zero product that has one
}

// factor reads an a or b: widening, its parts, narrowing, the treatment of subnormals, and the
// choice of the exponent.
func (e *encoder) factor(o operand, n mma.Narrow, part int) factor {
	o = unread(e.Graph, o, n)
	x, f := e.read(o), o.f.ID.As(e.In.Widen).Get()
	emin, own := int(f.Emin()), int(o.f.Emin())
	value := x.e
	if emin != own || e.Prod.Exp == mma.OperandSum {
		value = e.value(o, x)
	}
	if emin != own {
		x.e = e.Max(value, e.Int(emin))
	}
	if r, _ := n.Rounding(f); r.Frac != 0 {
		for range part {
			x = e.rest(x, n, f)
		}
		x = e.flushed(e.narrowed(x, n, f), e.In.Sub, emin)
		value = e.exponent(x)
	} else if e.In.Sub != mma.KeepSub {
		var tiny *graph.Node // subnormal or zero
		if emin == own {
			tiny = e.Less(x.mag, e.Int(1<<o.f.FracBits))
		} else {
			tiny = e.Or(e.Eq(x.mag, e.Int(0)), e.Less(value, e.Int(emin)))
		}
		tiny = e.And(tiny, e.Not(o.special))
		if e.In.NaNInf {
			tiny = e.And(tiny, e.Not(x.inf))
		}
		x.mag = e.Ite(tiny, e.Int(0), x.mag)
		x.null = e.Or(x.null, tiny)
		x.low = max(x.low, emin-int(o.f.FracBits))
		if e.In.Sub == mma.FlushPlus && e.signsOfZeros() {
			x.neg = e.And(x.neg, e.Not(tiny))
		}
	}
	if e.Prod.Exp == mma.OperandSum {
		x.e = value
	}
	return factor{x, e.Ite(e.Eq(x.mag, e.Int(0)), e.Int(emin), x.e)}
}

// value is floor(log2) of an operand that is not 0.
func (e *encoder) value(o operand, x number) *graph.Node {
	if o.f.NoZero {
		return x.e
	}
	subnormal := e.AddInt(e.Log2(o.frac), int(o.f.Emin())-int(o.f.FracBits))
	return e.Ite(e.Eq(o.field, e.Int(0)), subnormal, e.AddInt(o.field, -int(o.f.Bias)))
}

// gated is a product of two factors as mma.Product.Gate has it: a zero factor may make a zero
// of one with an infinity or a NaN.
func (e *encoder) gated(x number, a, b *factor) number {
	if e.Prod.Gate != mma.GateInf && e.Prod.Gate != mma.GateAll && e.Prod.Gate != mma.GateSkip {
		return x
	}
	zero := func(t *factor) *graph.Node { return e.And(t.null, e.Not(t.inf), e.Not(t.nan)) }
	other := e.Or(a.inf, b.inf)
	if e.Prod.Gate != mma.GateInf {
		other = e.Or(other, a.nan, b.nan)
	}
	gated := e.And(e.Or(zero(a), zero(b)), other)
	x.inf, x.nan = e.And(x.inf, e.Not(gated)), e.And(x.nan, e.Not(gated))
	x.mag, x.null = e.Ite(gated, e.Int(0), x.mag), e.Or(x.null, gated)
	return x
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
		over: e.Int(0),
		low:  x.low + y.low,
		high: x.high + y.high,
	}
}

// scaled multiplies a term by the scales of a block, or by their rounded product. A sum that
// cancelled is zero but not null: it keeps its exponent. Infinity times zero is NaN.
func (e *encoder) scaled(x number, block int) number {
	sa, sb := e.number(e.in.sa[block], e.in.sa[block].f), e.number(e.in.sb[block], e.in.sb[block].f)
	if e.ScaleRound == (mma.Round{}) {
		y := e.times(e.times(x, sa), sb)
		y.rel = e.scaledError(x.rel)
		return y
	}
	r := placed(e.ScaleRound, e.in.Formats.Scale)
	r.factor = true
	scale := e.roundTo(e.times(sa, sb), r)
	y := e.times(x, scale)
	y.nan = e.Or(y.nan, e.And(scale.inf, e.Eq(x.mag, e.Int(0)), e.Not(x.inf)))
	return y
}
