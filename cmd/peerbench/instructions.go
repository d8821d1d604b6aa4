package main

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// peerName is what MMA-Sim calls an instruction.
type peerName struct {
	Module string `json:"module"`
	Class  string `json:"class"`
	Arch   string `json:"arch"`
	Type   string `json:"type"`
}

// peerArchs are MMA-Sim's names of architectures.
var peerArchs = map[string]string{
	"volta": "Volta", "turing": "Turing", "ampere": "Ampere", "ada": "Ada Lovelace", "hopper": "Hopper",
	"blackwell": "Blackwell", "rtx-blackwell": "RTX Blackwell", "cdna1": "CDNA1", "cdna2": "CDNA2", "cdna3": "CDNA3",
}

// peerClasses are the modules and classes of instructions by how their names begin,
// without and with block scales.
var peerClasses = []struct{ prefix, module, class, scaled string }{
	{"mma.", "nv_ptx", "MMA", "MMABlockScale"},
	{"wgmma.", "nv_ptx", "WGMMA", ""},
	{"tcgen05.", "nv_ptx", "TCGen05MMA", "TCGen05MMABlockScale"},
	{"v_mfma_", "amd", "MFMA", ""},
}

// nameOf translates an instruction's name.
func nameOf(i *mma.Instruction) peerName {
	for _, c := range peerClasses {
		if rest, ok := strings.CutPrefix(i.Name, c.prefix); ok {
			p := peerName{c.module, c.class, peerArchs[i.Arch], rest}
			if i.Block > 0 {
				p.Class = c.scaled
			}
			return p
		}
	}
	return peerName{Arch: peerArchs[i.Arch], Type: i.Name}
}

// instructions are those that are compared: of every operation, and such as are
// known to be read in different ways.
func instructions() []measure.Operation {
	return append(slices.Clone(measure.Operations),
		measure.Operation{Name: "t-fdpa/fp16/volta", Arch: "volta", Inst: "mma.m8n8k4.f32.f16.f16.f32"},
		measure.Operation{Name: "t-fdpa/fp16/turing", Arch: "turing", Inst: "mma.m16n8k8.f32.f16.f16.f32"},
		measure.Operation{Name: "t-fdpa/e4m3/ada", Arch: "ada", Inst: "mma.m16n8k32.f32.e4m3.e4m3.f32"},
		measure.Operation{Name: "t-fdpa/e5m2-fp16/ada", Arch: "ada", Inst: "mma.m16n8k32.f16.e5m2.e5m2.f16"},
		measure.Operation{Name: "t-fdpa/fp16-fp16-wgmma/hopper", Arch: "hopper", Inst: "wgmma.m64n8k16.f16.f16.f16"},
		measure.Operation{Name: "t-fdpa/fp16-fp16/blackwell", Arch: "blackwell", Inst: "tcgen05.m128n8k16.kind::f16.f16.f16.f16"},
		measure.Operation{Name: "t-fdpa/e2m1/rtx-blackwell", Arch: "rtx-blackwell", Inst: "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32"},
		measure.Operation{Name: "gst-fdpa/e2m1-ue8m0/blackwell", Arch: "blackwell", Inst: "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"},
		measure.Operation{Name: "fma/fp64/cdna3", Arch: "cdna3", Inst: "v_mfma_f64_16x16x4_f64"},
	)
}
