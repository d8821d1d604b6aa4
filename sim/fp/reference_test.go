package fp_test

import (
	"math"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

var overflows = []fp.Overflow{fp.OverInf, fp.OverIEEE, fp.OverMax}

// rounded is a magnitude that was rounded to a format as if it had no largest
// number.
type rounded struct {
	bits uint64 // code of the magnitude, unless beyond
	over bool   // beyond the largest finite number
}

// code adds the sign and applies the overflow rule.
func (r rounded) code(g *facts, neg bool, m fp.Mode, over fp.Overflow) uint64 {
	switch {
	case r.over:
		return overflowCode(g, neg, m, over)
	case neg && (r.bits != 0 || g.negZero):
		return r.bits | g.signBit()
	}
	return r.bits
}

// inward specifies for the directed modes whether a number of that sign is rounded
// toward zero.
var inward = map[fp.Mode][2]bool{
	fp.RZ: {true, true}, fp.RTO: {true, true}, fp.RD: {true, false}, fp.RU: {false, true},
}

func overflowCode(g *facts, neg bool, m fp.Mode, over fp.Overflow) uint64 {
	neg = neg && g.sign == 1
	i := 0
	if neg {
		i = 1
	}
	if over == fp.OverMax || over == fp.OverIEEE && inward[m][i] {
		return g.maxCode | uint64(i)*g.signBit()
	}
	return g.over[i]
}

// bigModes are the modes that package big has.
var bigModes = map[fp.Mode]big.RoundingMode{
	fp.RNE: big.ToNearestEven, fp.RZ: big.ToZero, fp.RD: big.ToNegativeInf,
	fp.RU: big.ToPositiveInf, fp.RNA: big.ToNearestAway,
}

// reference rounds d to a format by package big. An unsigned format rounds the
// magnitude.
func reference(g *facts, d fp.Dyadic, m fp.Mode) rounded {
	if d.Hi|d.Lo == 0 {
		return rounded{}
	}
	d.Neg = d.Neg && g.sign == 1
	x := bigFloat(d)
	if m != fp.RTO {
		return g.lookUp(g.roundBig(x, bigModes[m]))
	}
	// To odd: the neighbour toward zero if it is the number itself or odd,
	// else the other one. All E8M0 numbers are odd: their one digit is a 1.
	in := g.roundBig(x, big.ToZero)
	r := g.lookUp(in)
	if r.over || g.frac == 0 || in.Cmp(x) == 0 || r.bits>>g.low&1 == 1 {
		return r
	}
	return g.lookUp(g.roundBig(x, big.AwayFromZero))
}

func bigFloat(d fp.Dyadic) *big.Float {
	i := new(big.Int).SetUint64(d.Hi)
	i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(d.Lo))
	x := new(big.Float).SetPrec(128).SetInt(i)
	x.SetMantExp(x, int(d.Q))
	if d.Neg {
		x.Neg(x)
	}
	return x
}

// roundBig rounds x to the precision that the format has at x. Package big
// knows no subnormals: they are moved into the binade of the smallest normal
// number, where a unit is as large as theirs, are rounded there and moved back.
// That keeps which units are even, the binade beginning at an even one.
func (g *facts) roundBig(x *big.Float, mode big.RoundingMode) *big.Float {
	e := x.MantExp(nil) - 1
	if e >= g.emin || g.frac == 0 {
		return rounding(x, g.frac+1, mode)
	}
	sign := float64(x.Sign())
	if tiny := g.emin - g.frac - 4; e < tiny {
		// Nothing rounds differently below a quarter of a unit, and so sums
		// stay short.
		x = scaled(sign, tiny)
	}
	base := scaled(sign, g.emin)
	sum := new(big.Float).SetPrec(256).Add(x, base)
	if sum.Acc() != big.Exact {
		panic("the reference is not exact")
	}
	sum = rounding(sum, g.frac+1, mode)
	return sum.Sub(sum, base)
}

func rounding(x *big.Float, prec int, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetMode(mode).SetPrec(uint(prec)).Set(x)
}

// scaled is v times 2^e.
func scaled(v float64, e int) *big.Float {
	x := big.NewFloat(v)
	return x.SetMantExp(x, e)
}

// lookUp returns the code of the magnitude of x, which the format can
// represent or which is too large.
func (g *facts) lookUp(x *big.Float) rounded {
	x = new(big.Float).Abs(x)
	switch {
	case x.Cmp(big.NewFloat(g.most)) > 0:
		return rounded{over: true}
	case g.frac == 0 && x.Cmp(big.NewFloat(g.minSub)) < 0:
		return rounded{} // no zero: the smallest number stands in
	}
	v, acc := x.Float64()
	switch {
	case acc != big.Exact:
		panic("the reference did not round")
	case g.small():
		code, ok := g.codes()[v]
		if !ok {
			panic("the reference did not round")
		}
		return rounded{bits: code}
	case g.id == fp.FP64:
		return rounded{bits: math.Float64bits(v)}
	}
	return rounded{bits: uint64(math.Float32bits(float32(v)))}
}

// dyadicOf returns v + eps*2^-more*|unit|, unit being v's lowest bit, with a
// significand of up to 53+more bits, more <= 70. It is v itself for eps == 0.
func dyadicOf(v float64, eps int, more int) fp.Dyadic {
	frac, exp := math.Frexp(math.Abs(v))
	d := fp.Dyadic{Lo: uint64(frac * 0x1p53), Q: int32(exp) - 53, Neg: math.Signbit(v)}
	return nudge(d, eps, more)
}

// nudge appends more zero bits to the significand of d and adds eps to it.
func nudge(d fp.Dyadic, eps, more int) fp.Dyadic {
	i := new(big.Int).SetUint64(d.Hi)
	i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(d.Lo))
	i.Lsh(i, uint(more)).Add(i, big.NewInt(int64(eps)))
	lo := new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64))
	return fp.Dyadic{Hi: i.Rsh(i, 64).Uint64(), Lo: lo.Uint64(), Q: d.Q - int32(more), Neg: d.Neg}
}
