package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// fpscrModes are the settings of FPSCR.RN.
const fpscrModes = "{,.rd,.ru,.rz}"

// four is the rows or columns of an accumulator of 4x4.
var four = Range{4, 4, 1}

var powerForms = []form{
	{names: "xvbf16ger2pp", modes: fpscrModes, m: four, n: four, k: 2, formats: "f32.bf16.bf16.f32"},
	{names: "xvf16ger2pp", modes: fpscrModes, m: four, n: four, k: 2, formats: "f32.f16.f16.f32"},
	{names: "xvf32gerpp", modes: fpscrModes, m: four, n: four, k: 1, formats: "f32.f32.f32.f32"},
	{names: "xvf64gerpp", modes: fpscrModes, m: four, n: two, k: 1, formats: "f64.f64.f64.f64"},
}

var power = []decl{
	// After an underflow silicon is said to differ from QEMU's BF16 form.
	{archs: "power10", names: "xv{bf16,f16}ger2pp" + fpscrModes, params: powerRank2(), mode: fpscr,
		source: "Power ISA 3.1, VSX matrix-multiply assist; the rounding of the sum of products as in QEMU", evidence: evQEMU},
	{archs: "power10", names: "xvf32gerpp" + fpscrModes, params: powerFMA(fp.FP32), mode: fpscr,
		source: "Power ISA 3.1, VSX matrix-multiply assist", evidence: evQEMU},
	{archs: "power10", names: "xvf64gerpp" + fpscrModes, params: powerFMA(fp.FP64), mode: fpscr,
		source: "Power ISA 3.1, VSX matrix-multiply assist", evidence: evQEMU},
}

// powerFMA is a fused multiply-add.
func powerFMA(d fp.ID) Params {
	p := FMA(d)
	p.Special.NaN = NaNMulAdd
	return p
}

// powerRank2 is the product of the high halves of a pair, to which that of the low
// ones is added by a multiply-add with one rounding, and the sum with the
// accumulator, rounded.
func powerRank2() Params {
	p := powerFMA(fp.FP32)
	p.Order, p.L = SwapPairs, 2
	p.Stage0 = Stage{Sum: Fused, Round: p.Acc}
	return p
}

// fpscr changes parameters as a setting of FPSCR.RN does.
func fpscr(p *Params, word string) {
	for _, r := range []*Round{&p.Stage0.Round, &p.Acc} {
		if r.Frac != 0 {
			r.Mode, r.Over = directed[word], OverIEEE
		}
	}
}
