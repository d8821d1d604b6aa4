package minimize

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// products returns the products of a dot product, without scales.
func products(f mma.Formats, d *mma.Dot) []float64 {
	a, b := values(f.A, d.A), values(f.B, d.B)
	for k := range a {
		a[k] *= b[k]
	}
	return a
}

// anyProduct is a predicate on products.
func anyProduct(f mma.Formats, ok func(x float64) bool) func(*mma.Dot) bool {
	return func(d *mma.Dot) bool { return slices.ContainsFunc(products(f, d), ok) }
}

// anyA is a predicate on the values of a.
func anyA(id fp.ID, ok func(n fp.Num) bool) func(*mma.Dot) bool {
	return func(d *mma.Dot) bool {
		return slices.ContainsFunc(d.A, func(c uint64) bool { return ok(id.Get().Decode(c)) })
	}
}

// predicates have a minimum that is easy to see.
var predicates = []struct {
	name  string
	f     mma.Formats
	k     int
	plant func(d *mma.Dot)
	in    func(d *mma.Dot) bool
	want  string
}{
	{"anything", half, 16, nil, func(*mma.Dot) bool { return true }, "0000 0000 00000000"},
	{"a product of 2^5 at least", half, 16, func(d *mma.Dot) { d.A[7], d.B[7] = 0x52ab, 0x4311 },
		anyProduct(half, func(x float64) bool { return x >= 32 }), "5000 3c00 00000000"},
	{"a product of 2^20 at least", half, 16, func(d *mma.Dot) { d.A[7], d.B[7] = 0x7a51, 0x6987 },
		anyProduct(half, func(x float64) bool { return x >= 1<<20 }), "6400 6400 00000000"},
	{"a product of 33 at least", half, 16, func(d *mma.Dot) { d.A[7], d.B[7] = 0x52ab, 0x4311 },
		anyProduct(half, func(x float64) bool { return x >= 33 }), "5400 3c00 00000000"},
	{"a product below -3", half, 16, func(d *mma.Dot) { d.A[7], d.B[7] = 0xd2ab, 0x4311 },
		anyProduct(half, func(x float64) bool { return x < -3 }), "4400 bc00 00000000"},
	{"a tiny product", half, 16, func(d *mma.Dot) { d.A[7], d.B[7] = 0x0413, 0x0512 },
		anyProduct(half, func(x float64) bool { return x != 0 && math.Abs(x) < 0x1p-20 }), "1000 1000 00000000"},
	{"c is NaN", half, 16, func(d *mma.Dot) { d.C = 0xff812345 },
		func(d *mma.Dot) bool { return math.IsNaN(fp.FP32.Get().Float64(d.C)) }, "0000 0000 7fc00000"},
	{"c is a signalling NaN", half, 16, func(d *mma.Dot) { d.C = 0xff812345 },
		func(d *mma.Dot) bool { return d.C&0x7fc00000 == 0x7f800000 && d.C&0x3fffff != 0 }, "0000 0000 7fa00000"},
	{"c of 2^100 at least", half, 16, func(d *mma.Dot) { d.C = 0x7f512345 },
		func(d *mma.Dot) bool { return d.C>>31 == 0 && d.C >= 0x71800000 }, "0000 0000 71800000"},
	{"bits 3 and 17 of c", half, 16, func(d *mma.Dot) { d.C = 0xff7fffff },
		func(d *mma.Dot) bool { return d.C&0x20008 == 0x20008 }, "0000 0000 3f820008"},
	{"two products cancel", half, 16, func(d *mma.Dot) { d.A[3], d.B[3], d.A[14], d.B[14] = 0x4321, 0x2987, 0x2987, 0xc321 },
		func(d *mma.Dot) bool {
			x := products(half, d)
			return slices.ContainsFunc(x, func(y float64) bool { return y != 0 && slices.Contains(x, -y) })
		}, "3c00,3c00 3c00,bc00 00000000"},
	{"three products", half, 16, nil, func(d *mma.Dot) bool {
		return len(slices.DeleteFunc(products(half, d), func(x float64) bool { return x == 0 })) >= 3
	}, "3c00,3c00,3c00 3c00,3c00,3c00 00000000"},
	{"the product at 9", half, 16, func(d *mma.Dot) { d.A[9], d.B[9] = 0x4200, 0x3d12 },
		func(d *mma.Dot) bool { return d.A[9] == 0x4200 && d.B[9] != 0 },
		zeros16(9) + "4200 " + zeros16(9) + "3c00 00000000"},
	{"products in both halves", half, 16, nil, func(d *mma.Dot) bool {
		zero := func(x float64) bool { return x == 0 }
		x := products(half, d)
		return len(slices.DeleteFunc(x[8:], zero)) > 0 && len(slices.DeleteFunc(x[:8], zero)) > 0
	}, "3c00," + zeros16(7) + "3c00 3c00," + zeros16(7) + "3c00 00000000"},
	{"more than four fraction bits", half, 16, func(d *mma.Dot) { d.A[11] = 0x3fff },
		anyA(fp.FP16, func(n fp.Num) bool { return n.Class == fp.Finite && n.Sig&0x3f != 0 }), "3c20 0000 00000000"},
	{"a subnormal a", half, 16, func(d *mma.Dot) { d.A[11] = 0x82a5 },
		anyA(fp.FP16, func(n fp.Num) bool { return n.Class == fp.Finite && n.Sig < 1<<10 }), "0200 0000 00000000"},
	{"equal a and b", half, 16, func(d *mma.Dot) { d.A[5], d.B[12] = 0x41a7, 0x41a7 },
		func(d *mma.Dot) bool {
			return slices.ContainsFunc(d.A, func(c uint64) bool { return c&0x3ff != 0 && slices.Contains(d.B, c) })
		}, "0000,3e00 3e00,0000 00000000"},
	{"minus zero all over", half, 4, func(d *mma.Dot) { *d = *zeroDot(d) },
		func(d *mma.Dot) bool {
			minus := func(x float64) bool { return x == 0 && math.Signbit(x) }
			return !slices.ContainsFunc(products(half, d), func(x float64) bool { return !minus(x) }) && d.C == 1<<31
		}, "0000,0000,0000,0000 8000,8000,8000,8000 80000000"},
	{"infinity times zero", half, 16, func(d *mma.Dot) { d.A[6], d.B[6] = 0x8000, 0xfc00 },
		anyProduct(half, math.IsNaN), "7c00 0000 00000000"},
	{"without c", bare, 32, nil, anyProduct(bare, func(x float64) bool { return math.Abs(x) >= 0.5 }), "38 3c -"},
	{"loose bits", tf32, 8, func(d *mma.Dot) { d.A[1], d.B[1] = 0x40ffffff, 0x407fffff },
		anyProduct(tf32, func(x float64) bool { return x >= 4 }), "40800000 3f800000 00000000"},
	{"loose bits that matter", tf32, 8, func(d *mma.Dot) { d.A[1] = 0x40ffffff },
		func(d *mma.Dot) bool { return slices.ContainsFunc(d.A, func(c uint64) bool { return c&1 != 0 }) }, "00000001 00000000 00000000"},
	{"NaN without payload", fnuz, 16, func(d *mma.Dot) { d.B[3] = 0x80 }, anyProduct(fnuz, math.IsNaN), "80 00 00000000"},
	{"a NaN scale", nvfp4, 64, func(d *mma.Dot) { d.SB[2] = 0xff },
		func(d *mma.Dot) bool {
			return slices.ContainsFunc(d.SB, func(c uint64) bool { return c&0x7f == 0x7f })
		},
		"00 00 00000000 sa=38,38,38,38 sb=7f,38,38,38"},
	{"a scale of 2^10 on a product", mxfp8, 64, func(d *mma.Dot) { d.SA[1], d.A[40], d.B[40] = 0xa5, 0x3c, 0x3d },
		func(d *mma.Dot) bool {
			x := products(mxfp8, d)
			for k := range x {
				if x[k] != 0 && d.SA[k/32] >= 127+10 && d.SA[k/32] != 0xff {
					return true
				}
			}
			return false
		}, "38 38 00000000 sa=89,7f sb=7f,7f"},
}

// TestPredicates minimizes for predicates from random starts, in which something is
// planted that makes the predicate true.
func TestPredicates(t *testing.T) {
	for _, c := range predicates {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			for range 4 {
				start := draw(r, c.f, c.k, "normal")
				if c.plant != nil {
					c.plant(start)
				}
				res := minimize(t, c.f, start, when(c.in), Options{})
				if got := mma.FormatDot(c.f, res.Dot); got != c.want || !res.Minimal {
					t.Errorf("%s becomes %s, minimal %v; want %s", mma.FormatDot(c.f, start), got, res.Minimal, c.want)
				}
			}
		})
	}
}

// zeroDot makes all products and c minus zero.
func zeroDot(d *mma.Dot) *mma.Dot {
	d = d.Clone()
	for k := range d.A {
		d.A[k] |= 0x8000
		d.B[k] = 0
	}
	d.C = 1 << 31
	return d
}
