package oracle

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// value is a term as a float64, which holds every number of every format.
func (t term) value() float64 {
	switch {
	case t.kind == NotANumber:
		return math.NaN()
	case t.kind == Infinite:
		return infinity(t.neg)
	case t.isZero() && t.neg:
		return math.Copysign(0, -1)
	}
	return float(t.m.toBig(), t.q)
}

func same(x, y float64) bool {
	return x != x && y != y || math.Float64bits(x) == math.Float64bits(y)
}

func TestDecodeKnown(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, c := range []struct {
		id   fp.ID
		code uint64
		want float64
		e    int // nominal exponent, for numbers other than 0
	}{
		{fp.FP64, 0x0000000000000001, 0x1p-1074, -1022},
		{fp.FP64, 0xFFEFFFFFFFFFFFFF, -math.MaxFloat64, 1023},
		{fp.FP32, 0x00000001, 0x1p-149, -126},
		{fp.FP32, 0x007FFFFF, 0x1.fffffcp-127, -126},
		{fp.FP32, 0xFF7FFFFF, -math.MaxFloat32, 127},
		{fp.FP32, 0x80000000, zero, 0},
		{fp.FP32, 0x7F800000, inf, 0},
		{fp.FP32, 0x7F800001, nan, 0},
		{fp.TF32, 0x7F801FFF, inf, 0}, // the low 13 bits are not there
		{fp.TF32, 0x7F802000, nan, 0},
		{fp.XF32, 0x3F801FFF, 1, 0},
		{fp.TF32, 0x00001FFF, 0, 0},
		{fp.BF16, 0x0001, 0x1p-133, -126},
		{fp.FP16, 0x0001, 0x1p-24, -14},
		{fp.FP16, 0x7BFF, 65504, 15},
		{fp.FP16, 0xFC00, -inf, 0},
		{fp.E5M2, 0x01, 0x1p-16, -14},
		{fp.E5M2, 0x7B, 57344, 15},
		{fp.E5M2, 0x7C, inf, 0},
		{fp.E4M3, 0x7E, 448, 8},
		{fp.E4M3, 0x78, 256, 8},
		{fp.E4M3, 0xFF, nan, 0},
		{fp.E4M3, 0x80, zero, 0},
		{fp.E5M2FNUZ, 0x01, 0x1p-17, -15},
		{fp.E5M2FNUZ, 0x7F, 57344, 15},
		{fp.E5M2FNUZ, 0x80, nan, 0},
		{fp.E4M3FNUZ, 0x01, 0x1p-10, -7},
		{fp.E4M3FNUZ, 0xFF, -240, 7},
		{fp.E4M3FNUZ, 0x80, nan, 0},
		{fp.E3M2, 0x1F, 28, 4},
		{fp.E3M2, 0x21, -0x1p-4, -2},
		{fp.E2M3, 0x1F, 7.5, 2},
		{fp.E2M3, 0x01, 0.125, 0},
		{fp.E2M1, 0x0F, -6, 2},
		{fp.E2M1, 0x01, 0.5, 0},
		{fp.E2M1, 0xF1, 0.5, 0}, // only four bits of the byte
		{fp.E8M0, 0x00, 0x1p-127, -127},
		{fp.E8M0, 0xFE, 0x1p127, 127},
		{fp.E8M0, 0xFF, nan, 0},
		{fp.UE4M3, 0x01, 0x1p-9, -6},
		{fp.UE4M3, 0xFE, 448, 8}, // bit 7 is ignored
		{fp.UE4M3, 0x7F, nan, 0},
		{fp.UE4M3, 0x80, 0, 0},
	} {
		got := decode(c.id, c.code)
		if !same(got.value(), c.want) {
			t.Errorf("%s %X = %g, want %g", c.id, c.code, got.value(), c.want)
		}
		if n := got.kind == Finite && c.want != 0; n && (got.null || got.e != c.e) {
			t.Errorf("%s %X has exponent %d (null: %t), want %d", c.id, c.code, got.e, got.null, c.e)
		}
		if c.want == 0 && !got.null {
			t.Errorf("%s %X is not null", c.id, c.code)
		}
	}
}

// TestEncodePanics: only an invalid program ends in a number that D's format
// does not have.
func TestEncodePanics(t *testing.T) {
	for _, x := range []term{
		{m: newInteger(0x1001)},      // 13 bits
		{m: newInteger(1), q: -25},   // half the least number
		{m: newInteger(1), q: 16},    // 2^16
		{m: newInteger(1), q: -1000}, // far below
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d*2^%d is an FP16 number", x.m.toBig(), x.q)
				}
			}()
			encode(x, fp.FP16, mma.Special{NaN: mma.NaNQuiet})
		}()
	}
}

// TestNative checks the two readers and writers of this package against each
// other: all codes of up to 16 bits, and many of more.
func TestNative(t *testing.T) {
	g := newGenerator(2)
	for _, id := range fp.All() {
		f := id.Get()
		codes, n := func(i int) uint64 { return uint64(i) }, 1<<f.CodeBits()
		if f.CodeBits() > 16 {
			codes, n = func(i int) uint64 { return g.code(id, i%numStyles) }, 20000
		}
		for i := range n {
			code := codes(i)
			slow, fast := decode(id, code), natives()[id].read(code)
			if !same(slow.value(), fast) {
				t.Fatalf("%s %X: %g and %g", id, code, slow.value(), fast)
			}
			if f.Specials != fp.IEEE || f.Low != 0 {
				continue
			}
			want := code
			if slow.kind == NotANumber {
				want = nanCode(slow, f, mma.Special{NaN: mma.NaNQuiet})
			}
			if x, y := encode(slow, id, mma.Special{NaN: mma.NaNQuiet}), natives()[id].write(fast); x != want || y != want {
				t.Fatalf("%s %X: written as %X and %X, want %X", id, code, x, y, want)
			}
		}
	}
}

func TestNativeWriteRounds(t *testing.T) {
	g := newGenerator(3)
	e := evaluator{Params: &exactly}
	for i := range 20000 {
		id := []fp.ID{fp.FP32, fp.BF16, fp.FP16, fp.E5M2}[i%4]
		f := id.Get()
		// Numbers around the format's range, with a tie of a narrower format
		// every other time.
		code := g.code(id, (i/4)%numStyles)
		v := natives()[id].read(code) * (1 + math.Ldexp(float64(g.IntN(9)-4), -int(f.FracBits)-3))
		if g.IntN(2) == 0 {
			v = math.Float64frombits(math.Float64bits(v) + g.Uint64N(5) - 2)
		}
		x := decode(fp.FP64, math.Float64bits(v))
		to := mma.To(id, fp.RNE)
		e.round(&x, &to)
		want := encode(x, id, mma.Special{NaN: mma.NaNQuiet})
		if got := natives()[id].write(v); got != want {
			t.Fatalf("%s %g: written as %X, want %X", id, v, got, want)
		}
	}
}
