package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// Settings of FPCR and FPMR that change results, and some values of LSCALE. BFDOT and
// BFMMLA consult the other bits of FPCR only if EBF is 1; FZ16 is the FZ of FP16 results.
// OSM is listed although it changes nothing: no FP32 sum of FP8 products and a finite FP32
// number overflows.
const (
	ebfModes   = ".ebf1{,.rd,.ru,.rz}{,.fz}"
	fpcrModes  = "{,.rd,.ru,.rz}{,.fz}{,.dn}"
	fz16Modes  = "{,.rd,.ru,.rz}{,.fz16}{,.dn}"
	fp8Results = "{,.lscale7,.lscale127}{,.osm}"
)

// two is the rows or columns of a tile of 2x2.
var two = Range{2, 2, 1}

var armForms = []form{
	{names: "bfdot", modes: ".ebf0", m: one, n: one, k: 2, formats: "f32.bf16.bf16.f32"},
	{names: "bfdot", modes: ebfModes, m: one, n: one, k: 2, formats: "f32.bf16.bf16.f32"},
	{names: "bfmmla", modes: ".ebf0", m: two, n: two, k: 4, formats: "f32.bf16.bf16.f32"},
	{names: "bfmmla", modes: ebfModes, m: two, n: two, k: 4, formats: "f32.bf16.bf16.f32"},
	{names: "bfmlalb bfmlalt", modes: fpcrModes, m: one, n: one, k: 1, formats: "f32.bf16.bf16.f32"},
	{names: "fmlal", modes: fpcrModes, m: one, n: one, k: 1, formats: "f32.f16.f16.f32"},
	{names: "fmla-4s", modes: fpcrModes, m: one, n: one, k: 1, formats: "f32.f32.f32.f32"},
	{names: "fmla-2d", modes: fpcrModes, m: one, n: one, k: 1, formats: "f64.f64.f64.f64"},
	{names: "fmla-8h", modes: fz16Modes, m: one, n: one, k: 1, formats: "f16.f16.f16.f16"},
	{names: "fdot", modes: ".e5m2.e5m2" + fp8Results, m: one, n: one, k: 4, formats: "f32.e5m2.e5m2.f32"},
	{names: "fdot", modes: ".e5m2.e4m3" + fp8Results, m: one, n: one, k: 4, formats: "f32.e5m2.e4m3.f32"},
	{names: "fdot", modes: ".e4m3.e5m2" + fp8Results, m: one, n: one, k: 4, formats: "f32.e4m3.e5m2.f32"},
	{names: "fdot", modes: ".e4m3.e4m3" + fp8Results, m: one, n: one, k: 4, formats: "f32.e4m3.e4m3.f32"},
	{names: "fmmla", modes: ".e5m2.e5m2" + fp8Results, m: two, n: two, k: 8, formats: "f32.e5m2.e5m2.f32"},
	{names: "fmmla", modes: ".e5m2.e4m3" + fp8Results, m: two, n: two, k: 8, formats: "f32.e5m2.e4m3.f32"},
	{names: "fmmla", modes: ".e4m3.e5m2" + fp8Results, m: two, n: two, k: 8, formats: "f32.e4m3.e5m2.f32"},
	{names: "fmmla", modes: ".e4m3.e4m3" + fp8Results, m: two, n: two, k: 8, formats: "f32.e4m3.e4m3.f32"},
}

const evQEMU = "QEMU 7.2, 10.0 and 11.1, not silicon: 1,000,000 results"

var arm = []decl{
	{archs: "arm", names: "{bfdot,bfmmla}.ebf0", params: armBFDOT(), alias: plainBFDOT,
		source: "Arm ARM, BFDotAdd; FPCR is ignored", evidence: evQEMU},
	{archs: "arm", names: "{bfdot,bfmmla}" + ebfModes, params: armEBF(), mode: fpcr,
		source: "Arm ARM, FEAT_EBF16: BFDotAdd with FPCR.EBF", evidence: "QEMU 10.0 and 11.1, not silicon: 1,000,000 results"},
	{archs: "arm", names: "bfmlal{b,t}" + fpcrModes, params: armFMA(fp.FP32), mode: fpcr,
		source: "Arm ARM, BFMulAddH and FPProcessNaNs3", evidence: evQEMU},
	{archs: "arm", names: "fmlal" + fpcrModes, params: armFMA(fp.FP32), mode: fpcrFP16,
		source: "Arm ARM, FPMulAddH and FPProcessNaNs3; FZ leaves FP16 alone", evidence: evQEMU},
	{archs: "arm", names: "fmla-4s" + fpcrModes, params: armFMA(fp.FP32), mode: fpcr,
		source: "Arm ARM, FPMulAdd and FPProcessNaNs3", evidence: evQEMU},
	{archs: "arm", names: "fmla-2d" + fpcrModes, params: armFMA(fp.FP64), mode: fpcr,
		source: "Arm ARM, FPMulAdd and FPProcessNaNs3", evidence: evQEMU},
	{archs: "arm", names: "fmla-8h" + fz16Modes, params: armFMA(fp.FP16), mode: fpcr,
		source: "Arm ARM, FPMulAdd and FPProcessNaNs3", evidence: evQEMU},
	{archs: "arm", names: "{fdot,fmmla}.{e5m2,e4m3}.{e5m2,e4m3}" + fp8Results, params: armFP8(), mode: fpmr,
		source: "Arm ARM, FEAT_FP8DOT4 and FEAT_F8F32MM: FP8DotAddFP", evidence: "QEMU 11.1, not silicon: 1,000,000 results"},
}

// plainBFDOT is the name without EBF, for the instruction as it was before there
// was a choice.
func plainBFDOT(name string) string { return name[:len(name)-len(".ebf0")] }

// armBFDOT is pairs of products: each product, their sum, and its sum with the
// accumulator are rounded to odd. Subnormals are flushed everywhere; with rounding to odd
// it does not matter whether tininess is detected before or after it.
func armBFDOT() Params {
	r := To(fp.FP32, fp.RTO)
	r.Flush = FlushBefore
	return Params{
		In:      Input{Sub: FlushSign, C: FlushSign},
		Prod:    Product{Round: r},
		L:       2,
		Stage0:  Stage{Sum: Fused, Round: r},
		Acc:     r,
		Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true},
	}
}

// armEBF is pairs of exact products, their sum rounded once, and its sum with the
// accumulator rounded.
func armEBF() Params {
	r := To(fp.FP32, fp.RNE)
	return Params{L: 2, Stage0: Stage{Sum: Fused, Round: r}, Acc: r, Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
}

// armFMA is a fused multiply-add.
func armFMA(d fp.ID) Params {
	p := FMA(d)
	p.Special.NaN = NaNSignal
	return p
}

// armFP8 is all products and the accumulator in one exact sum, rounded once.
func armFP8() Params {
	return Params{Acc: To(fp.FP32, fp.RNE), Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
}

// fpcr changes parameters as a setting of FPCR does. Tininess is detected before
// rounding.
func fpcr(p *Params, word string) {
	for _, r := range []*Round{&p.Stage0.Round, &p.Acc} {
		if r.Frac == 0 {
			continue
		}
		switch word {
		case "rd", "ru", "rz":
			r.Mode, r.Over = directed[word], OverIEEE
		case "fz", "fz16":
			r.Flush = FlushBefore
		}
	}
	switch word {
	case "fz", "fz16":
		p.In.Sub, p.In.C = FlushSign, FlushSign
	case "dn":
		p.Special.NaN = NaNQuiet
	}
}

// fpcrFP16 is fpcr for FP16 factors of an FP32 sum.
func fpcrFP16(p *Params, word string) {
	fpcr(p, word)
	p.In.Sub = KeepSub
}

// fpmr changes parameters as a setting of FPMR does. The formats and LSCALE are in the
// instruction's Formats.
func fpmr(p *Params, word string) {
	if word == "osm" {
		p.Acc.Over = OverMax
	}
}
