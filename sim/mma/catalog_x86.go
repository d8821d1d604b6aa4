package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// mxcsrModes are all settings of MXCSR that change results.
const mxcsrModes = "{,.rd,.ru,.rz}{,.daz}{,.ftz}"

var x86Forms = []form{
	{names: "vdpbf16ps fma3-bf16", m: one, n: one, k: 2, formats: "f32.bf16.bf16.f32"},
	{names: "vfmadd231ps", modes: mxcsrModes, m: one, n: one, k: 1, formats: "f32.f32.f32.f32"},
	{names: "vfmadd231pd", modes: mxcsrModes, m: one, n: one, k: 1, formats: "f64.f64.f64.f64"},
	{names: "dpps", modes: mxcsrModes, m: one, n: one, k: 4, formats: "f32.f32.f32.none"},
	{names: "dppd", modes: mxcsrModes, m: one, n: one, k: 2, formats: "f64.f64.f64.none"},
	{names: "vfmadd231ph", modes: "{,.rd,.ru,.rz}", m: one, n: one, k: 1, formats: "f16.f16.f16.f16"},
	{names: "tdpbf16ps", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 32, formats: "f32.bf16.bf16.f32"},
	{names: "tdpfp16ps", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 32, formats: "f32.f16.f16.f32"},
}

// Evidence: "Zen 4" is an AMD processor of family 25, model 17; "Zen 5" one of family
// 26, model 2; "Xeon" is one of Intel with AMX and AVX512_FP16, as Sapphire Rapids has
// them. Two figures are dot products of raw bits and of the other generators, over all
// modes, by go test -run Silicon ./devices/cpu. Recordings are in corpus/recordings.
const (
	srcFMA  = "Intel SDM vol. 1, 14.5 and table 4-7"
	srcDPPS = "Intel SDM vol. 2, DPPS and DPPD, which leave open which of several NaNs is the result"
	evXeon  = "recording sapphire-rapids.rec, every bit; Xeon: 10,000,000 and 7,500,000"
	evZen   = "recordings zen4.rec and zen5.rec, every bit; Zen 5: 10,000,000 and 7,500,000"
	evBoth  = evXeon + "; " + evZen
)

var x86 = []decl{
	// AMD's and Intel's processors differ only in the NaN of DPPS.
	//
	// VDPBF16PS is two FMAs, the high pair first. It neither consults nor changes
	// MXCSR. Where a processor has no AVX512_BF16, two VFMADD231PS on widened
	// operands with DAZ and FTZ give the same bits: fma3-bf16.
	{archs: "x86 zen4", names: "vdpbf16ps", params: x86BF16(),
		source: "Intel SDM vol. 2, VDPBF16PS", evidence: "Zen 4: 900,000,000 lanes; " + evBoth},
	{archs: "x86 zen4", names: "fma3-bf16", params: x86BF16(),
		source: "two VFMADD231PS with MXCSR.DAZ and FTZ, the high pair first", evidence: "Zen 4: 240,000,000 lanes equal to VDPBF16PS; " + evBoth},
	{archs: "x86 zen4", names: "vfmadd231ps" + mxcsrModes, params: x86FMA(fp.FP32), mode: mxcsr,
		source: srcFMA, evidence: "Zen 4: 12,000,000 results; " + evBoth},
	{archs: "x86 zen4", names: "vfmadd231pd" + mxcsrModes, params: x86FMA(fp.FP64), mode: mxcsr,
		source: srcFMA, evidence: evBoth},
	{archs: "x86", names: "dpps" + mxcsrModes, params: x86DPPS(SwapPairs), mode: mxcsr,
		source: srcDPPS, evidence: evXeon},
	{archs: "zen4", names: "dpps" + mxcsrModes, params: x86DPPS(Ascending), mode: mxcsr,
		source: srcDPPS, evidence: "Zen 4: 6,000,000 results; " + evZen},
	{archs: "x86 zen4", names: "dppd" + mxcsrModes, params: x86DPPD(), mode: mxcsr,
		source: srcDPPS, evidence: evBoth},

	// FP16 arithmetic knows no DAZ and no FTZ.
	{archs: "x86", names: "vfmadd231ph{,.rd,.ru,.rz}", params: x86FMA(fp.FP16), mode: mxcsr,
		source: "Intel SDM vol. 2, VFMADD231PH", evidence: evXeon},

	// AMX.
	{archs: "x86", names: "tdpbf16ps", params: x86Tile(FlushSign),
		source: "Intel SDM vol. 2, TDPBF16PS", evidence: "recording sapphire-rapids.rec, every bit; Xeon: 10,000,000 of all generators, mmafuzz run --a cpu:0 --b sim:x86 --inst tdpbf16ps --count 10000000"},
	{archs: "x86", names: "tdpfp16ps", params: x86Tile(KeepSub),
		source: "Intel SDM vol. 2, TDPFP16PS", evidence: "the documentation; TDPBF16PS, which has the same text, does as it says"},
}

// x86FMA is one FMA with MXCSR as it is when a program starts.
func x86FMA(d fp.ID) Params {
	p := FMA(d)
	p.Special.NaN = NaNFirst
	return p
}

// x86BF16 is two FMAs, the high half of each pair of elements first, rounded to
// nearest; subnormals are flushed before and, where the result is tiny after
// rounding, after each.
func x86BF16() Params {
	p := x86FMA(fp.FP32)
	p.Order = SwapPairs
	mxcsr(&p, "daz")
	mxcsr(&p, "ftz")
	return p
}

// x86DPPD is two products and their sum, each rounded. There is no C.
func x86DPPD() Params {
	r := To(fp.FP64, fp.RNE)
	return Params{Prod: Product{Round: r}, Start: StartEmpty, Acc: r, Special: Special{NaN: NaNFirst, NegZero: true, TinySign: true}}
}

// x86DPPS is four products and the sums (p0+p1)+(p2+p3), each rounded. The last
// sum is the Join: under DAZ it is flushed differently from the sums that are added
// further. Which of two NaNs is the result depends on the order of a sum's operands,
// which is up to the processor; the order given here is that of lane 0.
func x86DPPS(o Order) Params {
	r := To(fp.FP32, fp.RNE)
	p := x86DPPD()
	p.Order, p.Prod.Round, p.Acc = o, r, r
	p.Stage0 = Stage{Sum: Fused, Group: 2, Round: r}
	return p
}

// x86Tile is two chains of FMAs from +0, of the even and of the odd elements,
// whose results and then C are added. All is rounded to nearest, and tiny results
// are flushed; whether subnormal elements are flushed depends on their format.
func x86Tile(sub InFlush) Params {
	r := To(fp.FP32, fp.RNE)
	r.Flush = FlushAfter
	p := x86FMA(fp.FP32)
	p.In.Sub, p.In.C = sub, FlushSign
	p.Lanes, p.Start = 2, StartZero
	p.Acc, p.Late = r, r
	p.Special.CLeft = true
	return p
}

// mxcsr changes parameters as a setting of MXCSR does. DAZ makes zeros also of
// subnormal results that are operands of the next operation; what FTZ flushes
// includes those.
func mxcsr(p *Params, word string) {
	for _, r := range []*Round{&p.Prod.Round, &p.Stage0.Round, &p.Acc} {
		if r.Frac == 0 {
			continue
		}
		switch word {
		case "rd", "ru", "rz":
			r.Mode, r.Over = directed[word], OverIEEE
		case "daz":
			if r != &p.Acc {
				r.Flush = FlushResult
			}
		case "ftz":
			r.Flush = FlushAfter
		}
	}
	if word == "daz" {
		p.In.Sub, p.In.C = FlushSign, FlushSign
	}
}

// directed are the rounding modes by their words in names.
var directed = map[string]fp.Mode{"rd": fp.RD, "ru": fp.RU, "rz": fp.RZ}
