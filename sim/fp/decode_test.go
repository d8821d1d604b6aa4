package fp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// random returns a generator that is the same in every run.
func random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(0x6D6D61, stream)) }

// edgeCodes are the codes around the borders of binades and of special values,
// for formats too wide to be tried in full.
func edgeCodes(g *facts) (codes []uint64) {
	mask := ^uint64(0) >> (64 - g.codeBits)
	top := g.frac + g.low
	for field := range uint64(1) << g.exp {
		if 8 < field && field < 1<<g.exp-8 && field != uint64(g.bias) {
			continue
		}
		for _, low := range []uint64{0, 1, 2, 1 << g.low, 1 << (top - 1)} {
			c := field<<top + low
			codes = append(codes, c, (field<<top-low)&mask, c|g.signBit(), (field<<top-low)&mask|g.signBit())
		}
	}
	return codes
}

// sampleCodes are all codes of a small format, and edges and n random codes of
// a wide one.
func sampleCodes(g *facts, n int) (codes []uint64) {
	if g.small() {
		for c := range uint64(1) << g.codeBits {
			codes = append(codes, c)
		}
		return codes
	}
	codes = edgeCodes(g)
	r := random(uint64(g.id))
	for range n {
		codes = append(codes, r.Uint64()>>(64-g.codeBits))
	}
	return codes
}

// native is the value of a code of a wide format by the conversions of package
// math; ok is false for the formats that Go lacks.
func native(g *facts, code uint64) (v float64, ok bool) {
	switch g.id {
	case fp.FP64:
		return math.Float64frombits(code), true
	case fp.FP32:
		return float64(math.Float32frombits(uint32(code))), true
	case fp.TF32, fp.XF32:
		return float64(math.Float32frombits(uint32(code) &^ 0x1FFF)), true
	}
	return 0, false
}

// TestReference compares the two references on the formats that Go has.
func TestReference(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, _ *fp.Format) {
		for _, c := range sampleCodes(g, 20000) {
			if v, ok := native(g, c); ok && !same(v, g.value(c)) {
				t.Fatalf("code %X: %v, want %v", c, g.value(c), v)
			}
		}
	})
}

func TestDecode(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		nans := uint64(0)
		for _, c := range sampleCodes(g, 100000) {
			checkDecode(t, g, f, c)
			if t.Failed() {
				return
			}
			if f.Decode(c).Class == fp.NaN {
				nans++
			}
		}
		if g.small() && nans != g.nans {
			t.Errorf("%d codes are NaN, want %d", nans, g.nans)
		}
	})
}

// checkDecode compares class, sign and value with the reference. Value and
// normalisation together leave no choice for Sig and Exp.
func checkDecode(t *testing.T, g *facts, f *fp.Format, c uint64) {
	t.Helper()
	n, v := f.Decode(c), g.value(c)
	if want := classOf(v); n.Class != want {
		t.Errorf("code %X: class %d, want %d", c, n.Class, want)
		return
	}
	if neg := c&g.signBit() != 0; n.Neg != neg {
		t.Errorf("code %X: Neg is %v", c, n.Neg)
	}
	if got := f.Float64(c); !same(got, v) {
		t.Errorf("code %X: Float64 gives %v, want %v", c, got, v)
	}
	if n.Class >= fp.Inf {
		if frac := c >> g.low % (1 << g.frac); n.Sig != frac {
			t.Errorf("code %X: fraction %X, want %X", c, n.Sig, frac)
		}
		return
	}
	if got := math.Ldexp(float64(n.Sig), int(n.Exp)-g.frac); got != math.Abs(v) {
		t.Errorf("code %X: %d * 2^(%d-%d), want %v", c, n.Sig, n.Exp, g.frac, math.Abs(v))
	}
	if hidden := math.Abs(v) >= g.minNorm; hidden != (n.Sig>>g.frac == 1) || !hidden && int(n.Exp) != g.emin {
		t.Errorf("code %X: significand %X and exponent %d are not the fields'", c, n.Sig, n.Exp)
	}
	if d := f.Dyadic(n); d != (fp.Dyadic{Lo: n.Sig, Q: n.Exp - int32(g.frac), Neg: n.Neg}) {
		t.Errorf("code %X: Dyadic gives %+v", c, d)
	}
	if junk := f.Decode(c | junkAbove(g)); junk != n {
		t.Errorf("code %X: bits above the code are read: %+v, want %+v", c, junk, n)
	}
}

func classOf(v float64) fp.Class {
	switch {
	case math.IsNaN(v):
		return fp.NaN
	case math.IsInf(v, 0):
		return fp.Inf
	case v == 0:
		return fp.Zero
	}
	return fp.Finite
}

// junkAbove has all bits set that are no part of a code.
func junkAbove(g *facts) uint64 {
	if g.codeBits == 64 {
		return 0
	}
	return ^uint64(0) << g.codeBits
}

// canonical is the code that Encode gives for the value of a finite code:
// without the bits that Decode drops.
func canonical(g *facts, c uint64) uint64 {
	kept := ^(^uint64(0) << (g.sign + g.exp + g.frac + g.low))
	return c & kept >> g.low << g.low
}

func TestRoundTrip(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		for _, c := range sampleCodes(g, 20000) {
			n, want := f.Decode(c), canonical(g, c)
			if n.Class >= fp.Inf {
				continue
			}
			for _, m := range fp.Modes() {
				for _, over := range overflows {
					if got := f.Encode(f.Dyadic(n), m, over); got != want {
						t.Fatalf("code %X, %v, overflow rule %d: %X, want %X", c, m, over, got, want)
					}
				}
			}
			if got := f.FromFloat64(g.value(c)); got != want {
				t.Fatalf("FromFloat64(%v) = %X, want %X", g.value(c), got, want)
			}
		}
	})
}

func TestFromFloat64(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		largest := [2]uint64{g.maxCode, g.maxCode | g.signBit()}
		for i, s := range []int{1, -1} {
			checkCode(t, "infinity", f.FromFloat64(math.Inf(s)), largest[i])
			checkCode(t, "largest float64", f.FromFloat64(float64(s)*math.MaxFloat64), largest[i])
		}
		if g.nans == 0 {
			mustPanic(t, "FromFloat64(NaN)", func() { f.FromFloat64(math.NaN()) })
		} else {
			checkCode(t, "NaN", f.FromFloat64(math.NaN()), g.quiet)
		}
		r := random(uint64(g.id))
		for range 2000 {
			// From a quarter of the smallest number to four times the largest.
			v := math.Ldexp(r.Float64()-0.5, g.emin-g.frac+r.IntN(g.emax-g.emin+g.frac+4))
			// And half way between two numbers, which are ties.
			tie := math.Float64frombits(math.Float64bits(v) &^ (1<<max(0, 51-g.frac) - 1))
			for _, v := range []float64{v, tie} {
				want := reference(g, dyadicOf(v, 0, 0), fp.RNE).code(g, math.Signbit(v), fp.RNE, fp.OverMax)
				if got := f.FromFloat64(v); got != want {
					t.Fatalf("FromFloat64(%v) = %X, want %X", v, got, want)
				}
			}
		}
	})
}
