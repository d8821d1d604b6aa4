package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// What infer has found out about llvmpipe, Mesa's Vulkan driver for processors; .ci/nightly vulkan
// compares each row with it on 10,000,000 dot products. Which NaN llvmpipe returns depends on the
// place of the result in the matrix.
const (
	srcLlvmpipe = "inferred through Vulkan: mmafuzz infer --target vulkan:0 --nan class"
	evLlvmpipe  = "recording llvmpipe.rec, and vulkan:0 on Mesa 26.2: the numbers, not which NaN"
)

var mesa = []decl{
	{archs: "llvmpipe", names: "coopmat.m8n8k8.f32.f16.f16.f32", params: llvmpipe(fp.FP32), unknown: FacetNaN, source: srcLlvmpipe, evidence: evLlvmpipe},
	{archs: "llvmpipe", names: "coopmat.m8n8k8.f16.f16.f16.f16", params: llvmpipe(fp.FP16), unknown: FacetNaN, source: srcLlvmpipe, evidence: evLlvmpipe},
}

// llvmpipe rounds products to D's format and adds them one after the other, then c, as the
// multiplications and additions of a shader would. (In FP32 the products of FP16 are exact.) The
// driver sets the processor to treat subnormal FP32 operands as zeros.
func llvmpipe(d fp.ID) Params {
	r := To(d, fp.RNE)
	p := Params{Prod: Product{Round: r}, L: 1, Start: StartEmpty, Acc: r, Late: r, Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
	if d == fp.FP32 {
		p.In.C, p.Prod.Round = FlushSign, Round{}
	}
	return p
}
