package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// Sources and evidence of the NVIDIA rows. Codes of evidence: "rows" are
// outputs of that GPU recorded by Khattak and Mikaitis (arXiv:2512.07004), all
// of which the model reproduces; "001" is arXiv:2511.10909 (models validated by
// its authors on that GPU); "Fasi" is PeerJ CS 7:e330; "SMT" is
// arXiv:2502.15999; "MMA-Sim" is its later code; "B200 words" are 58 published
// result words of that GPU (sim/testdata/b200.txt); "RTX 5090" and "RTX 4090" are results on inputs made by hand that
// owners of these cards have published (sim/testdata/geforce.txt).
const (
	srcTable4 = "arXiv:2511.10909 Alg. 7, Table 4"
	srcTable5 = "arXiv:2511.10909 Alg. 9, Table 5"
	srcST     = "arXiv:2511.10909 Alg. 8, Table 4"
	srcDMMA   = "arXiv:2511.10909 Alg. 4, Table 3"
	srcSparse = "PTX ISA, mma.sp: the dense instruction on the elements that A keeps"
	srcRound  = "PTX ISA, mma: fused multiply-adds of the rounding that is named"
	srcCode   = "machine code that ptxas 12.9 makes"
	srcMMASim = "MMA-Sim 2.1.1"
)

// Evidence of rows that nobody has checked against results begins with "none".
const (
	evSparse = "none: the rule of the dense instruction"
	evRound  = "none: the rule of the instruction that rounds to nearest"
	evCode   = "none beside the code"
	evMMASim = "MMA-Sim 2.1.1: Volta's rule, on the tensor cores (HMMA.884); disputed: SMT, Algorithm 1, has F = 24 there"
	evSame   = "none: the rule of kind::f8f6f4, which is the same machine instruction"
)

// Floors (exponent of zero, e_zero): FP32 results -126+18-F and FP16 results -14+18-F,
// with the F that the architecture has for FP16 operands also where those are FP8; MX
// -133, MXF4 and NVF4 -139. For FP16 operands and FP32 results, and for FP8 operands, no
// input shows it.
const (
	evFloor16 = "; e_zero from the MATLAB models and a Turing probe, not from recorded rows" + evC16
	evWide16  = "; e_zero -21 as for mma.sync: MMA-Sim 2.1.0 and another published model of H100 and B200 (MMA-Sim <= 2.0.3: -133)" + evC16
	// The other model's rule is in github.com/sf-tensor/tcgen05, tcgen05_model/MODEL.md, section 5.
	evWindow = "; disputed: an independent B200 model aligns at the largest product, unless the exponent of C is at least as large, and here the scales count without the products; random inputs do not tell them apart, question W1 of the checklist does"
	evC16    = "; disputed: a subnormal FP16 C counts with -14 here, with its own exponent in another published model, which nobody has measured"
)

func rz32() Round  { return To(fp.FP32, fp.RZ) }
func rne16() Round { return To(fp.FP16, fp.RNE) }

// Patterns of names that several declarations share.
const (
	narrow     = "{e4m3,e5m2,e3m2,e2m3,e2m1}" // the 8, 6 and 4-bit formats of kind::f8f6f4
	narrowPair = narrow + "." + narrow
	fp8Pair    = "{e4m3,e5m2}.{e4m3,e5m2}"
	dmmaNames  = "mma.{m8n8k4,m16n8k4,m16n8k8,m16n8k16}.f64.f64.f64.f64"
	nvf4       = "block{32.f32.e2m1.e2m1.f32.ue8m0,16.f32.e2m1.e2m1.f32.ue8m0,16.f32.e2m1.e2m1.f32.ue4m3}"

	// generic is what every chip from Blackwell on has.
	generic = "mma.m8n8k4.{f32.f16.f16.f32,f32.f16.f16.f16,f16.f16.f16.f16} mma.m16n8k{8,16}.{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32} mma.m16n8k{4,8}.f32.tf32.tf32.f32 " +
		"mma.m16n8k{16,32}.f32." + fp8Pair + ".f32 mma.m16n8k{16,32}.f16." + fp8Pair + ".f16 " + dmmaNames + "{,.rz,.rm,.rp} " +
		"mma.sp.m16n8k{16,32}.{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32} mma.sp.m16n8k{8,16}.f32.tf32.tf32.f32 " +
		"mma.sp.m16n8k64.f32." + fp8Pair + ".f32"
	// tensorMemory is what the chips with tensor memory have besides, except for the
	// instructions for which there are data of Thor.
	tensorMemory = "tcgen05.m128n8k16.kind::f16.{f32,f16}.f16.f16{,.c0} tcgen05.m128n8k16.kind::f16.f32.bf16.bf16.c0 " +
		"tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32{,.c0} tcgen05.m128n8k32.kind::f8f6f4.{f32,f16}." + narrowPair + "{,.c0} " +
		"tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.{e4m3,e5m2}.{e3m2,e2m3,e2m1}.ue8m0 " +
		"tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.{e3m2,e2m3,e2m1}." + narrow + ".ue8m0 " +
		"tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0 tcgen05.m128n8k64.kind::mxf4nvf4.block{32.f32.e2m1.e2m1.ue8m0,16.f32.e2m1.e2m1.ue8m0,16.f32.e2m1.e2m1.ue4m3}"
	thorBF16 = "tcgen05.m128n8k16.kind::f16.f32.bf16.bf16"
	thorMX   = "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32." + fp8Pair + ".ue8m0"
	// rtxKinds is what the chips without tensor memory have instead.
	rtxKinds = "mma.m16n8k32.kind::f8f6f4.f32." + narrowPair + ".f32 mma.m16n8k32.kind::f8f6f4.f16." + narrowPair + ".f16 " +
		"mma.m16n8k32.kind::mxf8f6f4.block32.f32." + narrowPair + ".f32.ue8m0 mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0 " +
		"mma.m16n8k64.kind::mxf4nvf4." + nvf4 + " mma.sp.m16n8k64.kind::f8f6f4.f32." + narrowPair + ".f32 " +
		"mma.sp.m16n8k64.kind::f8f6f4.f16." + narrowPair + ".f16 mma.sp.m16n8k64.kind::mxf8f6f4.block32.f32." + narrowPair + ".f32.ue8m0 " +
		"mma.sp.m16n8k128.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0 mma.sp.m16n8k128.kind::mxf4nvf4." + nvf4
	// scalar884 are the architectures that compute Volta's shape by scalar instructions.
	scalar884 = "ampere ada hopper blackwell rtx-blackwell"
)

var nvidia = []decl{
	// Volta: quad-pair instructions, four products, F = 23.
	{archs: "volta", names: "mma.m8n8k4.f32.f16.f16.f32", params: TFDPA(4, 23, rz32(), -131),
		source: srcTable4, evidence: "5,000 rows (V100); 001; Fasi; SMT"},
	{archs: "volta", names: "mma.m8n8k4.f16.f16.f16.f16", params: TFDPA(4, 23, rne16(), -19),
		source: srcTable4, evidence: "5,000 rows (V100), which do not determine F; 001" + evFloor16},
	{archs: "volta", names: "mma.m8n8k4.f32.f16.f16.f16", params: TFDPA(4, 23, rz32(), -131),
		source: srcTable4, evidence: "001" + evC16},

	// Turing, Ampere, Ada: 16 bytes of operands a step, F = 24.
	{archs: "turing", names: "mma.m16n8k8.f32.f16.f16.f32", params: TFDPA(8, 24, rz32(), -132),
		source: srcTable4, evidence: "001; Fasi (F); no public data"},
	{archs: "turing", names: "mma.m8n8k4.f32.f16.f16.f32", params: TFDPA(4, 23, rz32(), -131), source: srcMMASim, evidence: evMMASim},
	{archs: "turing", names: "mma.m8n8k4.f16.f16.f16.f16", params: TFDPA(4, 23, rne16(), -19), source: srcMMASim, evidence: evMMASim + evC16},
	{archs: "turing", names: "mma.m8n8k4.f32.f16.f16.f16", params: TFDPA(4, 23, rz32(), -131), source: srcMMASim, evidence: evMMASim + evC16},
	{archs: "turing", names: "mma.m16n8k8.f16.f16.f16.f16", params: TFDPA(8, 24, rne16(), -20),
		source: srcTable4, evidence: "001; MMA-Sim probes on Turing (e_zero, direct rounding)" + evC16},
	{archs: "ampere ada", names: "mma.m16n8k{8,16}.f32.f16.f16.f32", params: TFDPA(8, 24, rz32(), -132),
		source: srcTable4, evidence: "rows: A100 and A2 10,000, Ada and L40S 10,000 (k8); RTX 4090 (20 results); 001; Fasi"},
	{archs: "ampere ada", names: "mma.m16n8k{8,16}.f16.f16.f16.f16", params: TFDPA(8, 24, rne16(), -20),
		source: srcTable4, evidence: "rows: A100 and A2 10,000, Ada and L40S 10,000 (k8), which do not determine F; 001" + evFloor16},
	{archs: "ampere ada", names: "mma.m16n8k{8,16}.f32.bf16.bf16.f32", params: TFDPA(8, 24, rz32(), -132),
		source: srcTable4, evidence: "rows: A100 and A2 10,000, Ada and L40S 10,000 (k8); 001"},
	{archs: "ampere ada", names: "mma.m16n8k{4,8}.f32.tf32.tf32.f32", params: TFDPA(4, 24, rz32(), -132),
		source: srcTable4, evidence: "rows: A100 and A2 10,000, Ada and L40S 10,000 (k4); 001"},
	{archs: "ada", names: "mma.m16n8k{16,32}.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32", params: TFDPA(16, 13, rzE8M13(), -132),
		source: srcTable4, evidence: "rows: Ada and L40S 20,000 (k32, equal formats); 001"},
	{archs: "ada", names: "mma.m16n8k{16,32}.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16", params: TFDPA(16, 13, rne16(), -20),
		source: srcTable4, evidence: "rows: Ada 10,000 (k32, equal formats); 001" + evC16},

	// Hopper, Blackwell, RTX Blackwell: 32 bytes of operands a step, F = 25.
	{archs: "hopper blackwell rtx-blackwell", names: "mma.m16n8k{8,16}.f32.f16.f16.f32", params: TFDPA(16, 25, rz32(), -133),
		source: srcTable4, evidence: "rows: H100 and H200 10,000, B200 5,000 (k16); RTX 5090 (19 results); 001"},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.m16n8k{8,16}.f16.f16.f16.f16", params: TFDPA(16, 25, rne16(), -21),
		source: srcTable4, evidence: "rows: H100 and H200 10,000, B200 5,000 (k16), which do not determine F; 001" + evFloor16},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.m16n8k{8,16}.f32.bf16.bf16.f32", params: TFDPA(16, 25, rz32(), -133),
		source: srcTable4, evidence: "rows: H100 and H200 10,000, B200 5,000 (k16); 001; one published H100 case fixes e_zero"},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.m16n8k{4,8}.f32.tf32.tf32.f32", params: TFDPA(8, 25, rz32(), -133),
		source: srcTable4, evidence: "rows: H100 and H200 10,000, B200 5,000 (only 4 of 8 products used: L = 8 rests on 001)"},
	{archs: "ampere ada", names: "mma.m8n8k4.f64.f64.f64.f64", params: dmma(fp.RNE), unknown: FacetNaN, alias: roundsToNearest,
		source: srcDMMA, evidence: "001; Fasi"},
	{archs: "hopper blackwell rtx-blackwell", names: dmmaNames, params: dmma(fp.RNE), unknown: FacetNaN, alias: roundsToNearest,
		source: srcDMMA, evidence: "001"},
	{archs: "ampere ada", names: "mma.m8n8k4.f64.f64.f64.f64.rz", params: dmma(fp.RZ), unknown: FacetNaN, source: srcRound, evidence: evRound},
	{archs: "ampere ada", names: "mma.m8n8k4.f64.f64.f64.f64.rm", params: dmma(fp.RD), unknown: FacetNaN, source: srcRound, evidence: evRound},
	{archs: "ampere ada", names: "mma.m8n8k4.f64.f64.f64.f64.rp", params: dmma(fp.RU), unknown: FacetNaN, source: srcRound, evidence: evRound},
	{archs: "hopper blackwell rtx-blackwell", names: dmmaNames + ".rz", params: dmma(fp.RZ), unknown: FacetNaN, source: srcRound, evidence: evRound},
	{archs: "hopper blackwell rtx-blackwell", names: dmmaNames + ".rm", params: dmma(fp.RD), unknown: FacetNaN, source: srcRound, evidence: evRound},
	{archs: "hopper blackwell rtx-blackwell", names: dmmaNames + ".rp", params: dmma(fp.RU), unknown: FacetNaN, source: srcRound, evidence: evRound},

	// Hopper's warpgroup instructions; FP8 keeps 13 bits.
	{archs: "hopper", names: "wgmma.m64n8k16.f32.f16.f16{,.c0} wgmma.m64n8k16.f32.bf16.bf16{,.c0}", params: TFDPA(16, 25, rz32(), -133),
		source: srcTable4, evidence: "001; recorded rows are of mma.sync"},
	{archs: "hopper", names: "wgmma.m64n8k16.f16.f16.f16{,.c0}", params: TFDPA(16, 25, rne16(), -21),
		source: srcTable4, evidence: "001" + evWide16},
	{archs: "hopper", names: "wgmma.m64n8k8.f32.tf32.tf32{,.c0}", params: TFDPA(8, 25, rz32(), -133),
		source: srcTable4, evidence: "001"},
	{archs: "hopper", names: "wgmma.m64n8k32.f32.{e4m3,e5m2}.{e4m3,e5m2}{,.c0}", params: TFDPA(32, 13, rzE8M13(), -133),
		source: srcTable4, evidence: "rows: H100 and H200 20,000 (equal formats, without C); 001"},
	{archs: "hopper", names: "wgmma.m64n8k32.f16.{e4m3,e5m2}.{e4m3,e5m2}{,.c0}", params: TFDPA(32, 13, rne16(), -21),
		source: srcTable4, evidence: "001" + evWide16},

	// FP8 mma.sync on Hopper and Blackwell is not done by an FP8 unit: the
	// compiler widens to FP16 and issues two HMMA and one addition.
	{archs: "hopper blackwell", names: "mma.m16n8k32.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32", params: splitHMMA(25, rz32(), -133, fp.FP32),
		source: "found by search on recorded rows", evidence: "rows: H100 and H200 20,000 (older upload), B200 10,000, equal formats; order of the halves from FP16 results only"},
	{archs: "hopper blackwell", names: "mma.m16n8k32.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16", params: splitHMMA(25, rne16(), -21, fp.FP16),
		source: "found by search on recorded rows", evidence: "rows: H100 and H200 20,000, B200 10,000, equal formats"},
	{archs: "hopper blackwell", names: "mma.m16n8k16.f32." + fp8Pair + ".f32", params: splitHMMA8(rz32(), -133, fp.FP32), source: srcCode, evidence: evCode},
	{archs: "hopper blackwell", names: "mma.m16n8k16.f16." + fp8Pair + ".f16", params: splitHMMA8(rne16(), -21, fp.FP16), source: srcCode, evidence: evCode},

	// Blackwell's tensor-memory instructions.
	{archs: "blackwell", names: "tcgen05.m128n8k16.kind::f16.f32.f16.f16{,.c0} tcgen05.m128n8k16.kind::f16.f32.bf16.bf16{,.c0}", params: TFDPA(16, 25, rz32(), -133),
		source: srcTable4, evidence: "001; B200 words"},
	{archs: "blackwell", names: "tcgen05.m128n8k16.kind::f16.f16.f16.f16{,.c0}", params: TFDPA(16, 25, rne16(), -21),
		source: srcTable4, evidence: "001; B200 words" + evWide16},
	{archs: "blackwell", names: "tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32{,.c0}", params: TFDPA(8, 25, rz32(), -133),
		source: srcTable4, evidence: "001; B200 words"},
	{archs: "blackwell", names: "tcgen05.m128n8k32.kind::f8f6f4.f32." + narrow + "." + narrow + "{,.c0}", params: TFDPA(32, 25, rz32(), -133),
		source: srcTable4, evidence: "001 (FP8, FP4); B200 words (FP6 too)"},
	{archs: "blackwell", names: "tcgen05.m128n8k32.kind::f8f6f4.f16." + narrow + "." + narrow + "{,.c0}", params: TFDPA(32, 25, rne16(), -21),
		source: srcTable4, evidence: "001 (FP8, FP4); B200 words (FP6 too)" + evWide16},
	{archs: "blackwell", names: "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32." + narrow + "." + narrow + ".ue8m0", params: stFDPA(32, 25, rz32(), -133),
		source: srcST, evidence: "001 (FP8, FP4); B200 words; e_zero from MMA-Sim"},
	{archs: "blackwell", names: "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0 tcgen05.m128n8k64.kind::mxf4nvf4.block{32,16}.f32.e2m1.e2m1.ue8m0", params: gstFDPA(64, 16, 35, rz32(), -139),
		source: srcTable5, evidence: "001; B200 words; an independent B200 model, compared on random inputs alone"},
	{archs: "blackwell", names: "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", params: gstFDPA(64, 16, 35, rz32(), -139),
		source: srcTable5, evidence: "001; B200 words" + evWindow},

	// RTX Blackwell's mma.sync kinds.
	{archs: "rtx-blackwell", names: "mma.m16n8k32.kind::f8f6f4.f32." + narrow + "." + narrow + ".f32", params: TFDPA(32, 25, rz32(), -133),
		source: srcTable4, evidence: "001 (FP8, FP4); RTX 5090 (FP6 and FP4, 5 results); FP6 as on Blackwell"},
	{archs: "rtx-blackwell", names: "mma.m16n8k32.kind::f8f6f4.f16." + narrow + "." + narrow + ".f16", params: TFDPA(32, 25, rne16(), -21),
		source: srcTable4, evidence: "001 (FP8, FP4); FP6 as on Blackwell; e_zero as for mma.sync FP16 results, which no input shows" + evC16},
	{archs: "rtx-blackwell", names: "mma.m16n8k32.kind::mxf8f6f4.block32.f32." + narrow + "." + narrow + ".f32.ue8m0", params: stFDPA(32, 25, rz32(), -133),
		source: srcST, evidence: "001 (FP8, FP4); FP6 as on Blackwell"},
	{archs: "rtx-blackwell", names: "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0 mma.m16n8k64.kind::mxf4nvf4.block{32,16}.f32.e2m1.e2m1.f32.ue8m0", params: gstFDPA(64, 16, 35, rz32(), -139),
		source: srcTable5, evidence: "001"},
	{archs: "rtx-blackwell", names: "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", params: gstFDPA(64, 16, 35, rz32(), -139),
		source: srcTable5, evidence: "001" + evWindow},
	// FP8 without a kind is the same machine instruction.
	{archs: "rtx-blackwell", names: "mma.m16n8k16.f32." + fp8Pair + ".f32", params: TFDPA(32, 25, rz32(), -133),
		source: srcTable4 + "; " + srcCode, evidence: evSame},
	{archs: "rtx-blackwell", names: "mma.m16n8k32.f32." + fp8Pair + ".f32", params: TFDPA(32, 25, rz32(), -133),
		source: srcTable4 + "; " + srcCode, evidence: "RTX 5090 (5 results)"},
	{archs: "rtx-blackwell", names: "mma.m16n8k{16,32}.f16." + fp8Pair + ".f16", params: TFDPA(32, 25, rne16(), -21),
		source: srcTable4 + "; " + srcCode, evidence: evSame},

	// Thor: two instructions for which silicon has been reported.
	{archs: "thor", names: thorBF16, params: TFDPA(16, 25, rz32(), -133),
		source: "public report", evidence: "36,864 FP32 words match F = 25, L = 16; e_zero and specials assumed as on Blackwell", unknown: FacetNaN | FacetZero},
	{archs: "thor", names: thorMX, params: stFDPA(32, 25, rz32(), -133),
		source: "public report", evidence: "36,864 FP32 words match F = 25, L = 32; e_zero and specials assumed as on Blackwell", unknown: FacetNaN | FacetZero},

	// Sparse A: a dot product of the elements that A keeps.
	{archs: "ampere ada", names: "mma.sp.m16n8k{16,32}.f32.f16.f16.f32 mma.sp.m16n8k{16,32}.f32.bf16.bf16.f32", params: TFDPA(8, 24, rz32(), -132),
		source: srcSparse, evidence: evSparse},
	{archs: "ampere ada", names: "mma.sp.m16n8k{16,32}.f16.f16.f16.f16", params: TFDPA(8, 24, rne16(), -20), source: srcSparse, evidence: evSparse},
	{archs: "ampere ada", names: "mma.sp.m16n8k{8,16}.f32.tf32.tf32.f32", params: TFDPA(4, 24, rz32(), -132), source: srcSparse, evidence: evSparse},
	{archs: "ada", names: "mma.sp.m16n8k64.f32." + fp8Pair + ".f32", params: TFDPA(16, 13, rzE8M13(), -132), source: srcSparse, evidence: evSparse},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.sp.m16n8k{16,32}.f32.f16.f16.f32 mma.sp.m16n8k{16,32}.f32.bf16.bf16.f32", params: TFDPA(16, 25, rz32(), -133),
		source: srcSparse, evidence: evSparse},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.sp.m16n8k{16,32}.f16.f16.f16.f16", params: TFDPA(16, 25, rne16(), -21), source: srcSparse, evidence: evSparse},
	{archs: "hopper blackwell rtx-blackwell", names: "mma.sp.m16n8k{8,16}.f32.tf32.tf32.f32", params: TFDPA(8, 25, rz32(), -133), source: srcSparse, evidence: evSparse},
	{archs: "rtx-blackwell", names: "mma.sp.m16n8k64.f32." + fp8Pair + ".f32 mma.sp.m16n8k64.kind::f8f6f4.f32." + narrowPair + ".f32", params: TFDPA(32, 25, rz32(), -133),
		source: srcSparse, evidence: evSparse},
	{archs: "rtx-blackwell", names: "mma.sp.m16n8k64.kind::f8f6f4.f16." + narrowPair + ".f16", params: TFDPA(32, 25, rne16(), -21), source: srcSparse, evidence: evSparse},
	{archs: "rtx-blackwell", names: "mma.sp.m16n8k64.kind::mxf8f6f4.block32.f32." + narrowPair + ".f32.ue8m0", params: stFDPA(32, 25, rz32(), -133),
		source: srcSparse, evidence: evSparse},
	{archs: "rtx-blackwell", names: "mma.sp.m16n8k128.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0 mma.sp.m16n8k128.kind::mxf4nvf4." + nvf4, params: gstFDPA(64, 16, 35, rz32(), -139),
		source: srcSparse, evidence: evSparse},

	// Volta's shape on chips whose tensor cores do not have it: ptxas makes it of
	// scalar instructions, FFMA from +0 and then FADD, or for FP16 results FADD of
	// the two pairs.
	{archs: scalar884, names: "mma.m8n8k4.f32.f16.f16.{f32,f16}", params: scalarFMA(), source: srcCode, evidence: evCode},
	{archs: scalar884, names: "mma.m8n8k4.f16.f16.f16.f16", params: scalarPairs(), source: srcCode, evidence: evCode},

	// Listed, without a model.
	{archs: "hopper blackwell", names: "mma.sp.m16n8k64.f32." + fp8Pair + ".f32",
		refuse: "FP8 mma.sp is emulated here, and nobody has shown how its parts are added"},
	{archs: "blackwell-ultra", names: generic + " " + tensorMemory + " " + thorBF16 + " " + thorMX,
		refuse: "no data for sm_103; Blackwell (sm_100) is the likely model: use sim:blackwell"},
	{archs: "thor", names: generic + " " + tensorMemory,
		refuse: "no data for this instruction on sm_110; Blackwell (sm_100) is the likely model: use sim:blackwell"},
	{archs: "gb10", names: generic + " " + rtxKinds,
		refuse: "no data for sm_121; RTX Blackwell (sm_120) is the likely model: use sim:rtx-blackwell"},
}

// dmma is NVIDIA's FP64 unit: a chain of IEEE FMAs whose NaN code nobody has shown.
func dmma(m fp.Mode) Params {
	p := FMA(fp.FP64)
	p.Acc.Mode = m
	if m != fp.RNE {
		p.Acc.Over = OverIEEE
	}
	p.Special.NaN = NaNOnes
	return p
}

// roundsToNearest is the spelling of an FP64 instruction that names its rounding.
func roundsToNearest(name string) string { return name + ".rn" }

// splitHMMA8 is splitHMMA with halves of eight products.
func splitHMMA8(rho Round, floor Exp, d fp.ID) Params {
	p := splitHMMA(25, rho, floor, d)
	p.L = 8
	return p
}

// scalarFMA is a chain of FP32 FMAs from +0, to which C is added.
func scalarFMA() Params {
	p := FMA(fp.FP32)
	p.Start, p.Late = StartZero, To(fp.FP32, fp.RNE)
	p.Special.NaN = NaNOnes
	return p
}

// scalarPairs adds pairs of products in FP32 to C, one after the other. The first
// product of a pair is exact, the second is added by an FMA.
func scalarPairs() Params {
	r := To(fp.FP32, fp.RNE)
	return Params{
		L: 2, Stage0: Stage{Sum: Sequential, Round: r}, Acc: r, Out: To(fp.FP16, fp.RNE),
		Special: Special{NaN: NaNOnes, NegZero: true, TinySign: true},
	}
}
