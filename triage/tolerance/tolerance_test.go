package tolerance_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	_ "github.com/mmafuzz/mmafuzz/devices/reference" // ref:
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/tolerance"
)

var formats = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}

func dotOf(t *testing.T, text string) *mma.Dot {
	t.Helper()
	d, err := mma.ParseDot(formats, 4, false, strings.Fields(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestJudge gives results of 2*2 - 1*1 + 0.5, whose sum of absolute values is 5.5.
func TestJudge(t *testing.T) {
	d := dotOf(t, "4000,3c00 4000,bc00 3f000000")
	inf := math.Inf(1)
	const right = 0x40600000 // 3.5
	for _, tc := range []struct {
		accept string
		x, y   uint64
		ratio  float64
	}{
		{"ulp=2", right, right, 0},
		{"ulp=2", right + 1, right, 0.5},
		{"ulp=2", right + 3, right, 1.5},
		{"ulp=0", right + 1, right, inf},
		{"ulp=9", 0x7fc00000, right, inf},
		{"ulp=9", 0x7fc00000, 0xffc00001, 0},
		{"ulp=1", 0x80000000, 0, 0},
		{"bound=2^-22", right + 1, right, 1},
		{"bound=2^-23", right + 1, right, 2},
		{"bound=2**-22*2", right + 1, right, 0.5},
		{"bound=S", 0x41100000, right, 1}, // 9 - 3.5 = 5.5
		{"bound=X", 0x40e00000, right, 1}, // 7 - 3.5
		{"bound=B/2+A/2", 0x40e00000, right, 3.5 / 5.25},
		{"bound=K*u*2^24", 0x40f00000, right, 1}, // 7.5 - 3.5
		{"bound=max(1, 3)-min(1,2) + eta*0", 0x40b00000, right, 1},
		{"bound=-(1-3)", 0x40b00000, right, 1},
		{"bound=1e+1/5", 0x40b00000, right, 1},
		{"bound=0", right, right, 0},
		{"bound=0", right + 1, right, inf},
		{"bound=1", 0x7f800000, right, inf},
	} {
		a, err := tolerance.Parse(tc.accept)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Judge(formats, d, tc.x, tc.y)
		if err != nil || !v.Judged || v.Ratio != tc.ratio || v.Beyond() != (tc.ratio > 1) {
			t.Errorf("%s: %08x beside %08x: %+v, %v; want a ratio of %g", tc.accept, tc.x, tc.y, v, err, tc.ratio)
		}
	}
}

// TestUnjudged gives operands of which a bound says nothing, or that are no numbers.
func TestUnjudged(t *testing.T) {
	a, err := tolerance.Parse("bound=u*S")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dot    string
		x, y   uint64
		judged bool
		beyond bool
	}{
		{"3c00 3c00 7f7fffff", 0x7f800000, 0x7f7fffff, false, false},
		{"7c00 3c00 00000000", 0x7f800000, 0x7f800000, true, false},
		{"7c00 3c00 00000000", 0x7f800000, 0x7f7fffff, true, true},
		{"7e00 3c00 00000000", 0x7fffffff, 0x7fc00000, true, false},
	} {
		v, err := a.Judge(formats, dotOf(t, tc.dot), tc.x, tc.y)
		if err != nil || v.Judged != tc.judged || v.Beyond() != tc.beyond {
			t.Errorf("%s: %+v, %v", tc.dot, v, err)
		}
	}
}

// TestParse gives what is no expression.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"ulp": `--accept is "ulp"`, "ulp=-1": `--accept is "ulp=-1"`, "bits=1": `--accept is "bits=1"`, "near": `--accept is "near"`,
		"bound=": "it ends where a number or a name should follow", "bound=u*": "it ends where", "bound=(u": `a ) is missing before ""`,
		"bound=u u": `"u" is left over`, "bound=w": `"w" is no name; names: u, eta, K, S, X, A, B, max(,), min(,)`, "bound=max(1)": "max takes two numbers",
		"bound=min": "min takes two numbers in parentheses", "bound=1.2.3": `"1.2.3" is no number`, "bound=1e": "is no number", "bound=é": "is no name",
	} {
		if _, err := tolerance.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"bound=1/0": "division by zero", "bound=0^-1": "division by zero", "bound=2^0.5": "is not a whole number", "bound=2^1e9": "is not a whole number"} {
		a, err := tolerance.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Judge(formats, dotOf(t, "3c00 3c00 00000000"), 0, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"bound=(K+1)*u*S", "bound=1e-5+1e-3*max(A,B)", "ulp=3", "bound=-2^-3**2", "bound=((2^5000)^5000)^5000-((2^5000)^5000)^5000"} {
		f.Add(text)
	}
	d, _ := mma.ParseDot(formats, 4, false, []string{"3c00", "3c00", "00000000"})
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := tolerance.Parse(text); err == nil && len(text) < 100 {
			_, _ = a.Judge(formats, d, 0x3f800000, 0x3f800001)
		}
	})
}

// pairOf returns a unit, with a function of it, as a pair.
func pairOf(t *testing.T, change func(d *mma.Dot, code uint64) uint64) *devices.Pair {
	t.Helper()
	const inst = "mma.m16n8k8.f32.f16.f16.f32"
	target, u, err := open.Unit("sim:hopper", inst, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return &devices.Pair{TargetA: "mine", TargetB: "sim:hopper", K: 8, B: u, A: devices.Func(u.Instruction(), func(d *mma.Dot) uint64 {
		code, err := devices.Result(t.Context(), u, d)
		if err != nil {
			t.Error(err)
		}
		return change(d, code)
	})}
}

// TestHunt gives units that are off by a known number of codes.
func TestHunt(t *testing.T) {
	for _, tc := range []struct {
		accept string
		change func(d *mma.Dot, code uint64) uint64
		worst  float64
		input  string
	}{
		{"ulp=2", func(_ *mma.Dot, code uint64) uint64 { return code }, 0, ""},
		{"ulp=2", func(_ *mma.Dot, code uint64) uint64 {
			if code < 0x7f000000 {
				return code + 1
			}
			return code
		}, 0.5, "0000 0000 00000000"},
		{"ulp=2", func(d *mma.Dot, code uint64) uint64 { // 8 where the first product is that of two odd numbers
			if d.A[0]&1 == 1 && d.B[0]&1 == 1 && code < 0x7f000000 {
				return code + 8
			}
			return code
		}, 4, "3c01 3c01 00000000"},
	} {
		a, err := tolerance.Parse(tc.accept)
		if err != nil {
			t.Fatal(err)
		}
		h, err := tolerance.Hunt(t.Context(), pairOf(t, tc.change), a, 1, 3000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if float64(h.Worst) != tc.worst || h.Input != tc.input || (h.Beyond > 0) != (tc.worst > 1) || h.Inputs != 3000 {
			t.Errorf("%+v; want %g on %q", h, tc.worst, tc.input)
		}
	}
}

// TestMeasure measures a unit that adds 2^-10 to every result, against what it would give else.
func TestMeasure(t *testing.T) {
	p := pairOf(t, func(_ *mma.Dot, code uint64) uint64 {
		return uint64(math.Float32bits(math.Float32frombits(uint32(code)) + 0x1p-10))
	})
	g, err := gen.Find("normal")
	if err != nil {
		t.Fatal(err)
	}
	m := tolerance.Measurement{Unit: p.A, Against: p.B, K: 8, Generator: g, Seed: 1, Count: 500}
	got, err := m.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got.Rtol, got.Atol, got.Fresh, got.Zeros); s != "1.2e-07 0.00098 0 0" {
		t.Errorf("%s, of %+v", s, got)
	}
}

// TestMeasureFar measures a unit whose errors, squared, are beyond the largest number: JSON has them all.
func TestMeasureFar(t *testing.T) {
	doubles := mma.Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
	of := func(v float64) devices.Unit {
		return devices.Func(&mma.Instruction{Name: "x", K: 1, Formats: doubles}, func(*mma.Dot) uint64 { return math.Float64bits(v) })
	}
	g, err := gen.Find("normal")
	if err != nil {
		t.Fatal(err)
	}
	m := tolerance.Measurement{Unit: of(-1e300), Against: of(1), K: 1, Generator: g, Seed: 1, Count: 10}
	got, err := m.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(got); err != nil || got.Norm != math.MaxFloat64 {
		t.Errorf("%+v: %v", got, err)
	}
}
