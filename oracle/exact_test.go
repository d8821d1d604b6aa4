package oracle

import (
	"math"
	"math/big"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ratDot is the value of a dot product of finite operands, in rationals.
func ratDot(f mma.Formats, d *mma.Dot) *big.Rat {
	rat := func(id fp.ID, code uint64) *big.Rat {
		return new(big.Rat).SetFloat64(natives()[id].read(code))
	}
	sum := new(big.Rat)
	if f.C != fp.None {
		sum = rat(f.C, d.C)
	}
	for i := range d.A {
		p := rat(f.A, d.A[i])
		p.Mul(p, rat(f.B, d.B[i]))
		if f.Scale != fp.None {
			p.Mul(p, rat(f.Scale, d.SA[i/int(f.Block)]))
			p.Mul(p, rat(f.Scale, d.SB[i/int(f.Block)]))
		}
		p.Mul(p, new(big.Rat).SetFloat64(math.Ldexp(1, -int(f.Down))))
		sum.Add(sum, p)
	}
	return sum
}

// floatDot is enough to decide whether a value is finite: no finite sum of
// these formats overflows float64 except with FP64 operands.
func floatDot(f mma.Formats, d *mma.Dot) float64 {
	o := newOperands(f, d)
	sum := o.c()
	for i := range d.A {
		x, y := o.pair(i, false)
		sum += float64(x * y)
	}
	return sum
}

var exactFormats = []mma.Formats{
	bf16, fp16, fp32, half, c0(bf16),
	{A: fp.TF32, B: fp.XF32, C: fp.FP32, D: fp.FP32},
	{A: fp.E4M3, B: fp.E5M2, C: fp.FP16, D: fp.FP16},
	{A: fp.E4M3FNUZ, B: fp.E5M2FNUZ, C: fp.FP32, D: fp.FP32},
	{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Down: 7},
	{A: fp.E5M2, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Down: 127},
	{A: fp.E3M2, B: fp.E2M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 4},
	{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 2},
}

func TestExactAgainstRat(t *testing.T) {
	g := newGenerator(4)
	for i := range 20000 {
		f := exactFormats[i%len(exactFormats)]
		d := g.dot(f, 4, i/len(exactFormats)%numStyles)
		x := ExactDot(f, d)
		v := floatDot(f, d)
		if math.IsNaN(v) != (x.Kind == NotANumber) || math.IsInf(v, 0) != (x.Kind == Infinite) {
			t.Fatalf("%v %v: kind %d, want that of %g", f, d, x.Kind, v)
		}
		if x.Kind == Infinite && x.Neg != (v < 0) {
			t.Fatalf("%v %v: %v, want %g", f, d, x, v)
		}
		if x.Kind != Finite {
			continue
		}
		want, got := ratDot(f, d), new(big.Rat).SetInt(x.Mant)
		two := new(big.Rat).SetFloat64(math.Ldexp(1, x.Exp)) // Exp > -1074 here
		if got.Mul(got, two).Cmp(want) != 0 {
			t.Fatalf("%v %v: %s, want %s", f, d, got, want)
		}
		if x.Mant.Sign() != 0 && (x.Mant.Bit(0) == 0 || x.Neg != (x.Mant.Sign() < 0)) {
			t.Fatalf("%v %v: %v is not in normal form", f, d, x)
		}
		if x.Mant.Sign() == 0 && x.Neg != math.Signbit(v) && v == 0 {
			t.Fatalf("%v %v: sign of zero is wrong", f, d)
		}
		// Nearest: no neighbour is nearer than the code.
		if u := math.Abs(x.Ulps(x.Code())); u > 0.5 && !math.IsInf(u, 1) {
			t.Fatalf("%v %v: %X is %g ulps off", f, d, x.Code(), u)
		}
	}
}

func exactOf(t *testing.T, f mma.Formats, a, b, c string) Exact {
	t.Helper()
	return ExactDot(f, testDot(t, f, evalTest{a: a, b: b, c: c}))
}

func TestExactCode(t *testing.T) {
	for _, c := range []struct {
		f       mma.Formats
		a, b, c string
		want    uint64
		text    string
		decimal string
	}{
		{fp32, "3F800000 3F800000", "", "3F800000", 0x40400000, "0x1.8p+1", "3"},
		{fp32, "3F800000", "", "BF800000", 0, "0x0p+0", "0"},
		{fp32, "80000000", "", "80000000", 0x80000000, "-0x0p+0", "-0"},
		{fp32, "80000000", "", "", 0, "0x0p+0", "0"},
		{c0(fp32), "80000000", "", "", 0x80000000, "-0x0p+0", "-0"},
		{fp32, "3F800000", "", "33800000", 0x3F800000, "0x1.000001p+0", "1.0000000596046448"},
		{fp32, "3F800000 00000001", "3F800000 00000001", "33800000", 0x3F800001,
			"0x1.000001000000000000000000000000000000000000000000000000000000000000000000004p+0", "1.0000000596046448"},
		{fp32, "7F7FFFFF", "40000000", "", 0x7F800000, "0x1.fffffep+128", "6.8056469327705772e+38"},
		{fp32, "7F7FFFFF", "", "73000000", 0x7F800000, "0x1.ffffffp+127", "3.4028235677973366e+38"}, // the middle
		{fp32, "7F7FFFFF", "", "72FFFFFF", 0x7F7FFFFF, "0x1.fffffeffffffp+127", "3.4028235677973306e+38"},
		{fp32, "00000001", "3F000000", "", 0, "0x1p-150", "7.0064923216240854e-46"},
		{fp32, "80000001", "3F000000", "", 0x80000000, "-0x1p-150", "-7.0064923216240854e-46"},
		{fp32, "00000001", "3F000001", "", 1, "0x1.000002p-150", "7.0064931568630573e-46"},
		{fp32, "FF800000", "", "", 0xFF800000, "-inf", "-inf"},
		{fp32, "FF800000", "", "7F800000", 0x7FC00000, "nan", "nan"},
		{fp32, "7F800000", "80000000", "", 0x7FC00000, "nan", "nan"},
		{fp32, "FFFFFFFF", "", "", 0x7FC00000, "nan", "nan"},
		{half, "6800", "", "3C00", 0x6800, "0x1.002p+11", "2049"},
		{half, "7BFF", "", "4C00", 0x7C00, "0x1.ffep+15", "65520"},
	} {
		x := exactOf(t, c.f, c.a, c.b, c.c)
		if got := x.Code(); got != c.want {
			t.Errorf("%s: code %X, want %X", c.text, got, c.want)
		}
		if got := x.String(); got != c.text {
			t.Errorf("text %s, want %s", got, c.text)
		}
		if got := x.Decimal(); got != c.decimal {
			t.Errorf("%s: decimal %s, want %s", c.text, got, c.decimal)
		}
	}
}

func TestUlps(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		f       mma.Formats
		a, b, c string
		code    uint64
		want    float64
	}{
		{"exact", fp32, "3F800000", "", "", 0x3F800000, 0},
		{"one up", fp32, "3F800000", "", "", 0x3F800001, 1},
		{"half a unit below 1", fp32, "3F800000", "", "", 0x3F7FFFFF, -0.5}, // the unit is that of 1
		{"below 1", fp32, "3F7FFFFF", "", "", 0x3F800000, 1},
		{"negative", fp32, "BF800000", "", "", 0xBF800001, -1},
		{"2^-24 above 1", fp32, "3F800000", "", "33800000", 0x3F800000, -0.5},
		{"other sign", fp32, "3F800000", "", "", 0xBF800000, -1 << 24},
		{"zero for the least", fp32, "00000001", "", "", 0, -1},
		{"least for zero", fp32, "0", "", "", 1, 1},
		{"sign of zero", fp32, "0", "", "", 0x80000000, 0},
		{"below the least", fp32, "00000001", "3E800000", "", 0, -0.25},
		{"least normal", fp32, "00800000", "", "", 0x007FFFFF, -1},
		{"far", fp32, "00000001", "00000001", "", 0x3F800000, 0x1p149},
		{"fp16", half, "6800", "", "3C00", 0x6801, 0.5},
		{"beyond the largest", half, "7BFF", "", "7BFF", 0x7BFF, -65504.0 / 64},
		{"rounded to infinity", half, "7BFF", "", "7BFF", 0x7C00, inf},
		{"infinite", fp32, "3F800000", "", "", 0xFF800000, -inf},
		{"infinity lost", fp32, "7F800000", "", "", 0x7F7FFFFF, -inf},
		{"negative infinity lost", fp32, "FF800000", "", "", 0, inf},
		{"same infinity", fp32, "7F800000", "", "", 0x7F800000, 0},
		{"other infinity", fp32, "7F800000", "", "", 0xFF800000, -inf},
		{"nan lost", fp32, "7FC00000", "", "", 0, nan},
		{"nan", fp32, "3F800000", "", "", 0x7FC00000, nan},
		{"both nan", fp32, "7FC00000", "", "", 0xFF800001, 0},
	} {
		if got := exactOf(t, c.f, c.a, c.b, c.c).Ulps(c.code); !same(got, c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// TestExactIsFused: a program that rounds once gives the exact value's code.
func TestExactIsFused(t *testing.T) {
	g := newGenerator(5)
	p := mma.Params{Special: ieee}
	for i := range 4000 {
		f := exactFormats[i%len(exactFormats)]
		d := g.dot(f, 8, i/len(exactFormats)%numStyles)
		p.Acc = mma.To(f.D, fp.RNE)
		p.Start = mma.StartC
		if f.C == fp.None {
			p.Start = mma.StartEmpty
		}
		evalEqual(t, f.String(), &p, f, 8, d, ExactDot(f, d).Code())
	}
}
