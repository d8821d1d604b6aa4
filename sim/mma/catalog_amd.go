package mma

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// amdUnknown: that a result is NaN is known, but not which; zero signs are known of IEEE
// FMA only.
const amdUnknown = FacetNaN | FacetZero

// There is no public output data of AMD matrix cores. The rows rest on
// arXiv:2511.10909, whose authors validated their models on MI100, MI250X and
// MI300X (evidence "001"), and on the tests of FTTN (CCGrid 2024).
var amd = []decl{
	// CDNA1.
	{archs: "cdna1", names: "v_mfma_f32_{32x32x1,16x16x1,4x4x1,32x32x2,16x16x4}f32", params: FMA(fp.FP32), unknown: FacetNaN,
		source: "arXiv:2511.10909 Alg. 4, Table 6", evidence: "001; FTTN", alias: mfmaAlias},
	{archs: "cdna1", names: "v_mfma_f32_{32x32x2,16x16x2,4x4x2,32x32x4,16x16x8}bf16", params: efdpa(2), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 6, Table 6", evidence: "001; FTTN (width 2)", alias: mfmaAlias},
	{archs: "cdna1", names: "v_mfma_f32_{32x32x4,16x16x4,4x4x4,32x32x8,16x16x16}f16", params: efdpa(4), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 6, Table 6", evidence: "001; FTTN (width 4, GEMM result 255.875)", alias: mfmaAlias},

	// CDNA2.
	{archs: "cdna2", names: "v_mfma_f32_{32x32x1,16x16x1,4x4x1,32x32x2,16x16x4}f32", params: FMA(fp.FP32), unknown: FacetNaN,
		source: "arXiv:2511.10909 Alg. 4, Table 6", evidence: "001; FTTN", alias: mfmaAlias},
	{archs: "cdna2", names: "v_mfma_f64_{16x16x4,4x4x4}f64", params: FMA(fp.FP64), unknown: FacetNaN,
		source: "arXiv:2511.10909 Alg. 4, Table 6", evidence: "001; FTTN", alias: mfmaAlias},
	{archs: "cdna2", names: "v_mfma_f32_{32x32x2,16x16x2,4x4x2,32x32x4,16x16x8}bf16", params: ftzAddMul(2), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 2, Table 6", evidence: "001; flush after rounding as in MMA-Sim, unmeasured", alias: mfmaAlias},
	{archs: "cdna2", names: "v_mfma_f32_{32x32x4,16x16x4,4x4x4,32x32x8,16x16x16}{bf16_1k,f16}", params: ftzAddMul(4), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 2, Table 6", evidence: "001; FTTN (subnormals flushed; its GEMM result 0 is not reproduced); flush after rounding as in MMA-Sim, unmeasured", alias: mfmaAlias},

	// CDNA3. Medium confidence: TR-FDPA's second rounding follows the later
	// MMA-Sim rule, which differs from Alg. 10 on rare inputs.
	{archs: "cdna3", names: "v_mfma_f32_{32x32x1_2b,16x16x1_4b,4x4x1_16b,32x32x2,16x16x4}_f32", params: FMA(fp.FP32), unknown: FacetNaN,
		source: "arXiv:2511.10909 Alg. 4, Table 6", evidence: "001", alias: mfmaAlias},
	{archs: "cdna3", names: "v_mfma_f64_{16x16x4,4x4x4_4b}_f64", params: FMA(fp.FP64), unknown: FacetNaN,
		source: "arXiv:2511.10909 Alg. 4, Table 6", evidence: "001", alias: mfmaAlias},
	{archs: "cdna3", names: "v_mfma_f32_{16x16x8,32x32x4}_xf32", params: trFDPA(4, 24, 31), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 10, Table 7; MMA-Sim for the second rounding", evidence: "001", alias: mfmaAlias},
	{archs: "cdna3", names: "v_mfma_f32_{32x32x4_2b,16x16x4_4b,4x4x4_16b,32x32x8,16x16x16}_{f16,bf16}", params: trFDPA(8, 24, 31), unknown: amdUnknown,
		source:   "arXiv:2511.10909 Alg. 10, Table 7; MMA-Sim for the second rounding",
		evidence: "001; disputed: another published model, withdrawn since, keeps 31 bits and does not cut again", alias: mfmaAlias},
	{archs: "cdna3", names: "v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}_{fp8,bf8}", params: gtrFDPA(16, 24, 31), unknown: amdUnknown,
		source: "arXiv:2511.10909 Alg. 11, Table 7; MMA-Sim for the second rounding", evidence: "001", alias: mfmaAlias},

	// RDNA3. Reported of gfx1151; nothing was compared.
	{archs: "rdna3", names: "v_dot2_f32_f16", params: frameDot2(KeepSub), unknown: amdUnknown, source: srcFrame, evidence: evFrame},
	{archs: "rdna3", names: "v_dot2_f32_bf16", params: frameDot2(FlushSign), unknown: amdUnknown, source: srcFrame, evidence: evFrame},

	// Listed, without a model.
	{archs: "cdna3", names: "v_smfmac_f32_{16x16x32,32x32x16}_{f16,bf16} v_smfmac_f32_{16x16x64,32x32x32}_{fp8,bf8}_{fp8,bf8}",
		refuse: "no rule of sparse MFMA is published"},
	{archs: "cdna4", names: "v_mfma_f32_{32x32x1_2b,16x16x1_4b,4x4x1_16b,32x32x2,16x16x4}_f32 v_mfma_f64_{16x16x4,4x4x4_4b}_f64 " +
		"v_mfma_f32_{32x32x4_2b,16x16x4_4b,4x4x4_16b,32x32x8,16x16x16}_{f16,bf16}", refuse: cdna4Unknown, alias: mfmaAlias},
	{archs: "cdna4", names: "v_mfma_f32_{16x16x32,32x32x16}_{f16,bf16} v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}_{fp8,bf8} " +
		"v_mfma_f32_{16x16x128,32x32x64}_f8f6f4_{fp8,bf8,fp6,bf6,fp4}_{fp8,bf8,fp6,bf6,fp4} " +
		"v_mfma_scale_f32_{16x16x128,32x32x64}_f8f6f4_{fp8,bf8,fp6,bf6,fp4}_{fp8,bf8,fp6,bf6,fp4} " +
		"v_smfmac_f32_{16x16x32,32x32x16,16x16x64,32x32x32}_{f16,bf16} " +
		"v_smfmac_f32_{16x16x64,32x32x32,16x16x128,32x32x64}_{fp8,bf8}_{fp8,bf8}", refuse: cdna4Unknown, ocp: true},
	{archs: "cdna2", names: "v_dot2_f32_f16",
		refuse: "how the sum is rounded is not published; silicon takes FP16 subnormals as +0: 8001*0400 gives 00000000 (llvm-project, pull request 205101)"},
	{archs: "cdna4", names: "v_dot2_f32_f16",
		refuse: "how the sum is rounded is not published; silicon keeps FP16 subnormals: 8001*0400 gives ac800000 (llvm-project, pull request 205101)"},
	{archs: "rdna3", names: "v_wmma_f32_16x16x16_{f16,bf16} v_wmma_f16_16x16x16_f16 v_wmma_bf16_16x16x16_bf16",
		refuse: "silicon is reported to compute it with the adder of v_dot2, whose model rests on assumptions; in which order is not published (ROCm/rocm-systems, issue 12056)"},
	{archs: "rdna4", names: "v_wmma_f32_16x16x16_{f16,bf16} v_wmma_f16_16x16x16_f16 v_wmma_bf16_16x16x16_bf16 " +
		"v_wmma_f32_16x16x16_{fp8,bf8}_{fp8,bf8} v_swmmac_f32_16x16x32_{f16,bf16} v_swmmac_f16_16x16x32_f16 " +
		"v_swmmac_bf16_16x16x32_bf16 v_swmmac_f32_16x16x32_{fp8,bf8}_{fp8,bf8}",
		refuse: "the arithmetic of RDNA4 is unknown", ocp: true},
}

const (
	srcFrame = "ROCm/rocm-systems issue 12056: the sign frame, the width, the exponents of products, subnormal operands"
	evFrame  = "none; assumed: terms cut toward zero, zero terms not negated, rounding to nearest even, a subnormal c or result flushed"
)

// frameDot2 is two products and c in one sum, in which a term whose sign is not c's is negated without
// the carry of two's complement. The exponent of a product is the sum of its factors'.
func frameDot2(sub InFlush) Params {
	r := To(fp.FP32, fp.RNE)
	r.Flush = FlushResult
	return Params{In: Input{Sub: sub, C: FlushSign}, L: 2, Join: Join{Align: Align{F: 24, Mode: fp.RZ, Negate: NegateFrameNumbers}}, Acc: r,
		Special: Special{NaN: NaNQuiet}}
}

const cdna4Unknown = "the arithmetic of CDNA4 is unknown; do not assume CDNA3's"

// mfmaAlias returns the other generation's spelling: 16x16x16f16 for
// 16x16x16_f16 and the other way round, with the number of blocks that only
// the newer spelling names.
func mfmaAlias(name string) string {
	d, rest, _ := strings.Cut(strings.TrimPrefix(name, "v_mfma_"), "_")
	rest = strings.TrimSuffix(rest, "_1k") // only older names have it
	shape, types, newer := strings.Cut(rest, "_")
	if newer {
		if blocks, after, ok := strings.Cut(types, "b_"); ok && len(blocks) <= 2 {
			types = after
		}
		if strings.Contains(types, "_") {
			return "" // fp8_bf8: there is no older spelling
		}
		if types == "bf16" {
			types = "bf16_1k"
		}
		return "v_mfma_" + d + "_" + shape + types
	}
	i := strings.LastIndexByte(rest, 'x') + 1
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	shape, types = rest[:i], rest[i:]
	if types == "bf16" && !strings.HasSuffix(name, "_1k") {
		return "" // dropped from later generations
	}
	if blocks := mfmaBlocks[shape+types]; blocks != "" {
		shape += "_" + blocks
	}
	return "v_mfma_" + d + "_" + shape + "_" + types
}

// mfmaBlocks is the number of blocks of the shapes that have several.
var mfmaBlocks = map[string]string{
	"32x32x1f32": "2b", "16x16x1f32": "4b", "4x4x1f32": "16b",
	"32x32x4f16": "2b", "16x16x4f16": "4b", "4x4x4f16": "16b",
	"32x32x4bf16": "2b", "16x16x4bf16": "4b", "4x4x4bf16": "16b",
	"4x4x4f64": "4b",
}
