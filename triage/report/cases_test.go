package report

import "strings"

const (
	volta16   = "volta/mma.m8n8k4.f32.f16.f16.f32"
	ampere8   = "ampere/mma.m16n8k8.f32.f16.f16.f32"
	ampere16  = "ampere/mma.m16n8k16.f32.f16.f16.f32"
	hopper8   = "hopper/mma.m16n8k8.f32.f16.f16.f32"
	hopper16  = "hopper/mma.m16n8k16.f32.f16.f16.f32"
	hopperH   = "hopper/mma.m16n8k16.f16.f16.f16.f16"
	hopperBF  = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
	hopperFP8 = "hopper/mma.m16n8k32.f32.e5m2.e5m2.f32"
	dmma      = "ampere/mma.m8n8k4.f64.f64.f64.f64"
	cdna1     = "cdna1/v_mfma_f32_16x16x16f16"
	cdna2     = "cdna2/v_mfma_f32_16x16x16f16"
	cdna3     = "cdna3/v_mfma_f32_16x16x16_f16"
	cdna3BF   = "cdna3/v_mfma_f32_16x16x16_bf16"
	cdna3BF8  = "cdna3/v_mfma_f32_16x16x32_bf8_bf8"
	nvf4      = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
	qgmma     = "hopper/wgmma.m64n8k32.f32.e5m2.e5m2"
	tcgen05   = "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e5m2.e5m2"

	eq10  = "F000,B800,B400,B000 6400,3C00,3C00,3C00 4B000000"
	dense = "bc28,3e18,b447,3b97,3e13,3601,bd9a,bc5f,b573,3b8f,bcb5,bd52,bb34,a913,c038,bcc7 " +
		"bc7d,bb08,3245,2e18,b8a7,b53b,b7d5,3b12,ac91,bf85,3891,b6d7,28b3,3a37,424a,b80a 4080d331"
	denseAMD = "bfb3,b87f,39d0,b7bc,beb6,ac16,b2e8,c05d,3c5d,b34c,3435,3d84,bf4c,af4f,b20e,b329 " +
		"b2ed,b8f2,c260,ba89,bcaa,37ec,3cda,3dae,417d,3821,3ca2,bebf,3f53,b924,3da1,3c78 40514c6c"
	eight = "bc28,3e18,b447,3b97,3e13,3601,bd9a,bc5f bc7d,bb08,3245,2e18,b8a7,b53b,b7d5,3b12 beae626c"
)

// fma are the changes that make a truncated fused sum a chain of FMA.
var fma = []string{"l=1", "join.align.f=exact", "join.align.mode=", "join.align.floor=none", "acc.mode=rne"}

// late is the rounding of additions after the last step.
var late = []string{"late.frac=23", "late.mode=rne", "late.emin=-126", "late.emax=127"}

func labels(names ...string) func(*Mismatch, *TextOptions) {
	return func(m *Mismatch, _ *TextOptions) { m.Labels = names }
}

func free(m *Mismatch, _ *TextOptions) {
	m.Labels = []string{"truncation-width"}
	m.Free = []string{"a of p3: the fraction bits"}
}

func width(n int) func(*Mismatch, *TextOptions) {
	return func(_ *Mismatch, o *TextOptions) { o.Width = n }
}

func all(_ *Mismatch, o *TextOptions) { o.All = true }

func inferred(m *Mismatch, _ *TextOptions) {
	m.A.Name, m.A.Inferred = "replay:H200.txt", true
}
func unexplained(m *Mismatch, _ *TextOptions) {
	m.A.Name, m.A.Trace, m.A.Params, m.A.Result = "replay:H200.txt", nil, nil, m.A.Result+3
	m.Changes, m.Labels = nil, []string{"unexplained"}
}

// commands names the sides as commands of several words, which are not broken.
func commands(m *Mismatch, _ *TextOptions) {
	m.A.Name, m.B.Name = "exec:python3 ./unit.py a/mma.m16n8k8.f32.f16.f16.f32", "exec:python3 ./unit.py b/mma.m16n8k8.f32.f16.f16.f32"
}

func failed(m *Mismatch, _ *TextOptions) {
	m.A = Side{Name: "exec:./unit", Failed: true}
	m.Changes, m.Labels = nil, []string{"fault"}
}

var pictureCases = []pictureCase{
	// Width and order of one fused sum.
	{name: "truncation-width", a: ampere8, b: hopper8, dot: "3c00 3c00 b3000000", change: labels("truncation-width")},
	{name: "equation-10-volta-ampere", a: volta16, b: ampere8, dot: eq10},
	{name: "equation-10-ampere-hopper", a: ampere8, b: hopper8, dot: eq10, change: free},
	{name: "fusion-width", a: ampere16, b: hopper16, setA: []string{"join.align.f=25", "join.align.floor=-133"},
		dot: "6400,e400,0,0,0,0,0,0,1400 3c00,3c00,0,0,0,0,0,0,1400 00000000", change: labels("fusion-width")},
	{name: "dense", a: ampere16, b: hopper16, dot: dense},
	{name: "dense-narrow", a: ampere16, b: hopper16, dot: dense, change: width(72)},
	{name: "dense-narrowest", a: cdna3, b: hopper16, dot: denseAMD, change: width(1)},
	{name: "dense-wide", a: cdna3, b: hopper16, dot: denseAMD, change: width(160)},
	{name: "fp8", a: qgmma, b: tcgen05, dot: "F0,B8,B4,B0 64,3C,3C,3C 4B000000"},
	{name: "fp16-result", a: hopperH, setA: []string{"join.align.f=24"}, b: hopperH, dot: "2800,0C00 2400,0800 3C00"},

	// Rounding to one side, groups, scales.
	{name: "asymmetry", a: hopper16, b: cdna3, dot: "3C00 3C00 B2800000", change: labels("alignment-rounding", "rounding-asymmetry")},
	{name: "asymmetry-dense", a: hopper16, b: cdna3, dot: denseAMD},
	{name: "even-odd-groups", a: cdna3BF8, setA: []string{"stage1.align.mode=rz"}, b: cdna3BF8, dot: "f4,bc,b8,b4 68,40,40,40 4b000000"},
	{name: "group-scales", a: nvf4, setA: []string{"join.align.f=25"}, b: nvf4,
		dot: "07,02,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,01 07,01,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,09 00000000 sa=7e,38,01,38 sb=7e,38,38,38"},

	// Chains and lanes.
	{name: "chain-of-fma", a: cdna1, setA: []string{"l=1"}, b: cdna1, dot: "3f2f,3a78,bd1e,b483,a488,b55b b915,b9a9,3953,403d,bcc7,aff7 3e29d2b6"},
	{name: "fused-against-chain", a: hopper16, b: hopper16, setA: fma, dot: eight},
	{name: "fp64-chain", a: dmma, setA: []string{"order=descending"}, b: dmma,
		dot: "4340000000000000,3ff0000000000000,3ff0000000000000 3ff0000000000000,3ff0000000000000,3ff0000000000000 0000000000000000"},
	{name: "fp64-long", a: dmma, setA: []string{"acc.mode=rz"}, b: dmma,
		dot: "bffeccedef11bcd0,bfe1fb49ca6cb6a8 bfcbb4082154f0d0,bfe3c7136a4eed3c 3fe73ed6dd365f1f"},
	{name: "repeated", a: ampere8, b: hopper8, dot: strings.Repeat("bc28,3e18,b447,3b97,3e13,3601,bd9a,bc5f,", 5) + "3c00 " + strings.Repeat("bc7d,bb08,3245,2e18,b8a7,b53b,b7d5,3b12,", 5) + "3c00 bc0cb345"},
	{name: "split-fp8", a: hopperFP8, b: qgmma, dot: "3d,b9,41,2e,35,bb,32,40,39,3f 3a,3e,b1,42,37,36,c0,3c,34,bd 40a4e3c7"},
	{name: "lanes", a: ampere8, setA: []string{"lanes=2", "late.frac=23", "late.mode=rne", "late.emin=-126", "late.emax=127"}, b: ampere8, dot: eight},
	{name: "merge", a: ampere8, setA: append([]string{"lanes=3", "l=1", "merge=2-1", "tail=true", "start=zero", "leaf=first"}, late...),
		b: ampere8, dot: eight, change: all},
	{name: "deep-groups", a: cdna2, setA: []string{"stage0.sum=fused", "stage0.group=2", "stage0.deep=true", "l=8", "leaf=sum-first", "stage1.sum=sequential",
		"stage1.sort=rising", "stage1.round.frac=23", "stage1.round.mode=rne", "stage1.round.emin=-126", "stage1.round.emax=127"}, b: cdna2, dot: eight, change: all},

	// Flushed operands, pairwise sums of rounded products.
	{name: "flush", a: cdna1, b: cdna2, dot: "8001,3c00 3c00,3c00 bf800000", change: labels("input-ftz")},
	{name: "pairwise", a: cdna2, b: cdna1, dot: eight},
	{name: "sequential", a: cdna2, setA: []string{"stage0.sum=sequential", "l=8"}, b: cdna2, dot: eight},
	{name: "flushed-c", a: cdna1, b: cdna2, dot: "0 0 80000001"},

	// Results that are no numbers, zeros, ends of the range.
	{name: "nan-code", a: hopper16, b: cdna1, dot: "3c00,7c00 3c00,0000 3f800000", change: labels("nan-encoding")},
	{name: "inf-minus-inf", a: hopper16, dot: "3c00,7c00 3c00,bc00 7f800000"},
	{name: "product-overflow", a: hopperBF, b: cdna3BF, dot: "5F80,DF80 5F80,5F80 00000000", change: labels("overflow")},
	{name: "overflow-without-infinity", a: "ada/cvt.rn.satfinite.e4m3x2.f16x2", b: "x86/vcvtph2hf8", dot: "6000 00 -", change: labels("overflow")},
	{name: "scaled-conversion", a: "cdna4/v_cvt_scalef32_pk_fp8_f32", setA: []string{"in.sub=zero", "join.align.f=7", "join.align.mode=rz"}, b: "cdna4/v_cvt_scalef32_pk_fp8_f32", dot: "00098000 00 -"},
	{name: "random-conversion", a: "cdna3/v_cvt_sr_fp8_f32", setA: []string{"prod.round.frac=10", "prod.round.mode=rne", "prod.round.emin=-14"}, b: "cdna3/v_cvt_sr_fp8_f32", dot: "3f8ff000 00000fff -"},
	{name: "scaled-zero", a: "cdna4/v_cvt_scalef32_sr_fp8_f32", dot: "80000000 00000001 -"},
	{name: "result-overflow", a: hopperH, setA: []string{"acc.mode=rz", "acc.over=ieee"}, b: hopperH, dot: "4C00 3C00 7BFF"},
	{name: "signed-zero", a: hopper8, setA: []string{"special.negzero=true"}, b: hopper8, dot: "8000,8000,8000,8000,8000,8000,8000,8000 3c00,0,0,0,0,0,0,0 80000000", change: labels("signed-zero")},
	{name: "counted-zeros", a: hopper8, setA: []string{"special.negzero=true", "prod.gate=skip-numbers", "join.post.frac=64", "join.post.mode=rd"}, b: hopper8, dot: "0 0 00000000"},
	{name: "cancelled-zero", a: hopper8, setA: []string{"special.negzero=true", "acc.mode=rd"}, b: hopper8, dot: "3c00 3c00 bf800000"},
	{name: "zero-with-exponent", a: hopper8, setA: []string{"prod.zeros=true"}, b: hopper8, dot: "0000,3c00 7bff,0001 33000000"},
	{name: "subnormal-result", a: hopperBF, setA: []string{"acc.mode=rne", "acc.flush=before"}, b: hopperBF, dot: "0080,2f80 3f00,0080 00000000"},
	{name: "tie-to-zero", a: hopperBF, setA: []string{"acc.mode=rne"}, b: hopperBF, dot: "0080 3380 00000000"},
	{name: "several-nans", a: "x86/dpps", b: "zen4/dpps", dot: "7f800000,7fc00000 0,0 -", change: labels("summation-order")},
	{name: "equal-nans", a: "x86/dpps", b: "zen4/dpps", dot: "7fc00001,7fc00001,7f800000 0,0,0 -"},
	{name: "wide-gaps", a: hopperBF, b: hopperBF, setA: fma, dot: "7f00,3400 3f80,0080 ff000000"},
	{name: "equal", a: hopper8, b: hopper8, dot: eq10},

	// Sides without a trace of their own.
	{name: "inferred", a: ampere8, b: hopper8, dot: "3c00 3c00 b3000000", change: inferred},
	{name: "unexplained", a: ampere8, b: hopper8, dot: "3c00 3c00 b3000000", change: unexplained},
	{name: "commands", a: ampere8, b: hopper8, dot: "3c00 3c00 b3000000", change: commands},
	{name: "failed", a: ampere8, b: hopper8, dot: "3c00 3c00 b3000000", change: failed},

	// One side.
	{name: "one", a: hopper16, dot: dense},
	{name: "one-product", a: "cdna1/v_mfma_f32_32x32x1f32", dot: "3f800000 3f800000 3f800000"},
	{name: "one-chain", a: ampere16, dot: dense},
	{name: "one-chain-all", a: ampere16, dot: dense, change: all},
	{name: "one-scaled", a: nvf4, dot: "0e,0e,0b,06,00,08,0f,09,0a,0b,03,09,0f,07,0e,00,02,06,01,05,0a,08,06,04,07,0c,06,0b,01,0c,06,0d,0b,0b,08,06,0c,08,0c,05,00,04,01,0f,06,01,0f,05,02,04,06,05,0a,07,0b,07,00,01,0a,0d,0b,0f,0e,07 " +
		"06,0c,0b,02,08,09,0b,04,03,0d,02,09,09,0c,01,08,07,06,03,0d,02,09,0a,05,09,0f,05,0a,08,06,00,08,0d,0d,02,0c,0c,05,02,08,03,04,0f,0f,01,01,0a,0b,05,0a,05,0b,0f,03,0b,0e,0a,05,07,01,01,07,08,0a 094E5986 sa=09,7C,6D,44 sb=07,78,26,79"},
}
