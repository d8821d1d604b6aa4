package mma

// A tile of SrcA is 16 x 16, so that K is 16. Each product is made in one to four passes, the fidelity
// phases: of 5 bits of SrcA's significand and 7 of SrcB's at most.
var tensixForms = []form{
	{names: "mvmul.f32.bf16", modes: tensixPhases, m: Range{8, 8, 1}, n: Range{16, 16, 1}, k: 16, formats: "f32.bf16.bf16.f32"},
	{names: "mvmul.f32.f16", modes: tensixPhases, m: Range{8, 8, 1}, n: Range{16, 16, 1}, k: 16, formats: "f32.f16.f16.f32"},
	{names: "mvmul.f32.tf32", modes: tensixPhases, m: Range{8, 8, 1}, n: Range{16, 16, 1}, k: 16, formats: "f32.tf32.tf32.f32"},
}

// tensixPhases are the sets of phases that libraries have names for.
const tensixPhases = "{.lofi,.hifi2,.hifi3,.hifi4}"

var tensix = []decl{
	{archs: "wormhole blackhole", names: "mvmul.f32.{bf16,f16,tf32}" + tensixPhases,
		refuse: "the documentation gives the bits that a fidelity phase multiplies, and calls the order and the rounding of its sums a rough guide (tenstorrent/tt-isa-documentation, MVMUL)"},
}
