package defect

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// planted is a unit of which one part is broken. It computes what a model of target does, but for
// the defect, which is written in the numbers of Go.
type planted struct {
	name   string
	target string // ARCH/INSTRUCTION
	dot    func(u *unit) uint64
}

// unit is one dot product that a broken unit is asked for.
type unit struct {
	*mma.Dot
	f mma.Formats
	m *sim.Model
}

func (u *unit) right() uint64     { return u.m.Dot(u.Dot, nil) }
func (u *unit) a(i int) float64   { return u.f.A.Get().Float64(u.A[i]) }
func (u *unit) b(i int) float64   { return u.f.B.Get().Float64(u.B[i]) }
func (u *unit) p(i int) float64   { return u.a(i) * u.b(i) }
func (u *unit) c() float64        { return u.f.C.Get().Float64(u.C) }
func (u *unit) value() float64    { return u.f.D.Get().Float64(u.right()) }
func (u *unit) with() *unit       { return &unit{u.Clone(), u.f, u.m} }
func (u *unit) minus(i int) bool  { return (u.A[i]^u.B[i])&0x8000 != 0 } // of formats of 16 bits
func (u *unit) drop(i int) uint64 { w := u.with(); w.A[i], w.B[i] = 0, 0; return w.right() }

// changed is the result with other products.
func (u *unit) changed(product func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32)) uint64 {
	return u.m.DotChanged(u.Dot, sim.Change{Product: product})
}

// aligned is the result where the terms of sums are aligned by other numbers of places.
func (u *unit) aligned(places func(n int32) int32) uint64 {
	return u.m.DotChanged(u.Dot, sim.Change{Shift: func(_ bool, n, _ int32) int32 { return places(n) }})
}

// asNumbers is the result where codes of operands of the unit, with these bits, are numbers of the
// largest exponent: twice those of the exponent below, in formats of so many bits of fraction.
func (u *unit) asNumbers(codes []uint64, special uint64, frac uint) uint64 {
	twice := map[int]bool{}
	for i, c := range codes {
		if c&special == special {
			codes[i] -= 1 << frac
			twice[i] = true
		}
	}
	return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		if twice[k] {
			p.Q, e = p.Q+1, e+1
		}
		return p, e
	})
}

// broken is the result with a broken wire.
func (u *unit) broken(f sim.Fault) uint64 {
	out := make([]byte, u.f.D.Width())
	u.m.RunFaulty(mma.BatchOf(u.f, len(u.A), []*mma.Dot{u.Dot}), out, &f)
	return mma.Load(out, u.f.D.Width(), 0)
}
func isNumber(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// sum is the sum in double precision, which is exact enough to see what cancels.
func (u *unit) sum() float64 {
	s := u.c()
	for i := range u.A {
		s += u.p(i)
	}
	return s
}

// exact is the magnitude of the sum; nil: it is no number.
func (u *unit) exact() *big.Float {
	if !isNumber(u.sum()) {
		return nil
	}
	s := new(big.Float).SetPrec(512).SetFloat64(u.c())
	for i := range u.A {
		s.Add(s, new(big.Float).SetFloat64(u.p(i)))
	}
	return s.Abs(s)
}

// steps is the result of a chain of FP32 of which each step is given by a product, the sum so far, and the
// right result.
func (u *unit) steps(next func(p, s float64, right func() uint64) uint64) uint64 {
	d := u.C
	for i := range u.A {
		d = next(u.p(i), float64(math.Float32frombits(uint32(d))), func() uint64 {
			step := u.with()
			for k := range step.A {
				step.A[k], step.B[k] = 0, 0x80000000
			}
			step.A[0], step.B[0], step.C = u.A[i], u.B[i], d
			return step.right()
		})
	}
	return d
}

// exponent is that of a number's leading bit.
func exponent(x float64) int { _, e := math.Frexp(x); return e - 1 }

const (
	hopperHalf   = "hopper/mma.m16n8k16.f32.f16.f16.f32"
	ampereHalf   = "ampere/mma.m16n8k8.f32.f16.f16.f32"
	hopperBrain  = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
	hopperEight  = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
	cdnaHalf     = "cdna3/v_mfma_f32_32x32x8_f16"
	cdnaSingle   = "cdna3/v_mfma_f32_32x32x2_f32"
	cdnaDouble   = "cdna3/v_mfma_f64_16x16x4_f64"
	exactHalf    = "exact/fp16"   // four products and c, added exactly and rounded once
	roundedBrain = "aligned/bf16" // eight products and c, of which 28 bits are kept, and rounded once
	halfSums     = "hopper/mma.m16n8k16.f16.f16.f16.f16"
)

// units are defects of eight kinds: of the result's bits, of lanes, of operands, of rounding, of
// exponents, of zeros, subnormals and infinities, of limits, and of several conditions together.
var units = []planted{
	// The result.
	{"stuck", hopperHalf, func(u *unit) uint64 { return u.right() | 1<<12 }},
	{"stuck-if-negative", ampereHalf, func(u *unit) uint64 {
		if u.value() < 0 {
			return u.right() &^ (1 << 12)
		}
		return u.right()
	}},
	{"half-word", cdnaDouble, func(u *unit) uint64 { // the carry from the low word to the high one
		if d := u.right(); d&0x80000000 != 0 && d<<1>>33 != 0 && isNumber(u.value()) {
			return d - 1<<32
		}
		return u.right()
	}},
	{"power-of-two", cdnaHalf, func(u *unit) uint64 {
		if d := u.right(); d&0x7fffff == 0 && isNumber(u.value()) && d&0x7fffffff != 0 {
			return d ^ 1
		}
		return u.right()
	}},
	// Lanes.
	{"neighbour", hopperHalf, func(u *unit) uint64 { u = u.with(); u.A[5] = u.A[4]; return u.right() }},
	{"positive-product", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		if u.minus(11) {
			u.A[11] ^= 0x8000
		}
		return u.right()
	}},
	{"swapped", ampereHalf, func(u *unit) uint64 { u = u.with(); u.B[2], u.B[3] = u.B[3], u.B[2]; return u.right() }},
	{"last-lost", hopperEight, func(u *unit) uint64 { return u.drop(len(u.A) - 1) }},
	{"odd-lanes-halved", cdnaHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if e := u.B[i] >> 10 & 31; i%2 == 1 && u.B[i]&0x3ff == 0 && e > 1 && e < 31 {
				u.B[i] -= 1 << 10
			}
		}
		return u.right()
	}},
	{"odd-lanes-gated", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		for i := 1; i < len(u.A); i += 2 {
			if a, b := u.a(i), u.b(i); math.IsNaN(u.p(i)) && !math.IsNaN(a) && !math.IsNaN(b) {
				u.A[i], u.B[i] = 0, 0
			}
		}
		return u.right()
	}},
	// Operands.
	{"table", hopperEight, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i] == 0x7e {
				u.A[i] = 0x7d
			}
		}
		return u.right()
	}},
	{"high-lanes-table", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := 8; i < 16; i++ {
			if u.B[i]&0x3ff == 0x2aa {
				u.B[i]++
			}
		}
		return u.right()
	}},
	{"squares", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i] == u.B[i] && isNumber(u.a(i)) {
				u.A[i], u.B[i] = 0, 0
			}
		}
		return u.right()
	}},
	{"c-sign", hopperBrain, func(u *unit) uint64 {
		if u.C>>23&0xff == 0x85 {
			u = u.with()
			u.C ^= 1 << 31
		}
		return u.right()
	}},
	// Rounding.
	{"lost-carry", cdnaDouble, func(u *unit) uint64 {
		// The sum of four products has more bits than a result: it is rounded. Where it is just
		// below a power of two, the exponent stays.
		d := u.right()
		if isNumber(u.value()) && d&(1<<52-1) == 0 && d<<1 != 0 && u.below() {
			return d - 1<<52
		}
		return d
	}},
	{"ties-up", halfSums, func(u *unit) uint64 {
		var tr sim.Trace
		d := u.m.Dot(u.Dot, &tr)
		s := &tr.Last().Sum
		if s.Kind != sim.Finite || s.Value.IsZero() || d&0x7c00 == 0x7c00 {
			return d
		}
		if q := max(s.Value.Exponent(), -14) - 10; s.Value.Low() == q-1 { // away from zero
			return u.f.D.Get().Encode(s.Value, fp.RNA, fp.OverInf)
		}
		return d
	}},
	// Exponents.
	{"far-c", hopperHalf, func(u *unit) uint64 {
		e, some := -1000, false
		for i := range u.A {
			if u.p(i) != 0 {
				e, some = max(e, nominal(u.A[i], 10, 15)+nominal(u.B[i], 10, 15)), true
			}
		}
		if some && u.c() != 0 && isNumber(u.sum()) && int(u.C>>23&0xff)-127 >= e+20 {
			u = u.with()
			u.C = 0
		}
		return u.right()
	}},
	{"shift-of-twelve", cdnaSingle, func(u *unit) uint64 {
		if x := u.p(0); isNumber(u.sum()) && x != 0 && u.c() != 0 && exponent(u.c())-exponent(x) == 12 {
			return u.right() ^ 1
		}
		return u.right()
	}},
	{"large-exponent", cdnaHalf, func(u *unit) uint64 {
		if x := u.value(); isNumber(x) && x != 0 && exponent(x) == 9 {
			return u.right() ^ 0x80000000
		}
		return u.right()
	}},
	{"odd-exponent", hopperBrain, func(u *unit) uint64 {
		if d := u.right(); d>>23&1 == 1 && d>>23&0xff != 0xff {
			return d &^ 0xf
		}
		return u.right()
	}},
	// Zeros, subnormals, infinities.
	{"two-subnormals", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]>>10&31 == 0 && u.B[i]>>10&31 == 0 {
				u.A[i], u.B[i] = 0, 0
			}
		}
		return u.right()
	}},
	{"negative-subnormal-result", cdnaSingle, func(u *unit) uint64 {
		if d := u.right(); d>>31 == 1 && d>>23&0xff == 0 {
			return 1 << 31
		}
		return u.right()
	}},
	{"infinite-c", cdnaHalf, func(u *unit) uint64 {
		if math.IsInf(u.c(), 0) {
			return 0x7fc00000
		}
		return u.right()
	}},
	{"cancelled-zero", cdnaHalf, func(u *unit) uint64 {
		if u.right()<<33 == 0 && u.c() < 0 {
			return 1 << 31
		}
		return u.right()
	}},
	// Limits and adders.
	{"clamp", hopperBrain, func(u *unit) uint64 {
		if x := u.value(); math.Abs(x) > 0x1p100 && isNumber(x) {
			return u.right()&(1<<31) | (127+100)<<23
		}
		return u.right()
	}},
	{"three-negative", ampereHalf, func(u *unit) uint64 {
		n := 0
		for i := range u.A {
			if u.p(i) < 0 {
				n++
			}
		}
		if x := u.value(); n >= 3 && isNumber(x) && math.Abs(x) > 0x1p-100 {
			return u.right() + 1
		}
		return u.right()
	}},
	{"long-cancellation", cdnaHalf, func(u *unit) uint64 {
		e := -1000
		if u.c() != 0 {
			e = exponent(u.c())
		}
		for i := range u.A {
			if u.p(i) != 0 {
				e = max(e, exponent(u.p(i)))
			}
		}
		if x := u.value(); isNumber(u.sum()) && x != 0 && e-exponent(x) >= 3 {
			return u.right() &^ 0xff
		}
		return u.right()
	}},
	// Several conditions.
	{"lane-and-sign", hopperHalf, func(u *unit) uint64 {
		if u.b(3) < 0 && u.C>>31 == 1 {
			u = u.with()
			u.A[3] ^= 1 << 15
		}
		return u.right()
	}},
	{"first-zero", cdnaSingle, func(u *unit) uint64 {
		if u.p(0) == 0 {
			u = u.with()
			u.A[1] ^= 1 << 31
		}
		return u.right()
	}},
	{"all-ones", ampereHalf, func(u *unit) uint64 {
		if u.A[0]&0x3ff == 0x3ff && u.B[0]&0x3ff == 0x3ff {
			return u.drop(0)
		}
		return u.right()
	}},
	{"rare-pair", cdnaHalf, func(u *unit) uint64 {
		if u.A[0]&0xf == 0x5 && u.B[0]&0xf == 0xa {
			return u.right() ^ 1
		}
		return u.right()
	}},
	// What no rule says: the result of a hash.
	{"hash", hopperHalf, func(u *unit) uint64 {
		x := u.C * 0x9e3779b97f4a7c15
		for i := range u.A {
			x = (x ^ u.A[i] ^ u.B[i]<<17) * 0xbf58476d1ce4e5b9
		}
		if bits.LeadingZeros64(x) >= 3 {
			return u.right() ^ 1
		}
		return u.right()
	}},
	// What few of the others are about.
	{"halved-subnormal", cdnaSingle, func(u *unit) uint64 {
		d := u.right()
		if d&0x7f800000 == 0 {
			return d&0x80000000 | d&0x7fffff>>1
		}
		return d
	}},
	{"away-from-zero", exactHalf, func(u *unit) uint64 { // subnormal results
		d, x := u.right(), u.exact()
		if x == nil || x.Sign() == 0 || x.Cmp(big.NewFloat(0x1p-14)) >= 0 {
			return d
		}
		n, acc := x.Mul(x, big.NewFloat(0x1p24)).Int64()
		return d&0x8000 | uint64(n) + uint64(truth(acc != big.Exact))
	}},
	{"no-minus", ampereHalf, func(u *unit) uint64 {
		for i := range u.A {
			if u.minus(i) {
				return u.right()
			}
		}
		return u.right() &^ 3
	}},
	// Shifters, adders of exponents.
	{"leads-modulo", cdnaSingle, func(u *unit) uint64 { // an accumulator or a product far below the other
		return u.m.DotChanged(u.Dot, sim.Change{Shift: func(_ bool, places, lead int32) int32 { return places - lead/64*64 }})
	}},
	{"normalised-modulo", hopperHalf, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Sum: func(_ int, x fp.Dyadic, e int32) fp.Dyadic {
			if d := e + 1 - x.Exponent(); d >= 8 {
				x.Q -= d / 8 * 8
			}
			return x
		}})
	}},
	{"exponent-clipped", hopperEight, func(u *unit) uint64 {
		return u.changed(func(_ int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			for ; e > 13; e-- {
				p.Q--
			}
			return p, e
		})
	}},
	{"exponent-wraps", hopperBrain, func(u *unit) uint64 {
		return u.changed(func(_ int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if e > 127 {
				return fp.Dyadic{Neg: p.Neg, Hi: p.Hi, Lo: p.Lo, Q: p.Q - 256}, e - 256
			}
			return p, e
		})
	}},
	// Steps of a chain.
	{"carry-breaks", cdnaSingle, func(u *unit) uint64 { // its significands of 24 bits, beyond bit 11
		return u.m.DotChanged(u.Dot, sim.Change{Sum: func(_ int, x fp.Dyadic, _ int32) fp.Dyadic {
			q := max(x.Exponent(), -126) - 23
			if low := x.Round(q, fp.RZ); low.Q == q && low.Lo&0xfff == 0xfff && x.Round(q, fp.RNE).Lo != low.Lo {
				low.Lo &^= 0xfff
				return low
			}
			return x
		}})
	}},
	{"far-product", cdnaSingle, func(u *unit) uint64 { // below the accumulator, by leading bits
		s := float32(u.c())
		for i := range u.A {
			if p := u.p(i); p == 0 || s == 0 || !isNumber(p+float64(s)) || exponent(float64(s))-exponent(p) < 24 {
				step := u.with()
				for k := range step.A {
					step.A[k], step.B[k] = 0, 0x80000000
				}
				step.A[0], step.B[0], step.C = u.A[i], u.B[i], uint64(math.Float32bits(s))
				s = math.Float32frombits(uint32(step.right()))
			}
		}
		return uint64(math.Float32bits(s))
	}},
	{"lost-24-below", cdnaSingle, func(u *unit) uint64 { // the sum that the product is added to, as the one before left it
		return u.steps(func(p, s float64, right func() uint64) uint64 {
			if p != 0 && s != 0 && isNumber(p+s) && exponent(s)-exponent(p) == 24 {
				return uint64(math.Float32bits(float32(s)))
			}
			return right()
		})
	}},
	{"carry-of-each-sum", cdnaSingle, func(u *unit) uint64 {
		return u.steps(func(p, s float64, right func() uint64) uint64 {
			d := right()
			if d&0x7fffff != 0 || d&0x7fffffff <= 1<<23 || !isNumber(p+s) {
				return d
			}
			x := new(big.Float).SetPrec(512).SetFloat64(p)
			if x.Add(x, new(big.Float).SetPrec(512).SetFloat64(s)); x.MantExp(nil)-1 < int(d>>23&255)-127 {
				return d - 1<<23
			}
			return d
		})
	}},
	{"zero-of-accumulator", cdnaSingle, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Zero: func(_ int, minus, accMinus, cancels bool) bool {
			if !cancels {
				return minus
			}
			return accMinus
		}})
	}},
	{"zero-below-zero", cdnaDouble, func(u *unit) uint64 { // a test of the result of each step
		s := u.c()
		for i := range u.A {
			d := math.FMA(u.a(i), u.b(i), s)
			if d == 0 && s < 0 {
				d = math.Copysign(0, -1)
			}
			s = d
		}
		if math.IsNaN(s) {
			return u.right()
		}
		return math.Float64bits(s)
	}},
	{"small-product-lost", exactHalf, func(u *unit) uint64 { // by the sum of the exponent fields
		return u.changed(func(_ int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if e < -20 {
				return fp.Dyadic{}, e
			}
			return p, e
		})
	}},
	{"end-around-carry", cdnaDouble, func(u *unit) uint64 { // added twice to an exact difference
		s := u.c()
		for i := range u.A {
			a, b := u.a(i), u.b(i)
			d := math.FMA(a, b, s)
			if isNumber(d) && d != 0 && a*b != 0 && s != 0 && math.Signbit(a) != math.Signbit(b) == (s > 0) && math.Signbit(d) == math.Signbit(s) {
				x := new(big.Float).SetPrec(5000).SetFloat64(a)
				x.Mul(x, new(big.Float).SetPrec(5000).SetFloat64(b))
				if x.Add(x, new(big.Float).SetPrec(5000).SetFloat64(s)); x.Cmp(new(big.Float).SetFloat64(d)) == 0 {
					d = math.Float64frombits(math.Float64bits(d) + 1)
				}
			}
			s = d
		}
		if math.IsNaN(s) {
			return u.right()
		}
		return math.Float64bits(s)
	}},
	{"near-path", cdnaSingle, func(u *unit) uint64 { // without a bit for what is shifted out
		return u.m.DotChanged(u.Dot, sim.Change{Terms: func(_ int, x, y fp.Dyadic, ex, ey, e int32) (fp.Dyadic, fp.Dyadic) {
			if x.Neg != y.Neg && max(ex-ey, ey-ex) < 2 {
				x, y = x.Round(e-23, fp.RZ), y.Round(e-23, fp.RZ)
			}
			return x, y
		}})
	}},
	{"saturated-lane", hopperBrain, func(u *unit) uint64 {
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if most := fp.FP32.Get(); k == 3 && p.Exponent() > 127 {
				x := most.Dyadic(most.Decode(most.MaxFinite()))
				x.Neg = p.Neg
				return x, 127
			}
			return p, e
		})
	}},
	{"unseen-lane", hopperHalf, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Unseen: func(_, term int) bool { return term == 7 }})
	}},
	{"hidden-bit", hopperHalf, func(u *unit) uint64 { // the distance by which the sum is normalised has three bits
		return u.m.DotChanged(u.Dot, sim.Change{Sum: func(_ int, x fp.Dyadic, e int32) fp.Dyadic {
			d := e - x.Exponent()
			if d < 8 || d > 60 || e-d%8 < -126 { // of a subnormal nothing is hidden
				return x
			}
			if x.Q > e-60 {
				x = x.Shl(x.Q - (e - 60))
			}
			x.Lo |= 1 << (e - d%8 - x.Q)
			return x
		}})
	}},
	{"skipped-stage", ampereHalf, func(u *unit) uint64 { // of 8 places, where that of 16 shifts
		return u.aligned(func(n int32) int32 {
			if n&16 != 0 {
				return n &^ 8
			}
			return n
		})
	}},
	{"exponent-in-eight-bits", hopperBrain, func(u *unit) uint64 {
		return u.changed(func(_ int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			n := int32(uint8(e+127)) - 127
			p.Q += n - e
			return p, n
		})
	}},
	{"copied-bit", cdnaSingle, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			u.A[i] = u.A[i]&^(1<<13) | u.A[i]<<1&(1<<13)
		}
		return u.right()
	}},
	{"zero-times-infinity", hopperHalf, func(u *unit) uint64 { // of b
		u = u.with()
		for i := range u.A {
			if u.a(i) == 0 && math.IsInf(u.b(i), 0) {
				u.A[i] |= 0x3c00
			}
		}
		return u.right()
	}},
	{"comparator-of-five-bits", ampereHalf, func(u *unit) uint64 { // of exponents with the bias of FP32
		most, low := -1, make([]int, len(u.A)+1)
		for i := range u.A {
			low[i] = -1
			if x := u.p(i); x != 0 && isNumber(x) {
				low[i] = (nominal(u.A[i], 10, 15) + nominal(u.B[i], 10, 15) + 127) & 31
			}
		}
		if low[len(u.A)] = -1; u.c() != 0 && isNumber(u.c()) {
			low[len(u.A)] = (nominal(u.C, 23, 127) + 127) & 31
		}
		for _, n := range low {
			most = max(most, n)
		}
		return u.m.DotChanged(u.Dot, sim.Change{Unseen: func(_, term int) bool { return low[term] < most }})
	}},
	{"lane-in-ones-complement", ampereHalf, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(_, term int, x fp.Dyadic, e int32) fp.Dyadic {
			if term == 2 && x.Neg {
				if x = x.Round(e-24, fp.RZ); x.IsZero() {
					return fp.Dyadic{Neg: true, Lo: 1, Q: e - 24}
				}
				x = x.Shl(x.Q - (e - 24))
				x.Lo++
			}
			return x
		}})
	}},
	{"short-sticky", exactHalf, func(u *unit) uint64 { // over the six bits below the last place
		return u.m.DotChanged(u.Dot, sim.Change{Sum: func(_ int, x fp.Dyadic, _ int32) fp.Dyadic {
			if y := x.Round(max(x.Exponent(), -14)-10-6, fp.RZ); !y.IsZero() {
				return y
			}
			return x
		}})
	}},
	// Multipliers.
	{"booth-digit", hopperHalf, func(u *unit) uint64 { // minus two in the second digit is minus one
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			a, b := u.A[k]&0x3ff, u.B[k]&0x3ff
			if u.A[k]&0x7c00 != 0 {
				a |= 0x400
			}
			if b>>1&7 == 4 {
				p.Lo += a << 2
			}
			return p, e
		})
	}},
	{"exponents-carry", ampereHalf, func(u *unit) uint64 { // from the low three bits of their sum
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if k == 2 && u.A[k]>>10&7+u.B[k]>>10&7 > 7 {
				p.Q, e = p.Q-8, e-8
			}
			return p, e
		})
	}},
	{"square-lane", hopperHalf, func(u *unit) uint64 { u = u.with(); u.B[5] = u.A[5]; return u.right() }},
	{"crossed-bits", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		u.B[5] = u.B[5]&^0x18 | u.B[5]&8<<1 | u.B[5]&16>>1
		return u.right()
	}},
	{"sign-of-neighbour", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		u.A[1] = u.A[1]&0x7fff | u.A[0]&0x8000
		return u.right()
	}},
	{"exponent-of-neighbour", hopperBrain, func(u *unit) uint64 {
		u = u.with()
		u.B[3] = u.B[3]&0x807f | u.B[2]&0x7f80
		return u.right()
	}},
	{"decoded-exponent-of-neighbour", ampereHalf, func(u *unit) uint64 { // of numbers
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if k == 3 && isNumber(u.p(2)) {
				n := int32(nominal(u.A[2], 10, 15) - nominal(u.A[3], 10, 15))
				p.Q, e = p.Q+n, e+n
			}
			return p, e
		})
	}},
	{"wide-product-of-like-exponents", ampereHalf, func(u *unit) uint64 {
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if nominal(u.A[k], 10, 15) == nominal(u.B[k], 10, 15) && p.Lo>>21 != 0 {
				p.Lo &^= 1
			}
			return p, e
		})
	}},
	{"square-in-low-lanes", ampereHalf, func(u *unit) uint64 { // one too small
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if k < 4 && u.A[k]&0x3ff == u.B[k]&0x3ff && (u.A[k]&0x7c00 != 0) == (u.B[k]&0x7c00 != 0) {
				p.Lo--
			}
			return p, e
		})
	}},
	{"zero-times-nan", hopperHalf, func(u *unit) uint64 { // in one lane
		u = u.with()
		if x, y := u.a(4), u.b(4); x == 0 && y != y || y == 0 && x != x {
			u.A[4], u.B[4] = 0, 0
		}
		return u.right()
	}},
	{"bypassed", cdnaHalf, func(u *unit) uint64 { // far below c by the exponent of the first product alone
		if x := u.p(0); x != 0 && isNumber(u.sum()) && u.c() != 0 && nominal(u.C, 23, 127)-nominal(u.A[0], 10, 15)-nominal(u.B[0], 10, 15) > 12 {
			return u.C
		}
		return u.right()
	}},
}

// nominal is the exponent of a number, that of a subnormal being the least of all.
func nominal(code uint64, frac, bias int) int {
	return max(int(code>>frac)&(2*bias+1), 1) - bias
}

// below reports whether the last sum is below the power of two that the result is.
func (u *unit) below() bool {
	x, ok := u.finiteSum()
	d := u.f.D.Get()
	return ok && x.Exponent() < d.Dyadic(d.Decode(u.right())).Exponent()
}

// finiteSum is the sum that is rounded, if it is finite and not zero.
func (u *unit) finiteSum() (x fp.Dyadic, ok bool) {
	var tr sim.Trace
	u.m.Dot(u.Dot, &tr)
	s := tr.Last().Sum
	return s.Value, s.Kind == sim.Finite && !s.Value.IsZero()
}
