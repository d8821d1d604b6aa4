package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestSmoke(t *testing.T) {
	for _, c := range []struct {
		arch, inst string
		a, b       []uint64
		c, d       uint64
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", []uint64{0xF000, 0xB800, 0xB400, 0xB000}, []uint64{0x6400, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000, 0},
		{"ampere", "mma.m16n8k8.f32.f16.f16.f32", []uint64{0xF000, 0xB800, 0xB400, 0xB000, 0, 0, 0, 0}, []uint64{0x6400, 0x3C00, 0x3C00, 0x3C00, 0, 0, 0, 0}, 0x4B000000, 0xBF000000},
		{"cdna2", "v_mfma_f32_4x4x4f16", []uint64{0xF000, 0xB800, 0xB400, 0xB000}, []uint64{0x6400, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000, 0},
		{"cdna1", "v_mfma_f32_4x4x4f16", []uint64{0xF000, 0xB800, 0xB400, 0xB000}, []uint64{0x6400, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000, 0xBF600000},
		{"cdna3", "v_mfma_f32_4x4x4f16", []uint64{0xF000, 0xB800, 0xB400, 0xB000}, []uint64{0x6400, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000, 0xBF000000},
		{"cdna3", "v_mfma_f32_4x4x4_16b_f16", []uint64{0x2400, 0x1400, 0, 0}, []uint64{0x2400, 0x1000, 0, 0}, 0x44FFFFFF, 0x45000000},
	} {
		i, err := mma.Lookup(c.arch, c.inst)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ForInstruction(i)
		if err != nil {
			t.Fatal(err)
		}
		var tr Trace
		if got := m.Dot(&mma.Dot{A: c.a, B: c.b, C: c.c}, &tr); got != c.d {
			t.Errorf("%s: %08x want %08x %+v", i.FullName(), got, c.d, tr)
		}
	}
}

func BenchmarkGeneral(b *testing.B) {
	for _, n := range []string{"ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32", "cdna1/v_mfma_f32_16x16x16f16", "cdna2/v_mfma_f32_16x16x16f16", "cdna3/v_mfma_f32_16x16x16_f16", "cdna3/v_mfma_f32_16x16x4_f32", "hopper/mma.m16n8k16.f64.f64.f64.f64", "cdna1/v_mfma_f32_16x16x8bf16"} {
		b.Run(n, func(b *testing.B) {
			var arch, name string
			for i := range n {
				if n[i] == '/' {
					arch, name = n[:i], n[i+1:]
				}
			}
			i, err := mma.Lookup(arch, name)
			if err != nil {
				b.Fatal(err)
			}
			m, _ := ForInstruction(i)
			in := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 8, K: i.K, Tiles: 1})
			r := rand.New(rand.NewPCG(1, 1))
			for _, buf := range [][]byte{in.A, in.B, in.C} {
				for j := range buf {
					buf[j] = byte(r.Uint32())
				}
			}
			out := make([]byte, 128*8)
			b.ReportAllocs()
			for b.Loop() {
				m.RunGeneral(in, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/128, "ns/dot")
		})
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, n := range []string{"ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f16.f16.f16.f16", "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"} {
		for _, kind := range []string{"raw", "finite"} {
			b.Run(n+"/"+kind, func(b *testing.B) {
				var arch, name string
				for i := range n {
					if n[i] == '/' {
						arch, name = n[:i], n[i+1:]
					}
				}
				i, err := mma.Lookup(arch, name)
				if err != nil {
					b.Fatal(err)
				}
				m, _ := ForInstruction(i)
				in := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 8, K: i.K, Tiles: 64})
				r := rand.New(rand.NewPCG(1, 1))
				for _, buf := range [][]byte{in.A, in.B, in.C} {
					for j := range buf {
						buf[j] = byte(r.Uint32())
						if kind == "finite" && (j&1 == 1 || i.A.Width() == 1) {
							buf[j] &^= 4
						}
					}
				}
				out := make([]byte, 64*128*8)
				b.ReportAllocs()
				for b.Loop() {
					m.Run(in, out)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/tile")
			})
		}
	}
}

func TestKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, i := range mma.Catalog() {
		if i.Refuse != "" {
			continue
		}
		m, err := ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		in := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 8, K: i.K * 2, Tiles: 8})
		if m.kernel == nil {
			continue
		}
		for _, buf := range [][]byte{in.A, in.B, in.C, in.SA, in.SB} {
			for j := range buf {
				buf[j] = byte(r.Uint32())
			}
		}
		x, y := make([]byte, 8*128*8), make([]byte, 8*128*8)
		m.Run(in, x)
		m.RunGeneral(in, y)
		n := 0
		for j := range in.Dots() {
			w := i.D.Width()
			if u, v := mma.Load(x, w, j), mma.Load(y, w, j); u != v {
				n++
				d := mma.NewDot(i.Formats, in.K)
				in.Get(j, d)
				t.Logf("%x %x %+v", u, v, d)
			}
		}
		if n > 0 {
			t.Errorf("%s: %d", i.FullName(), n)
		}
	}
}
