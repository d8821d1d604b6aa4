package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func BenchmarkEval(b *testing.B) {
	for _, name := range []struct{ arch, inst string }{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32"},
		{"hopper", "mma.m16n8k16.f64.f64.f64.f64"},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"},
		{"cdna2", "v_mfma_f32_16x16x16f16"},
		{"cdna3", "v_mfma_f32_16x16x16_f16"},
	} {
		i, err := mma.Lookup(name.arch, name.inst)
		if err != nil {
			b.Fatal(err)
		}
		d := newGenerator(7).dot(i.Formats, i.K, nearOne)
		b.Run(i.FullName(), func(b *testing.B) {
			b.ReportAllocs()
			e := NewEvaluator(&i.Params, i.Formats, i.K)
			for b.Loop() {
				e.Eval(d)
			}
		})
	}
}

func BenchmarkReferences(b *testing.B) {
	for _, f := range []mma.Formats{fp16, bf16} {
		d := newGenerator(8).dot(f, 16, nearOne)
		for _, r := range References {
			b.Run(r.Name+"/"+f.A.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r.Eval(f, d)
				}
			})
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := uint64(0x3F800000), uint64(0x3F800001)
	for b.Loop() {
		Compare(fp32.D, Policy{}, x, y)
	}
}
