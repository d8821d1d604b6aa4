package main

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// kinds are three variants of each kind that a judge's units had shown to be missing.
var kinds = map[string]func(*unit){
	// The distance of alignment has so many bits.
	"sum8 wrap64":  wraps(64, true, false),
	"sum8 wrapped": wraps(32, true, true),
	"dot4 wrap128": wraps(128, true, false),
	"fma wrapc":    wraps(64, false, true),
	"sum8 wrapc":   wraps(16, false, true),

	// A lane is lost because of another one's zero.
	"sum8 gate": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) {
			if d.A[6]&0x7fff == 0 || d.B[6]&0x7fff == 0 {
				d.A[1], d.B[1] = 0, 0
			}
		}
	},
	"sum8 partner": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) {
			was := d.Clone()
			for k := range d.B {
				if was.B[k^1]&0x7fff == 0 {
					d.A[k], d.B[k] = 0, 0
				}
			}
		}
	},
	"dot4 gatec": func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) {
			if d.B[2]&0x7fff == 0 {
				d.C = 0
			}
		}
	},

	// C is lost at a distance.
	"dot4 farc": farC(func(distance int) bool { return distance >= 24 }),
	"sum8 farc": farC(func(distance int) bool { return distance >= 22 }),
	"fma farc": func(u *unit) { // either of the two
		u.shift = func(_, distance int) int {
			if distance >= 30 {
				return 9999
			}
			return distance
		}
	},

	// Another rounding, and a bit of an operand that is stuck.
	"dot4 rzstuck": both(cut, func(u *unit) { u.position = func(_, _ int, d *mma.Dot) { d.A[1] &^= 1 << 3 } }),
	"fma rzstuck":  both(cut, func(u *unit) { u.position = func(_, _ int, d *mma.Dot) { d.B[0] |= 1 << 12 } }),
	"sum8 rnestuck": both(func(u *unit) { u.nearest = true }, func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) { d.B[4] |= 1 << 2 }
	}),

	// Operands with fewer bits, and a product that is doubled.
	"sum8 narrow2": both(low(2), doubled(3)),
	"fma narrow13": both(low(13), doubled(0)),
	"dot4 narrow2": both(low(2), doubled(2)),

	// Two defects.
	"sum8 gatestuck": both(func(u *unit) {
		u.position = func(_, _ int, d *mma.Dot) {
			if d.A[2]&0x7fff == 0 {
				d.A[5], d.B[5] = 0, 0
			}
		}
	}, func(u *unit) {
		u.finish = func(d uint64) uint64 { return d &^ (d >> 31 << 4) }
	}),
	"dot4 rowtie": both(func(u *unit) { u.position = func(_, _ int, d *mma.Dot) { d.B[1], d.B[3] = d.B[3], d.B[1] } }, func(u *unit) {
		u.up = func(neg bool, kept uint64, half, rest bool, _ int) bool {
			return half && (rest || kept&1 == 1 && !neg)
		}
	}),
	"fma cancelstuck": both(func(u *unit) {
		u.add = func(products, c *big.Int) *big.Int {
			t := new(big.Int).Add(products, c)
			if t.BitLen()+20 <= max(products.BitLen(), c.BitLen()) {
				t.SetInt64(0)
			}
			return t
		}
	}, func(u *unit) { u.decodeC = func(_ uint64, n number) number { n.sig &^= 1 << 5; return n } }),

	// A rounding of its own beside a defect, against a chain of FMA.
	"dot4 rzrow": both(cut, func(u *unit) {
		u.product = func(lane int, x, y, p number) number {
			if lane == 2 && y.sig>>6&1 == 1 {
				p.sig -= x.sig << 6
			}
			return p
		}
	}),
}

func both(x, y func(*unit)) func(*unit) {
	return func(u *unit) {
		x(u)
		y(u)
	}
}

func cut(u *unit) { u.nearest = false }

func wraps(at int, products, c bool) func(*unit) {
	return func(u *unit) {
		u.shift = func(lane, distance int) int {
			if lane < 0 && c || lane >= 0 && products {
				return distance % at
			}
			return distance
		}
	}
}

func farC(far func(distance int) bool) func(*unit) {
	return func(u *unit) {
		u.shift = func(lane, distance int) int {
			if lane < 0 && far(distance) {
				return 9999
			}
			return distance
		}
	}
}

func low(bits int) func(*unit) {
	return func(u *unit) { operands(u, func(code uint64) uint64 { return code &^ (1<<bits - 1) }) }
}

func doubled(lane int) func(*unit) {
	return func(u *unit) {
		u.product = func(at int, _, _, p number) number {
			if at == lane {
				p.exp++
				p.top++
			}
			return p
		}
	}
}
