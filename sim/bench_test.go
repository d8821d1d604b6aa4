package sim_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// benchmarked has an instruction of each operation and operand format.
var benchmarked = []struct{ name, arch, inst string }{
	{"t-fdpa/fp16/ampere", "ampere", "mma.m16n8k16.f32.f16.f16.f32"},
	{"t-fdpa/fp16/hopper", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"t-fdpa/fp16-fp16/hopper", "hopper", "mma.m16n8k16.f16.f16.f16.f16"},
	{"t-fdpa/bf16/hopper", "hopper", "mma.m16n8k16.f32.bf16.bf16.f32"},
	{"t-fdpa/tf32/hopper", "hopper", "mma.m16n8k8.f32.tf32.tf32.f32"},
	{"t-fdpa/e4m3/hopper", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"},
	{"t-fdpa/e2m1/blackwell", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e2m1.e2m1"},
	{"st-fdpa/e4m3/blackwell", "blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"},
	{"gst-fdpa/e2m1/blackwell", "blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"},
	{"split-hmma/e4m3/hopper", "hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
	{"e-fdpa/fp16/cdna1", "cdna1", "v_mfma_f32_16x16x16f16"},
	{"ftz-addmul/fp16/cdna2", "cdna2", "v_mfma_f32_16x16x16f16"},
	{"tr-fdpa/fp16/cdna3", "cdna3", "v_mfma_f32_16x16x16_f16"},
	{"gtr-fdpa/fp8/cdna3", "cdna3", "v_mfma_f32_16x16x32_fp8_fp8"},
	{"fma/fp32/cdna3", "cdna3", "v_mfma_f32_16x16x4_f32"},
	{"fma/fp64/hopper", "hopper", "mma.m16n8k16.f64.f64.f64.f64"},
}

// BenchmarkTile reports for each operation, on raw bits and on finite numbers,
// the processor time for the 2,048 products of an m16n8k16 tile (other K scaled
// to that) on one core, and clock cycles per product.
func BenchmarkTile(b *testing.B) {
	cycle := cycleTime()
	for _, bm := range benchmarked {
		i, err := mma.Lookup(bm.arch, bm.inst)
		if err != nil {
			b.Fatal(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"raw", "finite"} {
			b.Run(bm.name+"/"+kind, func(b *testing.B) {
				const tiles = 64
				in := randomBatch(i, mma.Shape{M: 16, N: 8, K: i.K, Tiles: tiles}, 1, kind == "finite")
				out := make([]byte, in.Dots()*i.D.Width())
				b.ReportAllocs()
				defer lockThread()()
				began := cpuTime()
				for b.Loop() {
					m.Run(in, out)
				}
				products := float64(b.N) * tiles * 128 * float64(i.K)
				perProduct := float64((cpuTime() - began).Nanoseconds()) / products
				b.ReportMetric(2048*perProduct, "ns/tile")
				b.ReportMetric(perProduct/cycle, "cycles/product")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// sink keeps what is computed for its time alone.
var sink uint64

// cycleTime measures the length of a clock cycle in nanoseconds by a chain of
// dependent additions, of which a processor does one a cycle.
func cycleTime() float64 {
	defer lockThread()()
	best := 1e9
	for range 5 {
		start := cpuTime()
		sink += chain(1 << 22)
		best = min(best, float64((cpuTime()-start).Nanoseconds())/(8<<22))
	}
	return best
}

//go:noinline
func chain(n int) uint64 {
	x := uint64(1)
	for range n {
		x += x
		x ^= 5
		x += x
		x ^= 3
		x += x
		x ^= 5
		x += x
		x ^= 3
	}
	return x
}
