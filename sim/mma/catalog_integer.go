package mma

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

var integerForms = []form{
	{names: "vpdpbusd{,s}", m: one, n: one, k: 4, formats: "s32.u8.s8.s32"},
	{names: "vpdpbssd{,s}", m: one, n: one, k: 4, formats: "s32.s8.s8.s32"},
	{names: "vpdpbsud{,s}", m: one, n: one, k: 4, formats: "s32.s8.u8.s32"},
	{names: "vpdpbuud", m: one, n: one, k: 4, formats: "s32.u8.u8.s32"},
	{names: "vpdpbuuds", m: one, n: one, k: 4, formats: "u32.u8.u8.u32"},
	{names: "vpdpwssd{,s}", m: one, n: one, k: 2, formats: "s32.s16.s16.s32"},
	{names: "vpdpwsud{,s}", m: one, n: one, k: 2, formats: "s32.s16.u16.s32"},
	{names: "vpdpwusd{,s}", m: one, n: one, k: 2, formats: "s32.u16.s16.s32"},
	{names: "vpdpwuud", m: one, n: one, k: 2, formats: "s32.u16.u16.s32"},
	{names: "vpdpwuuds", m: one, n: one, k: 2, formats: "u32.u16.u16.u32"},
	{names: "vpmaddwd", m: one, n: one, k: 2, formats: "s32.s16.s16.none"},
	{names: "vpmaddubsw", m: one, n: one, k: 2, formats: "s16.u8.s8.none"},
	{names: "avx2-u8s8", m: one, n: one, k: 4, formats: "s32.u8.s8.s32"},
	{names: "tdpbssd", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 64, formats: "s32.s8.s8.s32"},
	{names: "tdpbsud", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 64, formats: "s32.s8.u8.s32"},
	{names: "tdpbusd", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 64, formats: "s32.u8.s8.s32"},
	{names: "tdpbuud", m: Range{1, 16, 1}, n: Range{1, 16, 1}, k: 64, formats: "s32.u8.u8.s32"},
	{names: "sdot", m: one, n: one, k: 4, formats: "s32.s8.s8.s32"},
	{names: "udot", m: one, n: one, k: 4, formats: "s32.u8.u8.s32"},
	{names: "usdot", m: one, n: one, k: 4, formats: "s32.u8.s8.s32"},
	{names: "smmla", m: two, n: two, k: 8, formats: "s32.s8.s8.s32"},
	{names: "ummla", m: two, n: two, k: 8, formats: "s32.u8.u8.s32"},
	{names: "usmmla", m: two, n: two, k: 8, formats: "s32.u8.s8.s32"},
	{names: "vqdot.vv", m: one, n: one, k: 4, formats: "s32.s8.s8.s32"},
	{names: "vqdotu.vv", m: one, n: one, k: 4, formats: "s32.u8.u8.s32"},
	{names: "vqdotsu.vv", m: one, n: one, k: 4, formats: "s32.s8.u8.s32"},
}

const (
	evIntegers = "none: the manual, which leaves nothing open"
	evXeonInts = "recording sapphire-rapids-integers.rec, every bit; Xeon: 4,000,000 of all generators, mmafuzz run --a cpu:0 --b sim:x86 --inst s8,s16,u8 --count 4000000"
	evZen5     = "Zen 5: 50,000,000 of all generators, mmafuzz run --a cpu:0 --b sim:zen4 --inst s8,s16 --count 50000000"
	intPairs   = "{s8.s8,s8.u8,u8.s8,u8.u8}"
	int4Pairs  = "{s4.s4,u4.u4}"
	// From Turing on, and what Ampere added.
	turingInt  = "mma.m8n8k16.s32." + intPairs + ".s32{,.satfinite} mma.m8n8k32.s32." + int4Pairs + ".s32{,.satfinite}"
	ampereInt  = "mma.m16n8k{16,32}.s32." + intPairs + ".s32{,.satfinite} mma.m16n8k{32,64}.s32." + int4Pairs + ".s32{,.satfinite}"
	turingB1   = "mma.m8n8k128.s32.b1.b1.s32.xor.popc"
	ampereB1   = "mma.m8n8k128.s32.b1.b1.s32.and.popc mma.m16n8k{128,256}.s32.b1.b1.s32.{xor,and}.popc"
	sparseInt  = "mma.sp.m16n8k{32,64}.s32." + intPairs + ".s32{,.satfinite}"
	fromAmpere = "ampere ada hopper blackwell blackwell-ultra thor rtx-blackwell gb10"
)

// Sums that wrap are the same whether their bits are read as signed or as unsigned, so that
// the results of UDOT and V_DOT4_U32_U8 are s32 here. Those that saturate are u32.
var integerRows = slices.Concat([]decl{
	{archs: "turing ampere ada", names: turingInt + " " + turingB1, params: integers(0, OverWrap), complete: integerWords,
		source: "PTX ISA, mma, integer type", evidence: evIntegers},
	{archs: fromAmpere, names: ampereInt + " " + ampereB1, params: integers(0, OverWrap), complete: integerWords,
		source: "PTX ISA, mma, integer type", evidence: evIntegers},
	{archs: fromAmpere, names: sparseInt, params: integers(0, OverWrap), complete: integerWords, source: srcSparse, evidence: evIntegers},
	{archs: "ampere ada", names: "mma.sp.m16n8k{64,128}.s32." + int4Pairs + ".s32{,.satfinite}", params: integers(0, OverWrap), complete: integerWords,
		source: srcSparse, evidence: evIntegers},
	{archs: "hopper", names: "wgmma.m64n8k32.s32." + intPairs + "{,.satfinite}", params: integers(0, OverWrap), complete: integerWords,
		source: "PTX ISA, wgmma, integer type", evidence: evIntegers},
	{archs: "blackwell thor", names: "tcgen05.m128n8k32.kind::i8.s32." + intPairs, params: integers(0, OverWrap),
		source: "PTX ISA, tcgen05.mma, kind::i8", evidence: evIntegers},

	{archs: "cdna1 cdna2", names: "v_mfma_i32_{32x32x4i8,16x16x4i8,4x4x4i8,32x32x8i8,16x16x16i8}", params: integers(0, OverWrap),
		source: "AMD CDNA ISA, V_MFMA_I32", evidence: evIntegers},
	{archs: "cdna3 cdna4", names: "v_mfma_i32_{32x32x4_2b_i8,16x16x4_4b_i8,4x4x4_16b_i8,32x32x16_i8,16x16x32_i8} v_smfmac_i32_{16x16x64_i8,32x32x32_i8}", params: integers(0, OverWrap),
		source: "AMD CDNA ISA, V_MFMA_I32", evidence: evIntegers},
	{archs: "cdna4", names: "v_mfma_i32_{16x16x64_i8,32x32x32_i8} v_smfmac_i32_{16x16x128_i8,32x32x64_i8}", params: integers(0, OverWrap),
		source: "AMD CDNA ISA, V_MFMA_I32", evidence: evIntegers},
	{archs: "cdna1 cdna2 cdna3 cdna4", names: "v_dot{2_i32_i16,4_i32_i8,8_i32_i4,2_u32_u16,4_u32_u8,8_u32_u4}{,_clamp}", params: integers(0, OverWrap), complete: integerWords,
		source: "AMD CDNA ISA, V_DOT4_I32_I8", evidence: evIntegers},
	{archs: "rdna3 rdna4", names: "v_wmma_i32_16x16x16_iu8_{s8,u8}_{s8,u8}{,_clamp} v_wmma_i32_16x16x16_iu4_{s4_s4,u4_u4}{,_clamp} v_dot4_i32_iu8_{s8,u8}_{s8,u8}{,_clamp} v_dot8_i32_iu4_{s4_s4,u4_u4}{,_clamp}",
		params: integers(0, OverWrap), complete: integerWords,
		source: "AMD RDNA ISA, V_WMMA_I32 and V_DOT4_I32_IU8: NEG says which operand is signed", evidence: evIntegers},
	{archs: "rdna4", names: "v_wmma_i32_16x16x32_iu4_{s4_s4,u4_u4}{,_clamp} v_swmmac_i32_16x16x32_iu8_{s8,u8}_{s8,u8}{,_clamp} v_swmmac_i32_16x16x{32,64}_iu4_{s4_s4,u4_u4}{,_clamp}",
		params: integers(0, OverWrap), complete: integerWords,
		source: "AMD RDNA4 ISA, V_SWMMAC_I32", evidence: evIntegers},
}, vnni("zen4", evZen5), vnni("x86", evXeonInts), []decl{
	{archs: "x86", names: "vpdpb{ss,su,uu}d{,s}", params: integers(0, OverWrap), complete: integerWords,
		source: "Intel SDM vol. 2, AVX-VNNI-INT8", evidence: evIntegers},
	{archs: "x86", names: "vpdpw{su,us,uu}d{,s}", params: integers(0, OverWrap), complete: integerWords,
		source: "Intel SDM vol. 2, AVX-VNNI-INT16", evidence: evIntegers},
	{archs: "x86", names: "tdpb{ss,su,us,uu}d", params: integers(0, OverWrap),
		source: "Intel SDM vol. 2, AMX-INT8", evidence: evXeonInts},

	{archs: "arm", names: "sdot udot usdot smmla ummla usmmla", params: integers(0, OverWrap),
		source: "Arm ARM, FEAT_DotProd and FEAT_I8MM", evidence: evIntegers},
	{archs: "riscv", names: "vqdot.vv vqdotu.vv vqdotsu.vv", params: integers(0, OverWrap),
		source: "RISC-V Zvqdotq", evidence: evIntegers},
})

// vnni is what processors of AMD and of Intel have.
func vnni(archs, evidence string) []decl {
	return []decl{
		{archs: archs, names: "vpdpbusd{,s} vpdpwssd{,s}", params: integers(0, OverWrap), complete: integerWords,
			source: "Intel SDM vol. 2, VPDPBUSD, VPDPWSSD", evidence: evidence},
		{archs: archs, names: "vpmaddwd", params: integers(0, OverWrap),
			source: "Intel SDM vol. 2, PMADDWD", evidence: evidence},
		{archs: archs, names: "vpmaddubsw", params: Params{Acc: integerRange(15, OverSat)},
			source: "Intel SDM vol. 2, PMADDUBSW", evidence: evidence},
		{archs: archs, names: "avx2-u8s8", params: saturatedPairs(),
			source: "VPMADDUBSW, VPMADDWD with ones, and VPADDD: what libraries do without VNNI", evidence: evidence},
	}
}

// integerRange is the range of integers of so many bits besides a sign.
func integerRange(bits uint8, over Over) Round {
	n := Exp(bits)
	return Round{Frac: Frac(bits), Mode: fp.RZ, Emin: n, Emax: n - 1, Over: over}
}

// integers is exact sums of l products of integers and of c, in 32 bits.
func integers(l uint8, over Over) Params { return Params{L: l, Acc: integerRange(31, over)} }

// saturatedPairs adds up products of integers in pairs, which saturate in 16 bits.
func saturatedPairs() Params {
	p := integers(0, OverWrap)
	p.Stage0 = Stage{Sum: Fused, Group: 2, Round: integerRange(15, OverSat)}
	return p
}

// integerWords makes the sums of a row saturate, or its products exclusive ors, if its name says so.
func integerWords(i *Instruction) {
	for _, word := range []string{".satfinite", "_clamp", "ds"} {
		if strings.HasSuffix(i.Name, word) {
			i.Params.Acc = integerRange(i.D.Get().FracBits, OverSat)
		}
	}
	i.Params.Prod.Xor = strings.HasSuffix(i.Name, ".xor.popc")
}
