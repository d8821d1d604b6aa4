package main

import (
	"math/big"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// defects are the 25, and ten more, by unit and name. The comment is the fault in the words of the datapath.
var defects = map[string]func(*unit){
	// Rounding and normalizing.

	// The exponent is not incremented when rounding carries out of the significand.
	"fma carry": func(u *unit) { u.carry = func(field int) int { return field - 1 } },
	// Bits that lie more than 40 places below the last one are not in the sticky bit.
	"fma sticky": func(u *unit) {
		u.up = func(_ bool, kept uint64, half, rest bool, lost int) bool {
			return half && (rest && lost < 40 || kept&1 == 1)
		}
	},
	// A tie is cut when the sum is negative.
	"dot4 tie": func(u *unit) {
		u.up = func(neg bool, kept uint64, half, rest bool, _ int) bool {
			return half && (rest || kept&1 == 1 && !neg)
		}
	},

	// Alignment.

	// The distance has five bits: 32 is taken for 0.
	"sum8 wrap": func(u *unit) {
		u.shift = func(lane, distance int) int {
			if lane < 0 {
				return distance
			}
			return distance & 31
		}
	},
	// C is shifted by one place less where it lies exactly one place below the largest.
	"sum8 cshift": func(u *unit) {
		u.shift = func(lane, distance int) int {
			if lane < 0 && distance == 1 {
				return 0
			}
			return distance
		}
	},
	// The shifter of lane 3 gives nothing for distances of 16 and more.
	"sum8 short": func(u *unit) {
		u.shift = func(lane, distance int) int {
			if lane == 3 && distance >= 16 {
				return 99
			}
			return distance
		}
	},

	// Decoding.

	// A subnormal of A has the exponent 0 in place of 1: half its value.
	"sum8 subnormal": func(u *unit) {
		u.decodeA = func(_ int, code uint64, n number) number {
			if code>>10&31 == 0 {
				n.exp--
				n.top--
			}
			return n
		}
	},
	// The largest exponent of B is not told from that of infinities: only seven bits are compared.
	"dot4 seven": func(u *unit) {
		u.decodeB = func(_ int, code uint64, n number) number {
			if code>>7&0xfe == 0xfe {
				n.inf, n.nan = code&0x7f == 0, code&0x7f != 0
			}
			return n
		}
	},
	// -0 of A has a leading bit.
	"sum8 minuszero": func(u *unit) {
		u.decodeA = func(_ int, code uint64, n number) number {
			if code == 0x8000 {
				n.sig = 1 << 10
			}
			return n
		}
	},
	// A subnormal C is taken for zero.
	"fma flushc": func(u *unit) {
		u.decodeC = func(code uint64, n number) number {
			if code>>23&255 == 0 {
				n.sig = 0
			}
			return n
		}
	},

	// Wires.

	// B of lane 5 is that of lane 4.
	"sum8 copy": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) { d.B[5] = d.B[4] }
	},
	// The sign of lane 7's product is an OR.
	"sum8 or": func(u *unit) {
		u.product = func(lane int, x, y, p number) number {
			if lane == 7 {
				p.neg = x.neg || y.neg
			}
			return p
		}
	},
	// B of the lanes 1 and 2 are exchanged.
	"dot4 exchanged": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) { d.B[1], d.B[2] = d.B[2], d.B[1] }
	},

	// Infinities, NaN and zero.

	// An infinite product wins over an infinite C of the other sign.
	"sum8 infinite": func(u *unit) {
		u.special = func(terms []number) (uint64, bool) {
			if _, ok := special(terms[:8]); ok && terms[8].inf {
				return special(terms[:8])
			}
			return 0, false
		}
	},
	// Zero times infinity is zero.
	"dot4 zeroinf": func(u *unit) {
		u.product = func(_ int, x, y, p number) number {
			if x.inf && y.isZero() || y.inf && x.isZero() {
				p.nan, p.inf, p.sig = false, false, 0
			}
			return p
		}
	},
	// Exact cancellation gives -0.
	"fma minus": func(u *unit) {
		u.finish = func(d uint64) uint64 { return d }
		u.add = func(products, c *big.Int) *big.Int {
			t := new(big.Int).Add(products, c)
			if t.Sign() == 0 && c.Sign() != 0 {
				u.finish = func(uint64) uint64 {
					u.finish = func(d uint64) uint64 { return d }
					return 1 << 31
				}
			}
			return t
		}
	},
	// A NaN of C is not looked at.
	"fma nanc": func(u *unit) {
		u.decodeC = func(_ uint64, n number) number {
			n.nan = false
			return n
		}
	},

	// Multiplying.

	// Where the last three bits of A are ones, the product lacks B once.
	"sum8 booth": func(u *unit) {
		u.product = func(_ int, x, y, p number) number {
			if x.sig&7 == 7 {
				p.sig -= y.sig
			}
			return p
		}
	},
	// The row of B's bit 6 is missing in lane 2.
	"dot4 row": func(u *unit) {
		u.product = func(lane int, x, y, p number) number {
			if lane == 2 && y.sig>>6&1 == 1 {
				p.sig -= x.sig << 6
			}
			return p
		}
	},

	// Adding.

	// The carry from the low 16 bits is lost when C is added.
	"sum8 carry16": func(u *unit) {
		u.add = func(products, c *big.Int) *big.Int {
			x, y := products.Int64(), c.Int64()
			low := (x&0xffff + y&0xffff) & 0xffff
			return big.NewInt((x>>16+y>>16)<<16 | low)
		}
	},
	// The last bit of the result is stuck at 1 from 2^65 on.
	"fma stuck": func(u *unit) {
		u.finish = func(d uint64) uint64 {
			if e := d >> 23 & 255; e >= 0xc0 && e < 255 {
				return d | 1
			}
			return d
		}
	},

	// Overflow and underflow.

	// A negative overflow gives the largest number.
	"dot4 overflow": func(u *unit) {
		u.overflow = func(neg bool) uint64 {
			if neg {
				return 0xff7fffff
			}
			return infinity
		}
	},
	// The carry of a subnormal that rounds to the smallest normal number is lost.
	"fma smallest": func(u *unit) {
		u.carry = func(field int) int {
			if field == 1 {
				return 0
			}
			return field
		}
	},

	// Position and state.

	// C is not read in the rows 8 to 15 of column 7.
	"sum8 corner": func(u *unit) {
		u.position = func(row, column int, d *mma.Dot) {
			if row >= 8 && column == 7 {
				d.C = 0
			}
		}
	},
	// After an infinite result C of the next is that of the one before.
	"sum8 stale": func(u *unit) {
		stale, c := false, uint64(0)
		u.position = func(_, _ int, d *mma.Dot) {
			if stale {
				d.C = c
			}
		}
		u.afterwards = func(r uint64, d *mma.Dot) { stale, c = r&0x7fffffff == infinity, d.C }
	},

	// Ten more, after what the first had shown was mended.

	// A tie of a positive sum goes away from zero.
	"dot4 away": func(u *unit) {
		u.up = func(neg bool, kept uint64, half, rest bool, _ int) bool {
			return half && (rest || kept&1 == 1 || !neg)
		}
	},
	// A subnormal result lacks its last three bits.
	"dot4 underflow": func(u *unit) {
		u.finish = func(d uint64) uint64 {
			if d>>23&255 == 0 {
				return d &^ 7
			}
			return d
		}
	},
	// A zero of A in lane 0 stops the clock of lane 3, too.
	"dot4 gate": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) {
			if d.A[0]&0x7fff == 0 {
				d.A[3], d.B[3] = 0, 0
			}
		}
	},
	// A zero of A hides a NaN of B.
	"dot4 hidden": func(u *unit) {
		u.product = func(_ int, x, y, p number) number {
			if x.isZero() && y.nan {
				p.nan, p.sig = false, 0
			}
			return p
		}
	},
	// A product of 2^128 and more is infinite before C is added.
	"fma early": func(u *unit) {
		u.product = func(_ int, x, y, p number) number {
			if p.sig != 0 && p.exp+bits.Len64(p.sig) > 128 {
				p.inf = !p.nan
			}
			return p
		}
	},
	// The result is zero where 24 leading bits and more cancel.
	"fma cancel": func(u *unit) {
		u.add = func(products, c *big.Int) *big.Int {
			t := new(big.Int).Add(products, c)
			if t.BitLen()+24 <= max(products.BitLen(), c.BitLen()) {
				t.SetInt64(0)
			}
			return t
		}
	},
	// The last bit of the products of even lanes is missing.
	"sum8 even": func(u *unit) {
		u.product = func(lane int, _, _, p number) number {
			if lane%2 == 0 {
				p.sig &^= 1
			}
			return p
		}
	},
	// A negative C lacks its last three bits.
	"sum8 negative": func(u *unit) {
		u.decodeC = func(_ uint64, n number) number {
			if n.neg {
				n.sig &^= 7
			}
			return n
		}
	},
	// The largest exponent of A is taken for the one below it.
	"sum8 largest": func(u *unit) {
		u.decodeA = func(_ int, code uint64, n number) number {
			if code>>10&31 == 30 {
				n.exp--
				n.top--
			}
			return n
		}
	},
	// The sign of lane 0 is wrong in odd columns.
	"dot4 odd": func(u *unit) {
		u.position = func(_, column int, d *mma.Dot) {
			if column%2 == 1 {
				d.B[0] ^= 0x8000
			}
		}
	},
}
