package oracle

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The tests of Eval are written as programs and operands in hexadecimal, with
// results derived by hand. Most use BF16 operands and a B of ones, so that the
// products are the numbers in A:
//
//	3F80 1    4000 2    4B80 2^24    BF80 -1    CB80 -2^24
//
// and FP32 results around 2^24, whose unit in the last place is 2:
//
//	4B800000 2^24    4B800001 2^24+2    4B800002 2^24+4
type evalTest struct {
	name    string
	p       mma.Params
	a, b, c string // b: all ones if ""; c: +0 if ""
	want    uint64
}

var (
	bf16  = mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	fp16  = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	fp32  = mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	half  = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
	ieee  = mma.Special{NaN: mma.NaNQuiet, NegZero: true, TinySign: true}
	rne32 = mma.To(fp.FP32, fp.RNE)
)

// ones are the codes of 1.
var ones = map[fp.ID]string{fp.FP32: "3F800000", fp.BF16: "3F80", fp.FP16: "3C00", fp.E5M2: "3C", fp.E4M3: "38", fp.E2M1: "02"}

func runEval(t *testing.T, f mma.Formats, tests []evalTest) {
	t.Helper()
	for _, c := range tests {
		d := testDot(t, f, c)
		evalEqual(t, c.name, &c.p, f, len(d.A), d, c.want)
	}
}

// testDot reads the operands of a test.
func testDot(t *testing.T, f mma.Formats, c evalTest) *mma.Dot {
	t.Helper()
	d := &mma.Dot{A: hexCodes(t, c.a), B: hexCodes(t, c.b)}
	if c.b == "" {
		d.B = hexCodes(t, strings.Repeat(ones[f.B]+" ", len(d.A)))
	}
	if c.c != "" {
		d.C = hexCodes(t, c.c)[0]
	}
	return d
}

func hexCodes(t *testing.T, s string) []uint64 {
	t.Helper()
	var codes []uint64
	for word := range strings.FieldsSeq(s) {
		code, err := strconv.ParseUint(word, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	return codes
}

// evalEqual also requires that the program is valid.
func evalEqual(t *testing.T, name string, p *mma.Params, f mma.Formats, k int, d *mma.Dot, want uint64) {
	t.Helper()
	if err := p.Validate(f, k); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := Eval(p, f, k, d); got != want {
		digits := f.D.Get().Digits()
		t.Errorf("%s: %0*X, want %0*X", name, digits, got, digits, want)
	}
}

// fma is a chain of fused multiply-adds with a changed part.
func fma(change func(*mma.Params)) mma.Params {
	p := mma.FMA(fp.FP32)
	if change != nil {
		change(&p)
	}
	return p
}

// c0 is formats without C.
func c0(f mma.Formats) mma.Formats {
	f.C = fp.None
	return f
}
