package oracle

import (
	"fmt"
	"math"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Exact is the exact value of a dot product: the sum of a*b, with their scales,
// and c.
type Exact struct {
	Kind Kind
	Neg  bool     // the sign, also of zeros and infinities
	Mant *big.Int // Finite: the value is Mant * 2^Exp, Mant is odd or 0
	Exp  int
	D    fp.ID // the format in which results are measured
}

// ExactDot returns the exact value of a dot product. Infinities and NaNs are as
// in IEEE 754: Inf*0 and Inf-Inf are NaN. A zero is -0 if all products and c
// are, else +0.
func ExactDot(f mma.Formats, d *mma.Dot) Exact {
	return newExact(exactSum(f, d), f.D)
}

// MagnitudeDot returns the exact value with the magnitudes of a, b and c: the sum of the
// magnitudes of all products and of c. NaNs stay NaNs.
func MagnitudeDot(f mma.Formats, d *mma.Dot) Exact {
	d = d.Clone()
	clearSigns(f.A, d.A)
	clearSigns(f.B, d.B)
	if f.C != fp.None {
		c := []uint64{d.C}
		clearSigns(f.C, c)
		d.C = c[0]
	}
	return ExactDot(f, d)
}

func clearSigns(id fp.ID, codes []uint64) {
	f := id.Get()
	for i, code := range codes {
		if f.Decode(code).Class != fp.NaN {
			codes[i] = code &^ f.SignBit()
		}
	}
}

// exactSum is the value of ExactDot.
func exactSum(f mma.Formats, d *mma.Dot) term {
	e := newEvaluator(&exactly, f, len(d.A))
	e.dot = d
	terms := e.products(0)
	if f.C != fp.None {
		terms = append(append(e.space(len(terms)+1), terms...), decode(f.C, d.C))
	}
	return e.fused(terms, nil, &exactJoin, &mma.Round{})
}

// exactly is a program without any rounding, for use in evaluator.
var exactly = mma.Params{Special: mma.Special{NaN: mma.NaNQuiet, NegZero: true, TinySign: true}}

// newExact returns t with an odd Mant, so that equal values have equal fields.
func newExact(t term, d fp.ID) Exact {
	x := Exact{Kind: t.kind, Neg: t.neg && t.kind != NotANumber, D: d}
	if t.kind != Finite {
		return x
	}
	x.Mant = new(big.Int)
	if !t.isZero() {
		m := t.m.toBig()
		n := m.TrailingZeroBits()
		x.Mant.Rsh(m, n)
		x.Exp = t.q + int(n)
	}
	return x
}

// term is the inverse of newExact.
func (x Exact) term() term {
	t := term{kind: x.Kind, neg: x.Neg, q: x.Exp}
	if x.Mant != nil {
		t.m = fromBig(x.Mant)
	}
	return t
}

// Code returns the value rounded once, to nearest even, to D's format. Values
// from the middle between the largest number and the next power of two on are
// infinities; a NaN is positive and quiet.
func (x Exact) Code() uint64 { return nearest(x.term(), x.D) }

// nearest is Exact.Code.
func nearest(t term, d fp.ID) uint64 {
	e := evaluator{Params: &exactly, f: mma.Formats{D: d}}
	to := mma.To(d, fp.RNE)
	e.round(&t, &to)
	return encode(t, d, mma.Special{NaN: mma.NaNQuiet})
}

// Ulps returns the error of a result, code - value, in units in the last place.
// The unit is that of the value's binade in D's format, as if exponents had no
// upper end; values below the least normal number, and zero, have its unit.
//
// If one of code and value is an infinity, so is the error, with its sign in the
// difference; also where the value is finite and only Code is infinite. If both are
// the same infinity, or both are NaN, the error is 0. If only one is NaN, it is NaN. A
// quotient beyond float64 is an infinity. Flags are at no distance from it: NaN.
func (x Exact) Ulps(code uint64) float64 {
	v, t := decode(x.D, code), x.term()
	switch {
	case x.D.Flags() != 0:
		return math.NaN()
	case v.kind == NotANumber && t.kind == NotANumber:
		return 0
	case v.kind == NotANumber || t.kind == NotANumber:
		return math.NaN()
	case v.kind == Infinite && t.kind == Infinite && v.neg == t.neg:
		return 0
	case v.kind == Infinite:
		return infinity(v.neg)
	case t.kind == Infinite:
		return infinity(!t.neg)
	}
	diff := total([]term{v, negated(t)})
	return float(diff.m.toBig(), diff.q-x.ulp())
}

// ulp is the exponent of the unit of Ulps.
func (x Exact) ulp() int {
	f := x.D.Get()
	e := int(f.Emin())
	if t := x.term(); !t.isZero() {
		e = max(e, t.log2())
	}
	return e - int(f.FracBits)
}

// Neighbours returns the codes of the two numbers of D between which the value lies, the one nearer
// zero first, and how far from this it is in steps between the two. Beyond the largest number the
// next one is an infinity, or a NaN if D has none. between is false if there are no two: the value
// is a number of D, beyond the next one, an infinity or a NaN.
func (x Exact) Neighbours() (near, far uint64, fraction float64, between bool) {
	if x.Kind != Finite || x.Mant.Sign() == 0 || x.D.Integer() {
		return 0, 0, 0, false
	}
	unit := x.ulp()
	lost := unit - x.Exp
	if lost <= 0 {
		return 0, 0, 0, false
	}
	steps := new(big.Int).Quo(x.Mant, new(big.Int).Lsh(big.NewInt(1), uint(lost))) // toward zero
	rest := new(big.Int).Sub(x.Mant, new(big.Int).Lsh(steps, uint(lost)))
	next := new(big.Int).Add(steps, big.NewInt(int64(x.Mant.Sign())))
	low, high := Exact{Finite, x.Neg, steps, unit, x.D}, Exact{Finite, x.Neg, next, unit, x.D}
	near, far = low.Code(), high.Code()
	if near == far {
		return 0, 0, 0, false
	}
	return near, far, math.Abs(float(rest, -lost)), true
}

func negated(t term) term {
	t.m = t.m.neg()
	return t
}

func infinity(neg bool) float64 {
	if neg {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// float is the float64 nearest to m * 2^q.
func float(m *big.Int, q int) float64 {
	v, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(m), q).Float64()
	return v
}

// String writes the value as C's %a does, with as many digits as it has:
// 0x1.8p+1 is 3.
func (x Exact) String() string {
	sign := ""
	if x.Neg {
		sign = "-"
	}
	switch {
	case x.Kind == NotANumber:
		return "nan"
	case x.Kind == Infinite:
		return sign + "inf"
	case x.Mant.Sign() == 0:
		return sign + "0x0p+0"
	}
	bits := x.Mant.BitLen() - 1 // below the leading one
	digits := (bits + 3) / 4
	m := new(big.Int).Abs(x.Mant)
	hex := m.Lsh(m, uint(4*digits-bits)).Text(16) // 1 and the digits
	point := ""
	if digits > 0 {
		point = "."
	}
	return fmt.Sprintf("%s0x1%s%sp%+d", sign, point, hex[1:], x.Exp+bits)
}

// Decimal writes the value with at most 17 significant decimal digits, as C's
// %.17g does.
func (x Exact) Decimal() string {
	if x.Kind != Finite {
		return x.String()
	}
	v := new(big.Float).SetMantExp(new(big.Float).SetInt(x.Mant), x.Exp)
	if x.Neg && x.Mant.Sign() == 0 {
		v.Neg(v)
	}
	return v.Text('g', 17)
}
