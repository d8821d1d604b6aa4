package oracle

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chainParams is the program of a reference other than exact.
func chainParams(format fp.ID, fused, reverse bool, d fp.ID) mma.Params {
	p := mma.FMA(format)
	if !fused {
		p.Prod.Round = mma.To(format, fp.RNE)
	}
	if reverse {
		p.Order = mma.Descending
	}
	if d != format {
		p.Out = mma.To(d, fp.RNE)
	}
	return p
}

func TestReferencesAgainstEval(t *testing.T) {
	programs := map[string]func(d fp.ID) mma.Params{
		"fma32":     func(d fp.ID) mma.Params { return chainParams(fp.FP32, true, false, d) },
		"fma32-rev": func(d fp.ID) mma.Params { return chainParams(fp.FP32, true, true, d) },
		"fma64":     func(d fp.ID) mma.Params { return chainParams(fp.FP64, true, false, d) },
		"fma64-rev": func(d fp.ID) mma.Params { return chainParams(fp.FP64, true, true, d) },
		"mul32":     func(d fp.ID) mma.Params { return chainParams(fp.FP32, false, false, d) },
		"mul32-rev": func(d fp.ID) mma.Params { return chainParams(fp.FP32, false, true, d) },
		"mul64":     func(d fp.ID) mma.Params { return chainParams(fp.FP64, false, false, d) },
		"mul64-rev": func(d fp.ID) mma.Params { return chainParams(fp.FP64, false, true, d) },
		"mul": func(d fp.ID) mma.Params {
			p := chainParams(d, false, false, d)
			p.Start = mma.StartEmpty
			return p
		},
	}
	formats := append([]mma.Formats{{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}, {A: fp.FP64, B: fp.FP64, D: fp.FP64},
		{A: fp.FP32, B: fp.FP32, D: fp.FP32}, {A: fp.BF16, B: fp.BF16, D: fp.BF16}}, exactFormats...)
	g := newGenerator(6)
	cases := 3600 // of each reference
	if testing.Short() {
		cases /= 10
	}
	for _, r := range References {
		program, ok := programs[r.Name]
		if !ok && r.Name != "exact" {
			t.Errorf("%s is not tested", r.Name)
		}
		for i := range cases {
			f := formats[i%len(formats)]
			if !ok || r.Supports(f) != nil {
				continue
			}
			d := g.dot(f, 4, i/len(formats)%numStyles)
			p := program(f.D)
			if want, got := Eval(&p, f, 4, d), r.Eval(f, d); got != want {
				t.Fatalf("%s %v %X: %X, want %X", r.Name, f, *d, got, want)
			}
		}
	}
}

// TestAddOnce is about the one operation that hardware does not have: the FP32
// sum of an FP32 number and a double-length product.
func TestAddOnce(t *testing.T) {
	next := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	for _, c := range []struct {
		p    float64
		acc  float32
		want float32
	}{
		// The middle between 1 and its FP32 neighbour, and beside it: rounding
		// to FP64 first would lose 2^-80.
		{0x1p-24, 1, 1},
		{0x1p-24 + 0x1p-70, 1, 1 + 0x1p-23},
		{0x1p-24 - 0x1p-70, 1, 1},
		{0x1p-24, 1 + 0x1p-23, 1 + 0x1p-22},
		{0x1p-24 - 0x1p-70, 1 + 0x1p-23, 1 + 0x1p-23},
		{-0x1p-24 - 0x1p-70, 1 + 0x1p-23, 1},
		{next(0x1p-150), 0, 0x1p-149},
		{0x1p-150, 0, 0},
		{0x1p-200, 0x1p-149, 0x1p-149},
		{0x1p103, math.MaxFloat32, float32(math.Inf(1))},
		{0x1p103 - 0x1p60, math.MaxFloat32, math.MaxFloat32},
		{-0x1p-300, -0x1p127, -0x1p127},
		{0, 0, 0},
		{0x1p300, float32(math.Inf(-1)), float32(math.Inf(-1))},
	} {
		if got := addOnce(c.p, c.acc); math.Float32bits(got) != math.Float32bits(c.want) {
			t.Errorf("%x + %x = %x, want %x", c.p, c.acc, got, c.want)
		}
		if got := addOnce(-c.p, -c.acc); math.Float32bits(got) != math.Float32bits(-c.want) {
			t.Errorf("%x + %x = %x, want %x", -c.p, -c.acc, got, -c.want)
		}
	}
	if got := addOnce(1, -1); math.Float32bits(got) != 0 {
		t.Errorf("1 - 1 = %g", got)
	}
	if got := addOnce(math.Inf(1), float32(math.Inf(-1))); got == got {
		t.Errorf("Inf - Inf = %g", got)
	}
}

func TestReferencesDiffer(t *testing.T) {
	// 2^24, four ones; c = 0. Every reference is one of two results.
	d := testDot(t, bf16, evalTest{a: "4B80 3F80 3F80"})
	for name, want := range map[string]uint64{
		"exact": 0x4B800001, "fma32": 0x4B800000, "fma32-rev": 0x4B800001,
		"mul32": 0x4B800000, "mul32-rev": 0x4B800001, "fma64": 0x4B800001,
		"fma64-rev": 0x4B800001, "mul64": 0x4B800001, "mul64-rev": 0x4B800001,
	} {
		r, ok := FindReference(name)
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		if got := r.Eval(bf16, d); got != want {
			t.Errorf("%s: %X, want %X", name, got, want)
		}
	}
	// (1+2^-23)^2 - (1+2^-22) is 2^-46, unless the product is rounded.
	d = testDot(t, fp32, evalTest{a: "3F800001", b: "3F800001", c: "BF800002"})
	for name, want := range map[string]uint64{"fma32": 0x28800000, "mul32": 0, "mul64": 0x28800000} {
		r, _ := FindReference(name)
		if got := r.Eval(fp32, d); got != want {
			t.Errorf("%s: %X, want %X", name, got, want)
		}
	}
	if _, ok := FindReference("fma16"); ok {
		t.Error("there is a fma16")
	}
}

func TestSupports(t *testing.T) {
	f64 := mma.Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
	scaled := func(f mma.Formats, s fp.ID) mma.Formats {
		f.Scale, f.Block = s, 4
		return f
	}
	for _, c := range []struct {
		name string
		f    mma.Formats
		ok   bool
	}{
		{"exact", f64, true},
		{"exact", scaled(f64, fp.E8M0), true},
		{"fma32", f64, false},
		{"mul32-rev", f64, false},
		{"fma32", mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.None, D: fp.FP64}, false},
		{"fma32", c0(bf16), true},
		{"fma32", scaled(fp32, fp.E8M0), true},
		{"fma32", scaled(fp32, fp.UE4M3), false}, // 24+24+4+4 bits
		{"fma64", scaled(fp32, fp.UE4M3), true},
		{"fma64", f64, true},
		{"fma64", scaled(f64, fp.E8M0), false},
		{"mul64", scaled(f64, fp.UE4M3), false},
		{"mul", f64, false},
		{"mul", c0(f64), true},
		{"mul", c0(fp32), true},
		{"mul", mma.Formats{A: fp.FP64, B: fp.FP64, D: fp.FP32}, false}, // rounded twice
	} {
		r, _ := FindReference(c.name)
		if err := r.Supports(c.f); (err == nil) != c.ok {
			t.Errorf("%s %v: %v, want supported: %t", c.name, c.f, err, c.ok)
		}
	}
}
