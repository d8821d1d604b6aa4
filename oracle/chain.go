package oracle

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The chains in this file are what a processor does with a dot product: an
// accumulator that starts as c (+0 without one), and an operation for each
// product in turn. They use the machine's own floating point, which shares
// nothing with Eval. Operands are widened exactly and multiplied exactly by
// their scales; D is rounded to nearest even at the end, from the chain's
// format. NaN results are positive and quiet.
//
// The language lets a compiler fuse x*y + z. Every product here is explicitly
// converted, which forbids it.

// fma32 is a chain of FP32 fused multiply-adds, with reverse from the last
// element to the first.
func fma32(f mma.Formats, d *mma.Dot, reverse bool) uint64 {
	v := newOperands(f, d)
	acc := float32(v.c())
	for i := range d.A {
		x, y := v.pair(i, reverse)
		acc = addOnce(float64(x*y), acc)
	}
	return natives()[f.D].write(float64(acc))
}

// mulAdd32 is a chain of FP32 multiplications and additions, each rounded.
func mulAdd32(f mma.Formats, d *mma.Dot, reverse bool) uint64 {
	v := newOperands(f, d)
	acc := float32(v.c())
	for i := range d.A {
		x, y := v.pair(i, reverse)
		acc += float32(float64(x * y))
	}
	return natives()[f.D].write(float64(acc))
}

// fma64 is a chain of FP64 fused multiply-adds.
func fma64(f mma.Formats, d *mma.Dot, reverse bool) uint64 {
	v := newOperands(f, d)
	acc := v.c()
	for i := range d.A {
		x, y := v.pair(i, reverse)
		acc = math.FMA(x, y, acc)
	}
	return natives()[f.D].write(acc)
}

// mulAdd64 is a chain of FP64 multiplications and additions, each rounded.
func mulAdd64(f mma.Formats, d *mma.Dot, reverse bool) uint64 {
	v := newOperands(f, d)
	acc := v.c()
	for i := range d.A {
		x, y := v.pair(i, reverse)
		acc += float64(x * y)
	}
	return natives()[f.D].write(acc)
}

// mulAlone is a chain of multiplications and additions in D's format that begins with the first
// product, so that a product of -0 alone stays -0. FP64 has more than twice the bits of any
// narrower D, which makes rounding its sums once more harmless.
func mulAlone(f mma.Formats, d *mma.Dot) uint64 {
	v, n := newOperands(f, d), &natives()[f.D]
	round := func(x float64) float64 { return n.read(n.write(x)) }
	acc := 0.0
	for i := range d.A {
		x, y := v.pair(i, false)
		if p := round(x * y); i == 0 {
			acc = p
		} else {
			acc = round(acc + p)
		}
	}
	return n.write(acc)
}

// addOnce returns the FP32 number nearest to p + acc, which is rounded only
// once: the float64 sum is corrected to round-to-odd, from which rounding to 24
// bits is the same as from the exact sum (Boldo and Melquiond, IEEE TC 57(4),
// 2008). Knuth's TwoSum gives the error of the sum exactly. |p| is less than
// 2^1000, so that nothing overflows.
func addOnce(p float64, acc float32) float32 {
	a := float64(acc)
	s := p + a
	t := s - p
	err := (p - (s - t)) + (a - t)
	if bits := math.Float64bits(s); bits&1 == 0 && (err > 0 || err < 0) {
		if (err > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// operands reads a dot product as float64.
type operands struct {
	a, b, scale *native
	f           mma.Formats
	d           *mma.Dot
}

func newOperands(f mma.Formats, d *mma.Dot) operands {
	return operands{a: &natives()[f.A], b: &natives()[f.B], scale: &natives()[f.Scale], f: f, d: d}
}

// c is C, or +0 if there is none; -0, which changes no number, in a conversion.
func (o *operands) c() float64 {
	switch {
	case o.f.Conversion():
		return math.Copysign(0, -1)
	case o.f.C == fp.None:
		return 0
	}
	return natives()[o.f.C].read(o.d.C)
}

// pair returns the scaled factors of product i, counted from the end with
// reverse. Scaling is exact for the formats that the references support.
func (o *operands) pair(i int, reverse bool) (x, y float64) {
	if reverse {
		i = len(o.d.A) - 1 - i
	}
	x, y = o.a.read(o.d.A[i]), o.b.read(o.d.B[i])
	if o.f.Scale != fp.None {
		block := i / int(o.f.Block)
		x *= o.scale.read(o.d.SA[block])
		y *= o.scale.read(o.d.SB[block])
	}
	x = math.Ldexp(x, -int(o.f.Down))
	return x, y
}
