package fp_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// checkWide compares Encode with package big in every mode and under every
// overflow rule.
func checkWide(t *testing.T, g *facts, f *fp.Format, d fp.Dyadic) bool {
	t.Helper()
	for _, m := range fp.Modes() {
		r := reference(g, d, m)
		for _, over := range overflows {
			want := r.code(g, d.Neg, m, over)
			if got := f.Encode(d, m, over); got != want {
				t.Errorf("%+v, %v, overflow rule %d: %X, want %X", d, m, over, got, want)
				return false
			}
		}
	}
	return true
}

// TestEncodeWide tries numbers with up to 128 significant bits in all formats.
func TestEncodeWide(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 400
	}
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		r := random(uint64(g.id))
		for i := range n {
			d := [...]func(*rand.Rand, *facts) fp.Dyadic{anywhere, nearTie, nearTie, farAway}[i%4](r, g)
			if !checkWide(t, g, f, d) {
				return
			}
		}
		for _, c := range sampleEdges(g) {
			for quarters := range 4 {
				for _, eps := range []int{-1, 0, 1} {
					if !checkWide(t, g, f, beside(f, c, uint64(quarters), eps, 3+quarters*20)) {
						return
					}
				}
			}
		}
	})
}

// sampleEdges are the finite codes around the borders of binades.
func sampleEdges(g *facts) (codes []uint64) {
	if g.small() { // TestEncode has them all
		return nil
	}
	for _, c := range edgeCodes(g) {
		if !g.isNaN(c) && !g.isInf(c) {
			codes = append(codes, c)
		}
	}
	return codes
}

// beside returns the value of a finite code plus some quarters of a unit of its
// last place, plus eps in the last of more further bits.
func beside(f *fp.Format, code, quarters uint64, eps, more int) fp.Dyadic {
	n := f.Decode(code)
	d := fp.Dyadic{Lo: n.Sig<<2 + quarters, Q: n.Exp - int32(f.FracBits) - 2, Neg: n.Neg}
	if d.Lo == 0 && eps < 0 {
		eps = 1
	}
	return nudge(d, eps, more)
}

// anywhere draws a number of any length within and around the format's range.
func anywhere(r *rand.Rand, g *facts) fp.Dyadic {
	d := fp.Dyadic{Hi: r.Uint64(), Lo: r.Uint64(), Neg: r.IntN(2) == 0}
	switch n := r.IntN(128); {
	case n >= 64:
		d.Hi, d.Lo = 0, d.Lo>>(n-64)
	case n > 0:
		d.Hi >>= n
	}
	low, high := g.emin-g.frac-8, g.emax+3
	e := low + r.IntN(high-low)
	d.Q = int32(e) + 1 - d.Len()
	return d
}

// nearTie draws a number close to a number of the format or close to a middle.
func nearTie(r *rand.Rand, g *facts) fp.Dyadic {
	f := g.id.Get()
	for {
		c := r.Uint64() >> (64 - g.codeBits)
		if f.Decode(c).Class < fp.Inf {
			return beside(f, c, r.Uint64N(4), r.IntN(3)-1, r.IntN(70))
		}
	}
}

// farAway draws a number far below or above all formats, or one whose
// significand ends far below its first bit.
func farAway(r *rand.Rand, g *facts) fp.Dyadic {
	d := anywhere(r, g)
	far := int32(1) << r.IntN(31)
	if r.IntN(2) == 0 {
		far = -far
	}
	d.Q = far
	return d
}

// TestEncodeNative compares with Go's own conversion of big.Float to float32
// and float64, which rounds to nearest even and overflows to infinity.
func TestEncodeNative(t *testing.T) {
	draw := [...]func(*rand.Rand, *facts) fp.Dyadic{anywhere, nearTie, farAway}
	check := func(t *testing.T, id fp.ID, bits func(*big.Float) uint64) {
		g, f, r := &golden[id-fp.FP64], id.Get(), random(1)
		for i := range 20000 {
			d := draw[i%len(draw)](r, g)
			if d.IsZero() {
				continue // package big makes no -0 of an integer
			}
			if got, want := f.Encode(d, fp.RNE, fp.OverInf), bits(bigFloat(d)); got != want {
				t.Fatalf("%+v: %X, want %X", d, got, want)
			}
		}
	}
	t.Run("fp32", func(t *testing.T) {
		check(t, fp.FP32, func(x *big.Float) uint64 { v, _ := x.Float32(); return uint64(math.Float32bits(v)) })
	})
	t.Run("fp64", func(t *testing.T) {
		check(t, fp.FP64, func(x *big.Float) uint64 { v, _ := x.Float64(); return math.Float64bits(v) })
	})
}

// TestOverflowThresholds are the borders that the specifications name.
func TestOverflowThresholds(t *testing.T) {
	const below, at = -1, 0
	for _, c := range []struct {
		id   fp.ID
		v    float64
		eps  int
		m    fp.Mode
		over fp.Overflow
		want uint64
	}{
		{fp.FP16, 65520, below, fp.RNE, fp.OverInf, 0x7BFF},
		{fp.FP16, 65520, at, fp.RNE, fp.OverInf, 0x7C00},
		{fp.FP16, 65520, at, fp.RNE, fp.OverMax, 0x7BFF},
		{fp.FP16, 65536, below, fp.RZ, fp.OverInf, 0x7BFF},
		{fp.FP16, 65536, at, fp.RZ, fp.OverInf, 0x7C00},
		{fp.FP16, 65536, at, fp.RZ, fp.OverIEEE, 0x7BFF},
		{fp.FP32, 0x1p128 - 0x1p103, below, fp.RNE, fp.OverInf, 0x7F7FFFFF},
		{fp.FP32, 0x1p128 - 0x1p103, at, fp.RNE, fp.OverInf, 0x7F800000},
		{fp.FP32, 0x1p128, below, fp.RZ, fp.OverInf, 0x7F7FFFFF},
		{fp.FP32, 0x1p128, at, fp.RZ, fp.OverInf, 0x7F800000},
		{fp.FP32, -0x1p128, at, fp.RZ, fp.OverInf, 0xFF800000},
		{fp.FP32, -0x1p128, at, fp.RD, fp.OverIEEE, 0xFF800000},
		{fp.FP32, -0x1p128, at, fp.RU, fp.OverIEEE, 0xFF7FFFFF},
		{fp.E4M3, 464, at, fp.RNE, fp.OverInf, 0x7E},
		{fp.E4M3, 464, at, fp.RNA, fp.OverInf, 0x7F},
		{fp.E4M3, 480, below, fp.RZ, fp.OverInf, 0x7E},
		{fp.E4M3, -480, at, fp.RZ, fp.OverInf, 0xFF},
		{fp.E5M2, 61440, below, fp.RNE, fp.OverInf, 0x7B},
		{fp.E5M2, 61440, at, fp.RNE, fp.OverInf, 0x7C},
		{fp.E5M2FNUZ, 61440, at, fp.RNE, fp.OverInf, 0x80},
		{fp.E4M3FNUZ, -248, at, fp.RNE, fp.OverInf, 0x80},
		{fp.E4M3FNUZ, -248, at, fp.RNE, fp.OverMax, 0xFF},
		{fp.E2M1, 5, at, fp.RNE, fp.OverInf, 0x6},
		{fp.E2M1, -1e9, at, fp.RNE, fp.OverInf, 0xF},
		{fp.E8M0, 0x1.8p127, below, fp.RNE, fp.OverInf, 0xFE},
		{fp.E8M0, 0x1.8p127, at, fp.RNE, fp.OverInf, 0xFF},
	} {
		if got := c.id.Get().Encode(dyadicOf(c.v, c.eps, 20), c.m, c.over); got != c.want {
			t.Errorf("%v of %v%+d, %v, overflow rule %d: %X, want %X", c.id, c.v, c.eps, c.m, c.over, got, c.want)
		}
	}
}

// FuzzEncode compares Encode with package big for whatever comes.
func FuzzEncode(f *testing.F) {
	f.Add(uint64(0), uint64(1), int32(0), false, uint8(fp.FP32), uint8(fp.RNE), uint8(fp.OverInf))
	f.Add(uint64(0), uint64(0), int32(0), true, uint8(fp.E4M3FNUZ), uint8(fp.RD), uint8(fp.OverIEEE))
	f.Add(uint64(1), uint64(1), int32(-298), true, uint8(fp.FP32), uint8(fp.RU), uint8(fp.OverIEEE))
	f.Add(uint64(1)<<63, uint64(1), int32(-2400), false, uint8(fp.FP64), uint8(fp.RTO), uint8(fp.OverMax))
	f.Add(uint64(0), uint64(4095), int32(8), false, uint8(fp.FP16), uint8(fp.RNA), uint8(fp.OverInf))
	f.Add(uint64(0), uint64(29), int32(8), true, uint8(fp.E4M3), uint8(fp.RZ), uint8(fp.OverInf))
	f.Add(uint64(0), uint64(3), int32(252), false, uint8(fp.E8M0), uint8(fp.RNE), uint8(fp.OverIEEE))
	f.Add(^uint64(0), ^uint64(0), int32(-1<<31), true, uint8(fp.UE4M3), uint8(fp.RD), uint8(fp.OverMax))
	f.Fuzz(func(t *testing.T, hi, lo uint64, q int32, neg bool, format, mode, rule uint8) {
		g := &golden[int(format)%len(golden)]
		m := fp.Modes()[int(mode)%len(fp.Modes())]
		over := overflows[int(rule)%len(overflows)]
		d := fp.Dyadic{Hi: hi, Lo: lo, Q: q / 2, Neg: neg} // Q within what Dyadic allows
		want := reference(g, d, m).code(g, neg, m, over)
		if got := g.id.Get().Encode(d, m, over); got != want {
			t.Errorf("%s of %+v, %v, overflow rule %d: %X, want %X", g.name, d, m, over, got, want)
		}
	})
}
