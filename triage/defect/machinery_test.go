package defect

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// int8s adds sixteen products of bytes to an integer of 32 bits.
const int8s = "ampere/mma.m16n8k16.s32.s8.s8.s32"

// sumChange is a unit whose sums are others.
func sumChange(f func(u *unit, x fp.Dyadic, e int32) fp.Dyadic) func(u *unit) uint64 {
	return func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Sum: func(_ int, x fp.Dyadic, e int32) fp.Dyadic { return f(u, x, e) }})
	}
}

// exactInt is the sum of the products of bytes, with c or without it.
func (u *unit) exactInt(c bool) int64 {
	s := int64(0)
	if c {
		s = int64(int32(u.C))
	}
	for i := range u.A {
		s += int64(int8(u.A[i])) * int64(int8(u.B[i]))
	}
	return s
}

// plus is a number that is 2^q greater in magnitude.
func plus(x fp.Dyadic, q int32) fp.Dyadic {
	for x.Q > q {
		x = x.Shl(1)
	}
	d := uint(q - x.Q)
	if d >= 64 {
		x.Hi += 1 << (d - 64)
		return x
	}
	lo := x.Lo + 1<<d
	if lo < x.Lo {
		x.Hi++
	}
	x.Lo = lo
	return x
}

// terms are the products of the terms of the first sum.
func (u *unit) terms() map[int]int {
	var tr sim.Trace
	u.m.Dot(u.Dot, &tr)
	at := map[int]int{}
	for j := range tr.Sums[0].Terms {
		if t := &tr.Sums[0].Terms[j]; t.From == sim.FromProduct {
			at[j] = t.K
		}
	}
	return at
}

// machinery are defects of normalisers, shifters, roundings, multipliers and adders of integers, each as
// somebody would make it, in code that is not the search's.
var machinery = []planted{
	{"exponent-field-wraps", exactHalf, func(u *unit) uint64 {
		if x, ok := u.finiteSum(); ok && isNumber(u.sum()) {
			r := x.Round(max(x.Exponent(), -14)-10, fp.RNE)
			if e := r.Exponent(); e > 15 {
				r.Q -= e - 0
				d := fp.FP16.Get().Encode(r, fp.RZ, fp.OverInf)
				if d = d&^0x7c00 | uint64(e+15)&31<<10; d&0x7c00 == 0x7c00 && d&0x3ff != 0 {
					return 0x7fff
				}
				return d
			}
		}
		return u.right()
	}},
	{"subnormal-rounded-twice", exactHalf, func(u *unit) uint64 {
		if x, ok := u.finiteSum(); ok && isNumber(u.sum()) {
			if d := fp.FP16.Get().Encode(x.Round(x.Exponent()-10, fp.RNE), fp.RNE, fp.OverInf); d&0x7fff != 0 {
				return d
			}
			return 0
		}
		return u.right()
	}},
	{"coarse-after-carry", exactHalf, sumChange(func(u *unit, x fp.Dyadic, e int32) fp.Dyadic {
		if x.Exponent() > e+1 && x.Exponent() >= -14 {
			return x.Round(x.Exponent()-9, fp.RNE)
		}
		return x
	})},
	{"late-normaliser", hopperHalf, sumChange(func(u *unit, x fp.Dyadic, e int32) fp.Dyadic {
		if d := e - x.Exponent(); d >= 4 {
			return plus(x, x.Exponent()+1)
		}
		return x
	})},
	{"early-normaliser", hopperHalf, sumChange(func(u *unit, x fp.Dyadic, e int32) fp.Dyadic {
		if d := e - x.Exponent(); d >= 2 {
			top := x.Exponent()
			y := withBit(x, top, func(x, bit uint64) uint64 { return x &^ bit })
			return withBit(y, top-1, func(x, bit uint64) uint64 { return x | bit }) // hidden
		}
		return x
	})},
	{"accumulator-of-24-bits", int8s, func(u *unit) uint64 {
		s := u.exactInt(true)
		return uint64(uint32(int32(s << 40 >> 40)))
	}},
	{"tie-by-bit-1", exactHalf, func(u *unit) uint64 {
		if x, ok := u.finiteSum(); ok && isNumber(u.sum()) {
			q := max(x.Exponent(), -14) - 10
			if x.Low() == q-1 && u.right()&0x7fff < 0x7bff {
				lo := fp.FP16.Get().Encode(x, fp.RZ, fp.OverInf)
				if lo&2 != 0 {
					lo++
				}
				return lo
			}
		}
		return u.right()
	}},
	{"narrow-if-c-is-largest", hopperHalf, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(sum, term int, x fp.Dyadic, e int32) fp.Dyadic {
			if u.c() != 0 && nominal(u.C, 23, 127) == int(e) {
				return x.Round(e-20, fp.RZ)
			}
			return x
		}})
	}},
	{"lane-shift-modulo", hopperHalf, func(u *unit) uint64 {
		at := u.terms()
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(sum, term int, x fp.Dyadic, e int32) fp.Dyadic {
			if k, ok := at[term]; ok && k == 5 {
				if s := e - int32(nominal(u.A[5], 10, 15)+nominal(u.B[5], 10, 15)); s >= 16 {
					x.Q += s / 16 * 16
				}
			}
			return x
		}})
	}},
	{"lanes-shift-stuck", hopperHalf, func(u *unit) uint64 {
		at := u.terms()
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(sum, term int, x fp.Dyadic, e int32) fp.Dyadic {
			if k, ok := at[term]; ok && k >= 12 {
				if s := e - int32(nominal(u.A[k], 10, 15)+nominal(u.B[k], 10, 15)); s&2 == 0 {
					x.Q -= 2
				}
			}
			return x
		}})
	}},
	{"narrow-lane", hopperHalf, func(u *unit) uint64 {
		at := u.terms()
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(sum, term int, x fp.Dyadic, e int32) fp.Dyadic {
			if k, ok := at[term]; ok && k == 3 {
				return x.Round(e-16, fp.RZ)
			}
			return x
		}})
	}},
	{"unseen-half", hopperHalf, func(u *unit) uint64 {
		return u.m.DotChanged(u.Dot, sim.Change{Unseen: func(sum, term int) bool { return u.terms()[term] >= 8 }})
	}},
	{"read-as-e5m2", hopperEight, func(u *unit) uint64 { // lanes 16 to 31
		e5, e4 := fp.E5M2.Get(), fp.E4M3.Get()
		w := u.with()
		val := map[int]fp.Dyadic{}
		some, was := false, false
		for i := 16; i < 32; i++ {
			n := e5.Decode(u.A[i])
			switch n.Class {
			case fp.Zero:
				w.A[i] = u.A[i] & 0x80
			case fp.NaN:
				w.A[i] = 0x7f
			case fp.Inf:
				if u.B[i]&0x7f == 0 {
					w.A[i] = 0x7f
					continue
				}
				neg := (u.A[i]^u.B[i])&0x80 != 0
				if some && was != neg {
					w.A[i] = 0x7f
				}
				some, was = true, neg
			default:
				w.A[i] = u.A[i]&0x80 | 0x38
				val[i] = e5.Dyadic(n)
			}
		}
		if some {
			if d := w.right(); d&0x7fffffff > 0x7f800000 {
				return d
			}
			if u.C&0x7fffffff == 0x7f800000 && u.C>>31 == 1 != was {
				return 0x7fffffff
			}
			if was {
				return 0xff800000
			}
			return 0x7f800000
		}
		return w.m.DotChanged(w.Dot, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			x, ok := val[k]
			if !ok {
				return p, e
			}
			y := e4.Dyadic(e4.Decode(w.B[k]))
			n := e5.Decode(u.A[k])
			return fp.Dyadic{Neg: x.Neg != y.Neg, Lo: x.Lo * y.Lo, Q: x.Q + y.Q}, int32(n.Exp) + int32(e4.Decode(w.B[k]).Exp)
		}})
	}},
	{"sign-by-and", ampereHalf, func(u *unit) uint64 {
		u = u.with()
		for i := range u.A {
			if s := u.A[i] & u.B[i] & 0x8000; s != (u.A[i]^u.B[i])&0x8000 {
				u.A[i] ^= 0x8000
			}
		}
		return u.right()
	}},
	{"subnormal-c-unadjusted", cdnaHalf, func(u *unit) uint64 {
		if c := u.C & 0x7fffffff; c != 0 && c < 0x800000 {
			u = u.with()
			for c < 0x800000 {
				c <<= 1
			}
			u.C = u.C&0x80000000 | c
		}
		return u.right()
	}},
	{"bytes-exchanged", hopperHalf, func(u *unit) uint64 {
		u = u.with()
		u.B[6] = u.B[6]>>8 | u.B[6]<<8&0xff00
		return u.right()
	}},
	{"c-halves-exchanged", cdnaHalf, func(u *unit) uint64 {
		if u.p(0) < 0 {
			u = u.with()
			u.C = u.C>>16 | u.C<<16&0xffff0000
		}
		return u.right()
	}},
	{"multiplier-halves", hopperBrain, func(u *unit) uint64 { // the carry of the low half of a multiplier is lost: a * b of 8 bits by 4 and 4
		return u.m.DotChanged(u.Dot, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			a, b := u.A[k]&0x7f|0x80, u.B[k]&0x7f|0x80
			if u.A[k]&0x7f80 == 0 || u.B[k]&0x7f80 == 0 {
				return p, e
			}
			lo, hi := a*(b&15), a*(b>>4)
			if p.Lo == a*b {
				p.Lo = lo&^0xff + (hi<<4)&^0xff + (lo+hi<<4)&0xff
			}
			return p, e
		}})
	}},
	{"c-of-31-bits", int8s, func(u *unit) uint64 { // c saturates at 2^30
		u = u.with()
		if c := int32(u.C); c > 1<<30-1 {
			u.C = 1<<30 - 1
		} else if c < -1<<30 {
			u.C = uint64(uint32(0xc0000000))
		}
		return u.right()
	}},
	{"multiplier-middle", cdnaSingle, func(u *unit) uint64 { // of 12 by 12 bits
		return u.changed(func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			part := func(c uint64) (low, high uint64) {
				x := c & 0x7fffff
				if c&0x7f800000 != 0 {
					x |= 0x800000
				}
				return x & 0xfff, x >> 12
			}
			al, ah := part(u.A[k])
			bl, bh := part(u.B[k])
			if al*bh+ah*bl > 0xffffff {
				p.Lo -= 1 << 36
			}
			return p, e
		})
	}},
	// Inputs that violate one condition alone, or have special values where a rule mentions none.
	{"carry-out-if-negative", roundedBrain, func(u *unit) uint64 { // not to subnormals, and not beyond the range
		d := u.right()
		var tr sim.Trace
		u.m.Dot(u.Dot, &tr)
		s := tr.Last()
		if d>>31 == 0 || s.Sum.Kind == sim.Inf || s.Sum.Kind == sim.NaN || s.Sum.Value.IsZero() {
			return d
		}
		x := s.Sum.Value
		if e := x.Exponent(); e >= -126 && e <= 127 && x.Round(e-23, fp.RNE).Exponent() > e {
			return d - 1<<23
		}
		return d
	}},
	{"top-is-infinity", roundedBrain, func(u *unit) uint64 { // of what is beyond, nothing is seen
		if d := u.right(); d>>23&255 == 254 {
			return d&(1<<31) | 0x7f800000
		}
		return u.right()
	}},
	{"nan-is-infinity", ampereHalf, func(u *unit) uint64 {
		for i := range u.A {
			if math.IsNaN(u.a(i)) {
				return 0x7f800000
			}
		}
		return u.right()
	}},
	{"negative-number-in-lane", ampereHalf, func(u *unit) uint64 { // a NaN keeps its last bit
		u = u.with()
		if u.B[5]>>15 == 1 && u.B[5]>>10&31 != 31 {
			u.B[5] &^= 1
		}
		return u.right()
	}},
}
