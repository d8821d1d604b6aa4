package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// The older interface of NVIDIA's tensor cores, wmma::mma_sync of CUDA C++, which Fasi et al. and
// others used: the compiler makes it of the machine instructions of mma.sync, side by side for
// the columns of D and one after the other for K. So a row has the rule of an instruction of mma
// and the K of its own: what the architecture computes in one step is in L.

const (
	wmmaShapes = "wmma.{m16n16k16,m32n8k16,m8n32k16}"
	srcWMMA    = "PTX ISA, wmma.mma; " + srcCode
	// In the code, which has the registers of each step, K goes up.
	evWMMA = "none of its own: the rule of the mma of its machine instruction"
)

var wmma = []decl{
	// HMMA.884, HMMA.1688, HMMA.16816.
	{archs: "volta", names: wmmaShapes + ".f32.f16.f16.f32", params: TFDPA(4, 23, rz32(), -131), source: srcWMMA, evidence: evWMMA},
	{archs: "volta", names: wmmaShapes + ".f16.f16.f16.f16", params: TFDPA(4, 23, rne16(), -19), source: srcWMMA, evidence: evWMMA},
	{archs: "turing ampere ada", names: wmmaShapes + ".f32.f16.f16.f32", params: TFDPA(8, 24, rz32(), -132), source: srcWMMA, evidence: evWMMA},
	{archs: "turing ampere ada", names: wmmaShapes + ".f16.f16.f16.f16", params: TFDPA(8, 24, rne16(), -20), source: srcWMMA, evidence: evWMMA},
	{archs: "ampere ada", names: wmmaShapes + ".f32.bf16.bf16.f32", params: TFDPA(8, 24, rz32(), -132), source: srcWMMA, evidence: evWMMA},
	{archs: "hopper blackwell rtx-blackwell", names: wmmaShapes + ".f32.f16.f16.f32 " + wmmaShapes + ".f32.bf16.bf16.f32", params: TFDPA(16, 25, rz32(), -133), source: srcWMMA, evidence: evWMMA},
	{archs: "hopper blackwell rtx-blackwell", names: wmmaShapes + ".f16.f16.f16.f16", params: TFDPA(16, 25, rne16(), -21), source: srcWMMA, evidence: evWMMA},

	// HMMA.1684, twice for K = 8, though from Hopper on HMMA.1688 adds eight products at once.
	{archs: "ampere ada", names: "wmma.m16n16k8.f32.tf32.tf32.f32", params: TFDPA(4, 24, rz32(), -132), source: srcWMMA, evidence: evWMMA},
	{archs: "hopper blackwell rtx-blackwell", names: "wmma.m16n16k8.f32.tf32.tf32.f32", params: TFDPA(4, 25, rz32(), -133), source: srcWMMA, evidence: evWMMA},

	{archs: "ampere ada hopper blackwell rtx-blackwell", names: "wmma.m8n8k4.f64.f64.f64.f64", params: dmma(fp.RNE), unknown: FacetNaN, source: srcWMMA, evidence: evWMMA},
	{archs: "turing ampere ada hopper blackwell rtx-blackwell", names: wmmaShapes + ".s32.{s8.s8,u8.u8}.s32", params: integers(0, OverWrap), source: srcWMMA, evidence: evWMMA},
}
