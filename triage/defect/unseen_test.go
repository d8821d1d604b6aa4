package defect

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unseen are more units, of which a quarter has rare exceptions or two defects.
var unseen = []planted{
	// A lane, or a pair of lanes.
	{"lane-bit", ampereHalf, func(u *unit) uint64 { u = u.with(); u.A[6] &^= 1 << 3; return u.right() }},
	{"lane-positive", hopperHalf, func(u *unit) uint64 { u = u.with(); u.B[2] &^= 1 << 15; return u.right() }},
	{"shared-lane", hopperHalf, func(u *unit) uint64 { u = u.with(); u.B[9] = u.B[1]; return u.right() }},
	{"pair-of-lanes", ampereHalf, func(u *unit) uint64 {
		if u.p(1) < 0 && u.p(6) < 0 && isNumber(u.value()) {
			return u.right() ^ 1
		}
		return u.right()
	}},
	{"quads-reversed", hopperEight, func(u *unit) uint64 {
		u = u.with()
		for i := 0; i < len(u.A); i += 4 {
			u.A[i], u.A[i+1], u.A[i+2], u.A[i+3] = u.A[i+3], u.A[i+2], u.A[i+1], u.A[i]
		}
		return u.right()
	}},
	// An exponent, or a difference of exponents.
	{"c-exponent", cdnaHalf, func(u *unit) uint64 {
		if u.C>>23&0xff == 127+20 {
			return u.right() + 1
		}
		return u.right()
	}},
	{"large-product", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if x := u.p(i); isNumber(x) && math.Abs(x) >= 0x1p20 {
				u.A[i], u.B[i] = 0, 0
			}
		}
		return u.right()
	}},
	{"level-with-c", hopperBrain, func(u *unit) uint64 {
		e, some := -1000, false
		for i := range u.A {
			if x := u.p(i); x != 0 && isNumber(x) {
				e, some = max(e, nominal(u.A[i], 7, 127)+nominal(u.B[i], 7, 127)), true
			}
		}
		if some && u.c() != 0 && isNumber(u.sum()) && nominal(u.C, 23, 127) == e {
			return u.right() &^ 3
		}
		return u.right()
	}},
	{"apart-by-eight", cdnaHalf, func(u *unit) uint64 {
		if x, y := u.p(0), u.p(1); x != 0 && y != 0 && isNumber(u.sum()) && nominal(u.A[0], 10, 15)+nominal(u.B[0], 10, 15) >= nominal(u.A[1], 10, 15)+nominal(u.B[1], 10, 15)+8 {
			return u.drop(1)
		}
		return u.right()
	}},
	// Ones before rounding, and ties.
	{"carry-half", halfSums, func(u *unit) uint64 {
		if d := u.right(); d&0x3ff == 0 && d&0x7c00 > 0x400 && d&0x7c00 < 0x7c00 && u.below() {
			return d - 1<<10
		}
		return u.right()
	}},
	{"carry-single", cdnaSingle, func(u *unit) uint64 {
		if d := u.right(); d&0x7fffff == 0 && d>>23&0xff > 1 && d>>23&0xff < 255 && u.below() {
			return d - 1
		}
		return u.right()
	}},
	// Overflow.
	{"overflow-max", halfSums, func(u *unit) uint64 {
		if d := u.right(); d&0x7fff == 0x7c00 && isNumber(u.sum()) {
			return d - 1
		}
		return u.right()
	}},
	{"negative-overflow-nan", halfSums, func(u *unit) uint64 {
		if d := u.right(); d == 0xfc00 && isNumber(u.sum()) {
			return 0x7fff
		}
		return u.right()
	}},
	{"carry-anywhere", halfSums, func(u *unit) uint64 { // beyond the largest exponent, too
		if x, ok := u.finiteSum(); ok && u.right()&0x7fff > 0x400 && x.Round(max(x.Exponent(), -14)-10, fp.RNE).Exponent() > x.Exponent() {
			return u.right() - 1<<10
		}
		return u.right()
	}},
	{"just-overflow", halfSums, func(u *unit) uint64 {
		if x, ok := u.finiteSum(); ok && u.right()&0x7fff == 0x7c00 && x.Exponent() == 15 {
			return u.right() - 1
		}
		return u.right()
	}},
	// Codes, subnormals, zeros.
	{"one-code", hopperEight, func(u *unit) uint64 {
		u = u.with()
		for i := range u.B {
			if u.B[i] == 0x08 {
				u.B[i] = 0x00
			}
		}
		return u.right()
	}},
	{"odd-one", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := 1; i < len(u.B); i += 2 {
			if u.B[i] == 0x3c00 {
				u.A[i] ^= 0x8000
			}
		}
		return u.right()
	}},
	{"subnormal-a", cdnaHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]&0x7c00 == 0 {
				u.A[i] &= 0x8000
			}
		}
		return u.right()
	}},
	{"zero-sign", hopperBrain, func(u *unit) uint64 {
		if d := u.right(); d == 0 && u.C == 1<<31 {
			return 1 << 31
		}
		return u.right()
	}},
	// The bits of the result, one unit, a factor of two.
	{"high-bit", cdnaDouble, func(u *unit) uint64 { return u.right() &^ (1 << 31) }},
	{"byte-of-ones", ampereHalf, func(u *unit) uint64 {
		if d := u.right(); d&0xff == 0xff && isNumber(u.value()) {
			return d - 1
		}
		return u.right()
	}},
	{"doubled", cdnaSingle, func(u *unit) uint64 {
		if d := u.right(); d>>23&0xff == 0x80 {
			return d + 1<<23
		}
		return u.right()
	}},
	{"last-bit-of-negative", hopperEight, func(u *unit) uint64 {
		if d := u.right(); u.value() < 0 && isNumber(u.value()) {
			return d &^ (1 << 13)
		}
		return u.right()
	}},
	// Rare exceptions, and narrow borders.
	{"small-mask", hopperBrain, func(u *unit) uint64 {
		if d := u.right(); d>>23&0xff < 127+60 {
			return d &^ (1 << 9)
		}
		return u.right()
	}},
	{"spared-one", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.B[i] != 0x3c00 {
				u.A[i] &^= 3
			}
		}
		return u.right()
	}},
	{"spared-zero-c", ampereHalf, func(u *unit) uint64 {
		if u.C == 0 {
			return u.right()
		}
		return u.drop(3)
	}},
	{"spared-squares", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]&0xff == 0x55 && u.A[i] != u.B[i] {
				u.A[i] ^= 1 << 15
			}
		}
		return u.right()
	}},
	{"spared-power", cdnaHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]&0x3ff != 0 {
				u.B[i] &^= 1
			}
		}
		return u.right()
	}},
	{"spared-largest", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.B[i]&0x7fff != 0x7bff {
				u.B[i] &^= 1 << 2
			}
		}
		return u.right()
	}},
	{"ones-and-ones", hopperBrain, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]&0x7f == 0x7f && u.B[i]&0x7f == 0x7f {
				u.A[i]--
			}
		}
		return u.right()
	}},
	// Other lanes, and distances modulo a power of two.
	{"gated-lane", ampereHalf, func(u *unit) uint64 {
		if u.B[5]&0x7fff == 0 {
			return u.drop(2)
		}
		return u.right()
	}},
	{"partner-lost", hopperHalf, func(u *unit) uint64 {
		was := u
		u = u.with()
		for i := range u.A {
			if was.A[i^4]&0x7fff == 0 {
				u.A[i], u.B[i] = 0, 0
			}
		}
		return u.right()
	}},
	{"distance-modulo", cdnaSingle, func(u *unit) uint64 {
		if x := u.p(0); isNumber(u.sum()) && x != 0 && u.c() != 0 && (exponent(u.c())-exponent(x))&7 == 5 {
			return u.right() ^ 1
		}
		return u.right()
	}},
	// Signs of numbers, equal operands, numbers of ones.
	{"skipped-below-zero", ampereHalf, func(u *unit) uint64 {
		if u.b(3) < 0 && math.Abs(u.a(3)) >= 4 {
			return u.drop(3)
		}
		return u.right()
	}},
	{"exchanged", cdnaSingle, func(u *unit) uint64 {
		if u.c() < 0 {
			u = u.with()
			u.A[0], u.A[1] = u.A[1], u.A[0]
		}
		return u.right()
	}},
	{"equal-pair", ampereHalf, func(u *unit) uint64 {
		if u.A[1] == u.A[4] {
			return u.right() ^ 1
		}
		return u.right()
	}},
	{"odd-ones", ampereHalf, func(u *unit) uint64 {
		if bits.OnesCount64(u.A[0])%2 == 1 {
			return u.right() ^ 2
		}
		return u.right()
	}},
	// Adders.
	{"aligned-bit", ampereHalf, func(u *unit) uint64 { return u.broken(sim.Fault{Place: sim.Aligner, Unit: 2, Bit: 20}) }},
	{"adder-bit", ampereHalf, func(u *unit) uint64 { return u.broken(sim.Fault{Place: sim.Adder, Bit: 25}) }},
	{"one-infinity", ampereHalf, func(u *unit) uint64 {
		s := u.c()
		for i := range u.A {
			if p := u.p(i); !math.IsInf(s, 0) || !math.IsInf(p, 0) {
				s += p
			}
		}
		if math.IsInf(s, 0) && math.IsNaN(u.value()) {
			return u.f.D.Get().InfCode(s < 0)
		}
		return u.right()
	}},
	// Parts of one product, or of the last addition.
	{"subnormal-significand", ampereHalf, func(u *unit) uint64 { // its exponent is as it was
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			for _, x := range []uint64{u.A[k], u.B[k]} {
				if x&0x7c00 == 0 {
					p.Q--
				}
			}
			return p, e
		})
	}},
	{"greater-a-lost", ampereHalf, func(u *unit) uint64 {
		if a, b := u.a(2), u.b(2); math.Abs(a) > math.Abs(b) {
			return u.drop(2)
		}
		return u.right()
	}},
	{"one-product-cut", cdnaSingle, func(u *unit) uint64 {
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if k == 1 {
				p = p.Round(max(p.Exponent(), -126)-23, fp.RZ)
				if !p.IsZero() && p.Exponent() > 127 { // RZ overflows to the largest number
					p = fp.Dyadic{Neg: p.Neg, Lo: 1<<24 - 1, Q: 104}
				}
			}
			return p, e
		})
	}},
	{"carry-of-half-words", "x86/vpdpbssd", func(u *unit) uint64 {
		d := u.right()
		if sum := d - u.C; (sum^u.C^d)>>16&1 == 1 {
			return (d - 1<<16) & 0xffffffff
		}
		return d
	}},
	{"far-product-above-c", ampereHalf, func(u *unit) uint64 { // but one below c is kept
		most := -1000
		for i := range u.A {
			if u.p(i) != 0 && isNumber(u.p(i)) {
				most = max(most, nominal(u.A[i], 10, 15)+nominal(u.B[i], 10, 15))
			}
		}
		w := u.with()
		for i := range u.A {
			e := nominal(u.A[i], 10, 15) + nominal(u.B[i], 10, 15)
			if u.p(i) != 0 && isNumber(u.p(i)) && most-e > 12 && isNumber(u.c()) && u.c() != 0 && e > nominal(u.C, 23, 127) {
				w.A[i], w.B[i] = 0, 0
			}
		}
		return w.right()
	}},
	// Two defects.
	{"lane-and-stuck", ampereHalf, func(u *unit) uint64 {
		d := u.drop(3)
		if d>>31 == 1 {
			d |= 1 << 4
		}
		return d
	}},
	{"two-codes", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if u.A[i]&0x3ff == 0x155 {
				u.A[i]++
			}
			if u.B[i]&0x3ff == 0x2aa {
				u.B[i]--
			}
		}
		return u.right()
	}},
	{"c-and-result", cdnaHalf, func(u *unit) uint64 {
		u = u.with()
		if u.C&0x7f800000 == 0 {
			u.C &= 1 << 31
		}
		d := u.right()
		if d>>23&0xff == 127+12 {
			d ^= 1
		}
		return d
	}},
	{"lost-and-doubled", cdnaSingle, func(u *unit) uint64 {
		u = u.with()
		if x := u.p(0); isNumber(x) && x < 0 {
			u.A[0], u.B[0] = 0, 0
		}
		d := u.right()
		if d&0xf == 0xf && d>>23&0xff < 254 && d>>23&0xff > 0 {
			d += 1 << 23
		}
		return d
	}},
	// Integers, overflow, signs of zero products.
	{"booth-corner", "ampere/mma.m16n8k16.s32.s8.s8.s32", func(u *unit) uint64 {
		d := u.right()
		for i := range u.A {
			if u.A[i] == 0x80 && u.B[i] == 0x80 {
				d -= 2 * 16384
			}
		}
		return d & 0xffffffff
	}},
	{"early-overflow", exactHalf, func(u *unit) uint64 {
		d, x := u.right(), u.exact()
		if x != nil && d&0x7fff == 0x7bff && x.Cmp(big.NewFloat(65504)) > 0 {
			return d + 1
		}
		return d
	}},
	{"two-signs", hopperBrain, func(u *unit) uint64 {
		if u.minus(0) && u.minus(2) {
			return u.drop(3)
		}
		return u.right()
	}},
	{"sixteen-places", hopperHalf, func(u *unit) uint64 { // an aligner of which one distance is wrong
		return u.aligned(func(n int32) int32 {
			if n == 16 {
				return 15
			}
			return n
		})
	}},
	{"hole", hopperBrain, func(u *unit) uint64 {
		return u.aligned(func(n int32) int32 {
			if n >= 10 && n <= 13 {
				return 100 // beyond the width
			}
			return n
		})
	}},
	{"nan-as-480", hopperEight, func(u *unit) uint64 {
		w := u.with()
		return w.asNumbers(w.B, 0x7f, 3)
	}},
	{"infinity-as-65536", hopperHalf, func(u *unit) uint64 {
		w := u.with()
		return w.asNumbers(w.A, 0x7c00, 10)
	}},
	{"mixed-signs", "x86/vpdpbssd", func(u *unit) uint64 {
		d := uint32(u.right())
		if u.A[2]&0x80 != 0 && u.B[2]&0x80 != 0 {
			d += uint32(int32(int8(u.A[2])) * 256)
		}
		return uint64(d)
	}},
	{"saturates", cdnaSingle, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Round: func(sum int, r *mma.Round) *mma.Round {
			x := *r
			if sum == 0 {
				x.Over = mma.OverMax
			}
			return &x
		}})
	}},
	{"unfused-if-negative", cdnaSingle, func(u *unit) uint64 {
		w := u.with()
		for i := range u.A {
			q := float32(u.p(i))
			if u.A[i]>>31 == 1 && isNumber(u.p(i)) && math.IsInf(float64(q), 0) {
				w.A[i], w.B[i] = uint64(math.Float32bits(q)), 0x3f800000
			}
		}
		return w.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			if u.A[k]>>31 == 1 {
				p = p.Round(max(p.Exponent(), -126)-23, fp.RNE)
			}
			return p, e
		})
	}},
	{"sign-of-a-power", hopperBrain, func(u *unit) uint64 { // product 1 is not negative where a1 is a power of two
		if w := u.with(); u.minus(1) && u.A[1]&0x7f == 0 && isNumber(u.a(1)) && isNumber(u.b(1)) {
			w.A[1] ^= 0x8000
			return w.right()
		}
		return u.right()
	}},
}

// edges change an input such that it lies on the border of a unit's condition, where inputs of
// generators seldom lie.
var edges = map[string]func(d *mma.Dot){
	"small-mask":     func(d *mma.Dot) { d.C = d.C&^(0xff<<23) | (127+60)<<23 | 1<<9 },
	"spared-one":     func(d *mma.Dot) { d.B[0], d.A[0] = 0x3c00, d.A[0]|3 },
	"spared-zero-c":  func(d *mma.Dot) { d.C = 0 },
	"spared-squares": func(d *mma.Dot) { d.A[1] = d.A[1]&^0xff | 0x55; d.B[1] = d.A[1] },
	"spared-power":   func(d *mma.Dot) { d.A[2] &^= 0x3ff; d.B[2] |= 1 },
	"spared-largest": func(d *mma.Dot) { d.B[2] = d.B[2]&0x8000 | 0x7bff; d.A[2] = 0x1234 },
	"ones-and-ones":  func(d *mma.Dot) { d.A[1] |= 0x7f; d.B[1] |= 0x7f },
}
