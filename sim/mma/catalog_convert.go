package mma

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Conversions of one number: dot products of a single product a*1 without c, whose result
// is a rounded to D's format. With relu this has no sign: negative results are +0. Only those that
// cpu:0 executes were compared with hardware. With stochastic rounding b has the random bits of one element, which
// instructions of several take from one register. A scale is b, too, in E8M0; where the instruction
// divides by it, the format is ue8m0-inverse, in which b times a is a divided by the scale.
// With both, b is the scale, and the random bits below it.

const (
	srcCVT      = "PTX ISA, cvt: .satfinite is the largest number of its sign for what is larger and infinities, and a NaN for NaNs"
	srcVCVT     = "AMD CDNA3 and RDNA3 ISA, V_CVT; the mode register as it is when a program starts: FP16_OVFL is 0, so that an overflow is an infinity or NaN; subnormals are kept"
	srcPS2PH    = "Intel SDM vol. 2, VCVTPS2PH: the rounding is an operand; MXCSR.DAZ counts, MXCSR.FTZ does not; VCVTPH2PS: neither"
	srcNEPS     = "Intel SDM vol. 2, VCVTNEPS2BF16: MXCSR is ignored, subnormals are flushed"
	srcPD2PS    = "Intel SDM vol. 2, CVTPD2PS"
	srcAVX10    = "Intel AVX10.2 architecture specification, VCVTPH2BF8, VCVTPH2HF8 and VCVTHF82PH; overflow, infinities and NaNs as Bochs has them (convert_ne_fp16_to_hf8)"
	srcBFCVT    = "Arm ARM, FPConvertBF and FPConvert"
	srcFP8CVT   = "Arm ARM, FPConvertFP8 with FPMR.OSC and FP8DefaultNaN; NSCALE is 0"
	srcVFNCVT   = "RISC-V ISA manual, Zvfbfmin and Zvfh"
	srcOFP8     = "RISC-V ISA manual, Zvfofp8min 0.2.1: a NaN is 7F in both formats; overflow in the directed roundings as Spike has it (riscv-isa-sim, issue 2284)"
	srcCVTRS    = "PTX ISA, cvt.rs: the random bits are added to the significand below the last bit kept; fp16 takes 13, the others 16, of which every other element reads them in reverse; that subnormal results take all of them, and that nothing but NaNs is not finite, is how FlashInfer's cvt_rs_e4m3_sw, which its authors compared with an sm_100a, and cvt_rs_f16_sw have it"
	srcVCVTSR   = "AMD CDNA3 and RDNA4 ISA, V_CVT_SR_FP8_F32 and V_CVT_SR_BF8_F32: bits 31:12 and 31:11 of S1 are added to the significand; that subnormal results take as many is rocjitsu's rule, measured on a gfx1201; FP16_OVFL is 0"
	srcUE8M0    = "PTX ISA, cvt.ue8m0x2; the sign is dropped, zero is 2^-127, and an overflow is a NaN, as CUDA's __nv_cvt_float_to_e8m0 has it"
	srcScaled   = "AMD CDNA4 ISA, V_CVT_SCALEF32: the exponent of the FP32 scale multiplies, or divides where the result is the narrower format (b is the exponent field, 30:23, and the code of a reciprocal in ue8m0-inverse); that nothing is rounded before is not said"
	srcScaledSR = srcScaled + "; stochastic rounding as V_CVT_SR_FP8_F32 has it, by the highest bits of S1, as many as the result has fewer than A, as from_float_sr of HIP's amd_hip_ocp_host.hpp has it"
	srcScaleN2  = srcCVT + "; .scaled::n2::ue8m0: each element has a scale, by which it is multiplied, rounded once"
	evConvert   = "none: the documentation"
	evZen4      = "Zen 4: 18,000,000 of all generators over all modes, MMAFUZZ_LONG=nightly go test -run Silicon ./devices/cpu"
	srcReLU     = srcCVT + "; .relu: negative results are 0, NaNs the canonical one"
	ptx16       = "{f16,bf16}"
	ptxFP8      = "{e4m3x2,e5m2x2}"
	ptxFP46     = "{e2m1x2,e2m3x2,e3m2x2}"
	immediate   = "{,.rd,.ru,.rz}{,.daz}" // the rounding of VCVTPS2PH and MXCSR.DAZ
	bfcvtModes  = "{,.rz}{,.fz}{,.dn}"
	riscvRounds = "{,.rz,.rd,.ru,.rmm}" // frm
)

var convertForms = []form{
	{names: "vcvtneps2bf16", m: one, n: one, k: 1, formats: "bf16.f32.one.none"},
	{names: "vcvtps2ph", modes: immediate, m: one, n: one, k: 1, formats: "f16.f32.one.none"},
	{names: "vcvtph2ps", m: one, n: one, k: 1, formats: "f32.f16.one.none"},
	{names: "vcvtpd2ps", modes: "{,.rd,.ru,.rz}", m: one, n: one, k: 1, formats: "f32.f64.one.none"},
	{names: "vcvtph2bf8 vcvtph2bf8s", m: one, n: one, k: 1, formats: "e5m2.f16.one.none"},
	{names: "vcvtph2hf8 vcvtph2hf8s", m: one, n: one, k: 1, formats: "e4m3.f16.one.none"},
	{names: "vcvthf82ph", m: one, n: one, k: 1, formats: "f16.e4m3.one.none"},

	{names: "bfcvt", modes: bfcvtModes, m: one, n: one, k: 1, formats: "bf16.f32.one.none"},
	{names: "fcvt-hs", modes: "{,.rd,.ru,.rz}{,.dn}", m: one, n: one, k: 1, formats: "f16.f32.one.none"},
	{names: "fcvtn", modes: ".e4m3{,.osc}", m: one, n: one, k: 1, formats: "e4m3.f32.one.none"},
	{names: "fcvtn", modes: ".e5m2{,.osc}", m: one, n: one, k: 1, formats: "e5m2.f32.one.none"},

	{names: "vfncvtbf16.f.f.w", modes: riscvRounds, m: one, n: one, k: 1, formats: "bf16.f32.one.none"},
	{names: "vfncvt.f.f.w", modes: riscvRounds, m: one, n: one, k: 1, formats: "f16.f32.one.none"},
	{names: "vfncvtbf16.f.f.w vfncvtbf16.sat.f.f.w", modes: ".e8" + riscvRounds, m: one, n: one, k: 1, formats: "e4m3.bf16.one.none"},
	{names: "vfncvtbf16.f.f.w vfncvtbf16.sat.f.f.w", modes: ".e8alt" + riscvRounds, m: one, n: one, k: 1, formats: "e5m2.bf16.one.none"},
	{names: "vfncvt.f.f.q vfncvt.sat.f.f.q", modes: riscvRounds, m: one, n: one, k: 1, formats: "e4m3.f32.one.none"},
	{names: "vfncvt.f.f.q vfncvt.sat.f.f.q", modes: ".e8alt" + riscvRounds, m: one, n: one, k: 1, formats: "e5m2.f32.one.none"},
}

var conversions = []decl{
	{archs: "ampere hopper blackwell", names: "cvt.{rn,rz}{,.satfinite}." + ptx16 + ".f32 cvt.{rm,rp}.f16.f32 cvt.rna.tf32.f32 cvt.{rn,rz,rm,rp}.f32.f64 cvt.f32.f16",
		complete: ptxConversion, source: srcCVT, evidence: evConvert},
	{archs: "ada hopper blackwell rtx-blackwell", names: "cvt.rn.satfinite." + ptxFP8 + ".{f32,f16x2} cvt.rn.f16x2." + ptxFP8,
		complete: ptxConversion, source: srcCVT, evidence: evConvert},
	{archs: "ampere hopper blackwell", names: "cvt.{rn,rz}.relu{,.satfinite}." + ptx16 + ".f32", complete: ptxConversion, source: srcReLU, evidence: evConvert},
	{archs: "ada hopper blackwell rtx-blackwell", names: "cvt.rn.satfinite.relu." + ptxFP8 + ".{f32,f16x2} cvt.rn.relu.f16x2." + ptxFP8,
		complete: ptxConversion, source: srcReLU, evidence: evConvert},
	{archs: "hopper blackwell", names: "cvt.{rn,rz}.relu.tf32.f32", complete: ptxConversion, source: srcReLU, evidence: evConvert},
	{archs: "hopper blackwell", names: "cvt.{rn,rz}.tf32.f32", complete: ptxConversion, source: srcCVT, evidence: evConvert},
	{archs: "blackwell rtx-blackwell", names: "cvt.rn.satfinite." + ptxFP46 + ".f32 cvt.rn.f16x2." + ptxFP46 + " cvt.rn.bf16x2.ue8m0x2",
		complete: ptxConversion, source: srcCVT, evidence: evConvert},

	{archs: "blackwell rtx-blackwell", names: "cvt.{rz,rp}{,.satfinite}.ue8m0x2.{f32,bf16x2}", complete: ptxConversion, source: srcUE8M0, evidence: evConvert},
	{archs: "blackwell rtx-blackwell", names: "cvt.rn.satfinite.relu." + ptxFP46 + ".f32 cvt.rn.relu.f16x2." + ptxFP46, complete: ptxConversion, source: srcReLU, evidence: evConvert},
	{archs: "blackwell", names: "cvt.rn{,.relu}{,.satfinite}.scaled::n2::ue8m0.bf16x2.{e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2}",
		complete: ptxConversion, unknown: FacetNaN, source: srcScaleN2, evidence: evConvert},
	{archs: "blackwell", names: "cvt.rs{,.relu}{,.satfinite}.{f16x2,bf16x2}.f32 cvt.rs{,.relu}.satfinite.{e4m3x4,e5m2x4,e3m2x4,e2m3x4,e2m1x4}.f32",
		complete: ptxConversion, unknown: FacetNaN, source: srcCVTRS, evidence: evConvert},

	{archs: "cdna3 rdna3", names: "v_cvt_f16_f32 v_cvt_pkrtz_f16_f32 v_cvt_f32_f16", complete: amdConversion, unknown: FacetNaN,
		source: srcVCVT, evidence: evConvert},
	{archs: "cdna3", names: "v_cvt_pk_{fp8,bf8}_f32 v_cvt_f32_{fp8,bf8}", complete: amdConversion, unknown: FacetNaN, source: srcVCVT, evidence: evConvert},
	{archs: "cdna4 rdna4", names: "v_cvt_pk_{fp8,bf8}_f32 v_cvt_f32_{fp8,bf8}", complete: amdConversion, ocp: true, unknown: FacetNaN,
		source: srcVCVT + "; FP8 and BF8 are the OCP formats", evidence: evConvert},
	{archs: "cdna3", names: "v_cvt_sr_{fp8,bf8}_f32", complete: amdConversion, unknown: FacetNaN, source: srcVCVTSR, evidence: evConvert},
	{archs: "cdna4 rdna4", names: "v_cvt_sr_{fp8,bf8}_f32", complete: amdConversion, ocp: true, unknown: FacetNaN, source: srcVCVTSR, evidence: evConvert},
	{archs: "cdna4", names: "v_cvt_scalef32_pk_{fp8,bf8,fp4}_{f32,f16,bf16} v_cvt_scalef32_pk_{f32,f16,bf16}_{fp8,bf8,fp4}", complete: amdConversion, ocp: true,
		unknown: FacetNaN, source: srcScaled, evidence: evConvert},
	{archs: "cdna4", names: "v_cvt_scalef32_sr_{fp8,bf8,pk_fp4,pk32_fp6,pk32_bf6}_{f32,f16,bf16}", complete: amdConversion, ocp: true,
		unknown: FacetNaN, source: srcScaledSR, evidence: evConvert},
	{archs: "cdna4", names: "v_cvt_pk_bf16_f32", complete: amdConversion, unknown: FacetNaN, source: srcVCVT, evidence: evConvert},

	{archs: "x86", names: "vcvtneps2bf16", complete: x86Conversion("daz"), source: srcNEPS, evidence: evConvert},
	{archs: "x86", names: "vcvtps2ph" + immediate + " vcvtph2ps", complete: x86Conversion(""), mode: mxcsr, source: srcPS2PH, evidence: evConvert},
	{archs: "x86", names: "vcvtpd2ps{,.rd,.ru,.rz}", complete: x86Conversion(""), mode: mxcsr, source: srcPD2PS, evidence: evConvert},
	{archs: "zen4", names: "vcvtneps2bf16", complete: x86Conversion("daz"), source: srcNEPS, evidence: evZen4},
	{archs: "zen4", names: "vcvtps2ph" + immediate + " vcvtph2ps", complete: x86Conversion(""), mode: mxcsr, source: srcPS2PH, evidence: evZen4},
	{archs: "zen4", names: "vcvtpd2ps{,.rd,.ru,.rz}", complete: x86Conversion(""), mode: mxcsr, source: srcPD2PS, evidence: evZen4},
	{archs: "x86", names: "vcvtph2{bf8,hf8}{,s} vcvthf82ph", complete: x86Conversion(""), source: srcAVX10, evidence: evConvert},

	{archs: "arm", names: "bfcvt" + bfcvtModes + " fcvt-hs{,.rd,.ru,.rz}{,.dn}", complete: armConversion, mode: fpcr, source: srcBFCVT, evidence: evConvert},
	{archs: "arm", names: "fcvtn.{e4m3,e5m2}{,.osc}", complete: armConversion, source: srcFP8CVT, evidence: evConvert},

	{archs: "riscv", names: "vfncvtbf16.f.f.w" + riscvRounds + " vfncvt.f.f.w" + riscvRounds, complete: riscvConversion, source: srcVFNCVT, evidence: evConvert},
	{archs: "riscv", names: "vfncvtbf16.{f.f.w,sat.f.f.w}.{e8,e8alt}" + riscvRounds + " vfncvt.{f.f.q,sat.f.f.q}{,.e8alt}" + riscvRounds,
		complete: riscvConversion, source: srcOFP8, evidence: evConvert},
}

// conversion is a rounding of the product a*1 to D's format.
func conversion(d fp.ID, m fp.Mode, nan NaNRule) Params {
	return Params{L: 1, Start: StartEmpty, Acc: To(d, m), Special: Special{NaN: nan, NegZero: true, TinySign: true}}
}

// directedTo changes the rounding of a conversion to a directed one, which overflows as IEEE
// 754 section 7.4 says.
func (p *Params) directedTo(m fp.Mode) {
	if p.Acc.Mode = m; p.Acc.Over == OverInf {
		p.Acc.Over = OverIEEE
	}
}

// ptxConversion reads the modifiers of a cvt. A TF32 result is an FP32 number with 10 fraction
// bits. Which NaN a result is, is documented of FP8 alone; E2M1, E2M3 and E3M2 have the largest
// number for it.
func ptxConversion(i *Instruction) {
	i.Params = conversion(i.D, fp.RNE, NaNOnes)
	for word := range strings.SplitSeq(i.Name, ".") {
		switch word {
		case "rz":
			i.Params.directedTo(fp.RZ)
		case "rm":
			i.Params.directedTo(fp.RD)
		case "rp":
			i.Params.directedTo(fp.RU)
		case "rna":
			i.Params.Acc.Mode = fp.RNA
		case "rs":
			i.Params.Acc.Mode = fp.RS
		case "satfinite":
			i.Params.Acc.Over = OverSat
		case "tf32":
			i.Params.Acc.Frac = Frac(fp.TF32.Get().FracBits)
		}
	}
	if i.D.Get().HasInf() {
		i.Unknown = FacetNaN
	}
}

func amdConversion(i *Instruction) {
	if i.Params = conversion(i.D, fp.RNE, NaNQuiet); !i.D.Get().HasNaN() {
		i.Params.Special.NaN = NaNOnes
	}
	switch {
	case strings.Contains(i.Name, "pkrtz"):
		i.Params.directedTo(fp.RZ)
	case strings.Contains(i.Name, "_sr_"):
		i.Params.Acc.Mode = fp.RS
	}
}

// x86Conversion is a conversion under a setting of MXCSR that cannot be changed. A name that
// ends in s saturates.
func x86Conversion(setting string) func(*Instruction) {
	return func(i *Instruction) {
		i.Params = conversion(i.D, fp.RNE, NaNFirst)
		if strings.HasSuffix(i.Name, "f8s") {
			i.Params.Acc.Over = OverSat
		}
		if i.D == fp.E4M3 { // an overflow is a NaN of its sign, which no rule has
			i.Params.Special.NaN, i.Unknown = NaNQuiet, FacetNaN
		}
		mxcsr(&i.Params, setting)
	}
}

func armConversion(i *Instruction) {
	i.Params = conversion(i.D, fp.RNE, NaNSignal)
	if !i.D.Get().HasInf() || i.D == fp.E5M2 {
		i.Params.Special.NaN = NaNQuiet
	}
	if strings.HasSuffix(i.Name, ".osc") {
		i.Params.Acc.Over = OverSat
	}
}

func riscvConversion(i *Instruction) {
	i.Params = conversion(i.D, fp.RNE, NaNQuiet)
	if i.D.Width() == 1 {
		i.Params.Special.NaN = NaNOnes
	}
	_, modes := i.Mnemonic()
	for _, word := range modes {
		switch m, ok := directed[word]; {
		case word == "rmm":
			i.Params.Acc.Mode = fp.RNA
		case ok:
			i.Params.directedTo(m)
		}
	}
	if strings.Contains(i.Name, ".sat.") {
		i.Params.Acc.Over = OverSat
	}
}

// parseConversion reads the formats off names such as
//
//	cvt.rn.satfinite.e4m3x2.f32    D A
//	v_cvt_pk_fp8_f32               D A
func parseConversion(name string, ocp bool) (Instruction, error) {
	i := Instruction{Name: name, M: one, N: one, K: 1}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	words = words[max(len(words)-2, 0):]
	for n := range words {
		if words[n] = strings.TrimSuffix(strings.TrimSuffix(words[n], "x2"), "x4"); ocp {
			words[n] = orSame(ocpFormats, words[n])
		}
	}
	ids, err := parseFormats(words)
	if err != nil || len(ids) != 2 {
		return i, fmt.Errorf("%q is not a conversion: %w", name, err)
	}
	if i.D, i.A, i.B = ids[0], ids[1], fp.One; i.D == fp.TF32 {
		i.D = fp.FP32
	}
	lost := int(i.A.Get().FracBits) - int(i.D.Get().FracBits)
	if strings.Contains(name, ".scaled::") {
		i.B = fp.E8M0
	} else if strings.Contains(name, "_scalef32_sr_") {
		i.B, err = fp.Parse(fmt.Sprintf("ue8m0-inverse-rbits%d", lost))
	} else if strings.Contains(name, "_scalef32_") {
		if i.B = fp.E8M0; i.D.Get().Bits() < i.A.Get().Bits() {
			i.B, err = fp.Parse("ue8m0-inverse")
		}
	} else if strings.HasPrefix(name, "cvt.rs.") {
		i.B, err = fp.Parse(fmt.Sprintf("rbits%d", min(lost, 16)))
	} else if strings.Contains(name, "_sr_") {
		i.B, err = fp.Parse(fmt.Sprintf("rbits%d", lost))
	}
	if err == nil && strings.Contains(name, ".relu") {
		i.D, err = i.D.Unsigned()
	}
	return i, err
}
