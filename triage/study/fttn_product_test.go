package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fttnFill is a way to compute D = C - A*B of section V of FTTN, with 2^13 terms. The text fills in
// small elements that are positive; the formula above it subtracts them from 2^10 * 2^10.
type fttnFill struct {
	name   string
	sign   float64 // of the small terms of A*B
	chain  bool    // -A*B is added to C, term by term; else A*B is summed from 0 and subtracted from C
	theirs string  // why results differ from those printed
}

var fttnFills = []fttnFill{
	{"signs of the formula, A*B from 0", -1, false, ""},
	{"signs of the formula, from C on", -1, true, "C is cancelled first, so that small terms are added to small sums"},
	{"signs of the text, A*B from 0", 1, false, "with positive small elements A*B is C or larger, so that D is 0 or negative"},
}

const fttnC = 1 << 20

// of returns D as a unit computes it.
func (f *fttnFill) of(formats mma.Formats, m *sim.Model) float64 {
	d := mma.NewDot(formats, 1<<13)
	a, b := formats.A.Get().FromFloat64, formats.B.Get().FromFloat64
	of := 1.0 // of A
	if f.chain {
		of, d.C = -1, formats.C.Get().FromFloat64(fttnC)
	}
	for k := range d.A {
		d.A[k], d.B[k] = a(of*f.sign*0x1p-3*float64(1+k%2)), b(0x1p-3)
	}
	d.A[0], d.B[0] = a(of*0x1p10), b(0x1p10)
	sum := formats.D.Get().Float64(m.Dot(d, nil))
	if f.chain {
		return sum
	}
	return fttnC - sum
}

// fttnProduct makes the matrix product of FTTN, section V.
func fttnProduct(context.Context, *Request) ([]entry, error) {
	fp32 := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	cpu, err := sim.NewLong(fp32, 1<<13, mma.FMA(fp.FP32))
	if err != nil {
		return nil, err
	}
	const exact = 0x1p12*0x1p-5 + (0x1p12-1)*0x1p-6 // the small terms
	all := []entry{
		same("the sum", "exact, signs of the formula", Number(exact).exactly(), "191.99218", "2^7 + 2^6 - 2^-6, as the text has it; the printed digits are those of 2^7 + 2^6 - 2^-7"),
		same("the sum", "exact, signs of the text", Number(-exact).exactly(), "191.99218", "the text fills in positive elements alone"),
		same("introduction", "log10 of 191.875 and 255.875 over the 3 digits of FP16", fmt.Sprintf("%.1f and %.1f", math.Log10(191.875e3), math.Log10(255.875e3)), "six orders of magnitude", "the text does not say what is expected of FP16; beside the three fractional digits that it speaks of, these are five orders"),
	}
	// A_0j * B_0j of every term: row 0 of B is 2^10.
	all = append(all, same("the formula", "D_0j, with B_ij in every term as printed", fmt.Sprint(int(fttnC-(fttnC-0x1p12*0x1p-2*0x1p10-(0x1p12-1)*0x1p-3*0x1p10))), Number(exact).exactly(), "a slip in the indices, as in equation (1): the terms of the product are A_ik * B_kj"))
	for _, f := range fttnFills {
		all = append(all, same("CPU, FP32 in order", "D, "+f.name, Number(f.of(fp32, cpu)).exactly(), "0", f.theirs))
	}
	const cdna2 = "CDNA2's FP16 unit adds pairs of small products before c (arXiv:2511.10909, section 4.1.1), so that they survive. 0 is what a unit of width 1 gives, and that is the width which FTTN has for it: two results of the paper that agree with each other and not with ours"
	const accident = "equal by accident: a chain, as the CPU's, while the printed result is that of the FP16 unit"
	for _, p := range []struct {
		unit   [2]string
		theirs float64
		why    string
		some   int // of the fills
	}{
		{[2]string{"volta", "mma.m8n8k4.f32.f16.f16.f32"}, 0, "", 3},
		{[2]string{"ampere", "mma.m16n8k16.f32.f16.f16.f32"}, 0, "", 3},
		{[2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, 191.875, "", 3},
		{[2]string{"hopper", "mma.m16n8k8.f32.f16.f16.f32"}, 191.875, "a step has 8 products here: the printed result is that of 16", 1},
		{[2]string{"cdna1", "v_mfma_f32_16x16x16f16"}, 255.875, "", 3},
		{[2]string{"cdna2", "v_mfma_f32_16x16x16f16"}, 0, cdna2, 3},
		{[2]string{"cdna1", "v_mfma_f32_16x16x4f32"}, 255.875, "a chain, as the CPU's: the printed result is that of the FP16 unit", 1},
		{[2]string{"cdna2", "v_mfma_f32_16x16x4f32"}, 0, accident, 1},
	} {
		i, err := mma.Lookup(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		for _, f := range fttnFills[:p.some] {
			why := p.why
			if f.theirs != "" {
				why = f.theirs
			}
			e := same(i.FullName(), "D, "+f.name, Number(f.of(i.Formats, m)).exactly(), Number(p.theirs).exactly(), why)
			if p.why == accident {
				e.Why = accident
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// fttnLoss makes entries of what section V of FTTN says the loss depends on: the bits that a unit keeps,
// and the products that it adds at a time. Others are as in the H100.
func fttnLoss(context.Context, *Request) ([]entry, error) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, p := range []struct {
		what    string
		lengths []uint8
		extra   []mma.Frac
	}{
		{"0 to 4 extra bits, 16 products", []uint8{16}, []mma.Frac{0, 1, 2, 3, 4}},
		{"2 extra bits, 4, 8, 16 and 32 products", []uint8{4, 8, 16, 32}, []mma.Frac{2}},
	} {
		var ours []string
		for _, l := range p.lengths {
			for _, extra := range p.extra {
				params := i.Params
				params.L, params.Join.Align.F = l, 23+extra
				m, err := sim.New(i.Formats, 32, params)
				if err != nil {
					return nil, err
				}
				ours = append(ours, Number(fttnFills[0].of(i.Formats, m)).exactly())
			}
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(ours)))
		all = append(all, entry{"H100, changed", "D, " + fttnFills[0].name + ": " + p.what, strings.Join(ours, ", "), "the loss may vary", len(distinct) > 1, "", statement})
	}
	return all, nil
}
