package mma

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// eight is the columns of a batched dot product: of one vector with each of eight.
var eight = Range{8, 8, 1}

// K is that of VLEN = 128 and LMUL = 1. A is vs2 and B is vs1. A mnemonic with .alt reads
// vs2 as E5M2, others read it as E4M3; for vs1 vtype.altfmt makes that choice. BF16 exists
// with altfmt = 1 only.
var riscvForms = []form{
	{names: "vfwdota.vv", m: one, n: one, k: 8, formats: "f32.bf16.bf16.f32"},
	{names: "vfwbdota.vv", m: one, n: eight, k: 8, formats: "f32.bf16.bf16.f32"},
	{names: "vfqwdota.vv", m: one, n: one, k: 16, formats: "f32.e4m3.e4m3.f32"},
	{names: "vfqwdota.vv", modes: ".e8alt", m: one, n: one, k: 16, formats: "f32.e4m3.e5m2.f32"},
	{names: "vfqwdota.alt.vv", m: one, n: one, k: 16, formats: "f32.e5m2.e4m3.f32"},
	{names: "vfqwdota.alt.vv", modes: ".e8alt", m: one, n: one, k: 16, formats: "f32.e5m2.e5m2.f32"},
	{names: "vfqwbdota.vv", m: one, n: eight, k: 16, formats: "f32.e4m3.e4m3.f32"},
	{names: "vfqwbdota.vv", modes: ".e8alt", m: one, n: eight, k: 16, formats: "f32.e4m3.e5m2.f32"},
	{names: "vfqwbdota.alt.vv", m: one, n: eight, k: 16, formats: "f32.e5m2.e4m3.f32"},
	{names: "vfqwbdota.alt.vv", modes: ".e8alt", m: one, n: eight, k: 16, formats: "f32.e5m2.e5m2.f32"},
}

// The manual leaves a chip choices, which package triage/infer lists; the rows are
// what Spike does. The manual's pseudo-code had errors (riscv-isa-manual, pull requests
// 3079 and 3244), which Spike does not have.
const (
	srcRVBNA     = "RISC-V ISA manual, RVBNA and Zvdota, Zvbdota, drafts of 2026, as Spike computes it"
	evSpike      = "recording spike.rec, every bit, not silicon: Spike of 2026-06-25, 4,096 dot products"
	evSpikeMarch = "recording spike-2026-03.rec, every bit, not silicon: Spike of 2026-03, 4,096 dot products"
)

var riscv = []decl{
	{archs: "riscv", names: "vfwdota.vv", params: rvbna(8), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfwbdota.vv", params: rvbna(8), source: srcRVBNA, evidence: evSpikeMarch},
	{archs: "riscv", names: "vfqwdota.vv", params: rvbna(16), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfqwbdota.vv", params: rvbna(16), source: srcRVBNA, evidence: evSpikeMarch},
	{archs: "riscv", names: "vfqwdota.alt.vv.e8alt", params: rvbna(16), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfqwbdota.alt.vv.e8alt vf{qw,qwb}dota.vv.e8alt vf{qw,qwb}dota.alt.vv", params: rvbna(16), source: srcRVBNA, evidence: evSpikeMarch},
}

// rvbna is RISC-V's bulk normalised dot product of n products: their magnitudes, aligned
// at the largest exponent, are rounded to odd at 23 + ceil(log2 n) bits below it, summed,
// and the sum is rounded to odd to FP32, where it overflows to infinity; c is added to
// that with another such rounding. A zero result is +0, a NaN canonical.
func rvbna(n int) Params {
	r := To(fp.FP32, fp.RTO)
	return Params{Stage0: Stage{Sum: Fused, Align: Align{F: 23 + Frac(bits.Len(uint(n-1))), Mode: fp.RTO}, Round: r}, Acc: r, Special: Special{NaN: NaNQuiet}}
}
