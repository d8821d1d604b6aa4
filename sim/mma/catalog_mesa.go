package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// What infer has found of llvmpipe, 10,000,000 dot products of each row (.ci/nightly
// vulkan). Which NaN a result is depends on its place in the matrix there.
const (
	srcLlvmpipe = "inferred through Vulkan: mmafuzz infer --target vulkan:0 --nan class"
	evLlvmpipe  = "recording llvmpipe.rec, and vulkan:0 on Mesa 26.2: the numbers, not which NaN"
)

var mesa = []decl{
	{archs: "llvmpipe", names: "coopmat.m8n8k8.f32.f16.f16.f32", params: llvmpipe(fp.FP32), unknown: FacetNaN, source: srcLlvmpipe, evidence: evLlvmpipe},
	{archs: "llvmpipe", names: "coopmat.m8n8k8.f16.f16.f16.f16", params: llvmpipe(fp.FP16), unknown: FacetNaN, source: srcLlvmpipe, evidence: evLlvmpipe},
}

// llvmpipe is products, rounded to D's format, that are added one after the other, and at
// last c, as a shader's multiplications and additions would be. (In FP32 the products of FP16
// are exact.) The driver has the processor take subnormal FP32 operands as zeros.
func llvmpipe(d fp.ID) Params {
	r := To(d, fp.RNE)
	p := Params{Prod: Product{Round: r}, L: 1, Start: StartEmpty, Acc: r, Late: r, Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
	if d == fp.FP32 {
		p.In.C, p.Prod.Round = FlushSign, Round{}
	}
	return p
}
