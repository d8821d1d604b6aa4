package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are examples of the commands. They can be run one after the other in one directory,
// which a test does: later ones read what earlier ones have written.
var examples = []struct{ command, text string }{
	{"run", "mmafuzz run --inst mma.m16n8k8.f32.f16.f16.f32 --count 4000 --out demo\nmmafuzz run --a sim:hopper --b ref:exact --inst wgmma.m64n8k32.f32.e4m3.e4m3 --count 4000\nmmafuzz run --a sim:cdna3 --b ref:exact --inst v_mfma_f32_16x16x16_f16 --accept \"bound=2*(K+1)*u*S\" --count 4000\nmmafuzz run --a sim:ampere/mma.m16n8k16.f32.f16.f16.f32@split-k --b sim:ampere/mma.m16n8k16.f32.f16.f16.f32@split-k-tail-lost --count 64 --out kernels"},
	{"show", "mmafuzz show demo/mma.m16n8k8.f32.f16.f16.f32/truncation-width-1"},
	{"replay", "mmafuzz replay demo/mma.m16n8k8.f32.f16.f16.f32/truncation-width-1"},
	{"minimize", "mmafuzz minimize demo/mma.m16n8k8.f32.f16.f16.f32/truncation-width-1 --out smaller"},
	{"triage", "mmafuzz triage demo"},
	{"report", "mmafuzz report demo --out report.html"},
	{"atlas", "mmafuzz atlas --out site"},
	{"record", "mmafuzz record --target sim:hopper --plan smoke --name h100 --out h100.rec\nmmafuzz record --target sim:ampere --plan smoke --name a100 --out a100.rec"},
	{"compare", "mmafuzz compare h100.rec a100.rec --known known.json --update-known --reason \"other GPUs\" --out compared\nmmafuzz compare h100.rec a100.rec --known known.json --out again"},
	{"invariance", "mmafuzz invariance sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32"},
	{"bisect", "mmafuzz bisect --a sim:ampere --versions sim:turing,sim:ampere,sim:hopper --count 2000"},
	{"vectors", "mmafuzz vectors --arch cdna1 --inst v_mfma_f32_32x32x4f16 --out vectors\nmmafuzz vectors --score vectors/cdna1/v_mfma_f32_32x32x4f16.json --arch cdna1 --inst v_mfma_f32_32x32x4f16 --accept \"bound=1e-3+1e-3*B\""},
	{"import", "mmafuzz import vectors/cdna1/v_mfma_f32_32x32x4f16.npz --target sim:cdna1 --inst v_mfma_f32_32x32x4f16 --out imported.rec\nmmafuzz run --a replay:imported.rec --b sim:cdna1"},
	{"diff", "mmafuzz diff sim:ampere sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32"},
	{"prove", "mmafuzz prove ampere turing --inst mma.m16n8k8.f32.f16.f16.f32"},
	{"probe", "mmafuzz probe --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32"},
	{"invariance", "mmafuzz invariance \"exec:mmafuzz serve sim:hopper\" --inst mma.m16n8k8.f32.f16.f16.f32 --env OMP_NUM_THREADS=1,2"},
	{"tolerance", "mmafuzz tolerance --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32 --k 64 --count 500"},
	{"quantize", "mmafuzz quantize --format mxfp8 --explain 957"},
	{"infer", "mmafuzz infer --target sim:x86 --inst vdpbf16ps --out inferred"},
	{"eval", "echo \"3c00 3c00 b3000000\" | mmafuzz eval --target sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32 --explain"},
	{"study bias", "mmafuzz study bias sim:hopper sim:cdna3 --count 256"},
	{"study bounds", "mmafuzz study bounds sim:hopper/mma.m16n8k16.f32.f16.f16.f32 --count 100"},
	{"study solve", "mmafuzz study solve --size 64"},
	{"study chain", "mmafuzz study chain --count 20"},
	{"study discrepancy", "mmafuzz study discrepancy --count 256 --rates-only"},
	{"study operations", "mmafuzz study operations sim:ampere --count 200"},
	{"study refine", "mmafuzz study refine --count 50"},
	{"study multiword", "mmafuzz study multiword --count 50"},
	{"gemm", "mmafuzz gemm sim:hopper/mma.m16n8k16.f32.f16.f16.f32@split-k ref:exact --m 16 --n 16 --k 512 --out product\nmmafuzz gemm sim:hopper/mma.m16n8k16.f32.f16.f16.f32@split-k --m 16 --n 16 --k 512 --expect product/D0.npy\nmmafuzz gemm deepgemm cutlass-2xacc --m 16 --n 16 --k 512"},
	{"bench", "mmafuzz bench models --only t-fdpa/fp16/hopper --count 1 --time 100ms"},
	{"campaign plan", "mmafuzz campaign plan --a sim:ampere --b sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32 --count 4000 --out plan.json\nmmafuzz run --campaign plan.json --shard 0/1 --out shard"},
	{"status", "mmafuzz status shard"},
	{"merge", "mmafuzz merge shard --out merged"},
	{"corpus export", "mmafuzz corpus export --a sim:ampere --b sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32 --out inputs"},
	{"corpus import", "mmafuzz corpus import --a sim:ampere --b sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32 --out imported inputs"},
	{"serve", "mmafuzz run --a \"exec:mmafuzz serve sim:hopper\" --b sim:ampere --inst mma.m16n8k8.f32.f16.f16.f32 --count 2000"},
	{"list targets", "mmafuzz list targets"},
	{"list instructions", "mmafuzz list instructions sim:hopper"},
	{"list generators", "mmafuzz list generators"},
	{"list plans", "mmafuzz list plans"},
	{"list labels", "mmafuzz list labels"},
	{"list formats", "mmafuzz list formats"},
	{"list parameters", "mmafuzz list parameters"},
	{"list wanted", "mmafuzz list wanted"},
	{"doctor", "mmafuzz doctor"},
	{"kit", "mmafuzz kit --device sim:volta --inst mma.m8n8k4.f32.f16.f16.f32 --dots 1000 --plan smoke\nmmafuzz compare mmafuzz-*.zip sim:volta"},
	{"version", "mmafuzz version"},
}

// setExamples puts the examples into the help of their commands.
func setExamples(root *cobra.Command) {
	for _, e := range examples {
		if c, rest, err := root.Find(strings.Fields(e.command)); err == nil && len(rest) == 0 {
			c.Example = "  " + strings.ReplaceAll(e.text, "\n", "\n  ")
		}
	}
}
