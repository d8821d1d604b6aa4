//go:build linux

package cuda_test

import (
	"context"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// benchmarked are instructions whose operands stand in buffers in different ways:
// words, bytes, parts of bytes.
var benchmarked = []struct{ arch, chip, name string }{
	{"hopper", "sm_90", "mma.m16n8k16.f32.f16.f16.f32"},
	{"hopper", "sm_90", "mma.m8n8k4.f64.f64.f64.f64"},
	{"hopper", "sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3"},
	{"rtx-blackwell", "sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"},
}

// copying is a kernel on a device that copies buffers there and back, as a transfer
// does, and computes nothing. It adds up the time.
type copying struct {
	device []byte
	took   time.Duration
}

func (c *copying) Launch(_ context.Context, in, out []byte, _ int) error {
	began := time.Now()
	if len(c.device) < len(in)+len(out) {
		c.device = make([]byte, len(in)+len(out))
	}
	copy(c.device, in)
	copy(out, c.device[len(in):])
	c.took += time.Since(began)
	return nil
}

func (*copying) Close() error { return nil }

// BenchmarkHost measures the work of the host on the way to a GPU, on one goroutine:
//
//	go test -run xxx -bench . ./devices/cuda
//
// pack and unpack are of tiles of the kernel's shape; run has whole tiles or single
// dot products, and outside% is the part of the time that does not pass in launches,
// which copy and compute nothing.
func BenchmarkHost(b *testing.B) {
	for _, bc := range benchmarked {
		i, err := mma.Lookup(bc.arch, bc.name)
		if err != nil {
			b.Fatal(err)
		}
		m, n := ptx.Tile(i, 16, 8)
		k, err := ptx.Kernel(i, bc.chip, m, n)
		if err != nil {
			b.Fatal(err)
		}
		p, err := gpu.NewPacker(k)
		if err != nil {
			b.Fatal(err)
		}
		const tiles = 256
		in := mma.NewBatch(i.Formats, mma.Shape{M: m, N: n, K: i.K, Tiles: tiles})
		packed, results, out := make([]byte, tiles*k.InBytes), make([]byte, tiles*k.OutBytes), make([]byte, in.Dots()*i.D.Width())
		b.Run("pack/"+bc.name, func(b *testing.B) {
			for b.Loop() {
				if err := p.Pack(packed, in); err != nil {
					b.Fatal(err)
				}
			}
			perTile(b, tiles)
		})
		b.Run("unpack/"+bc.name, func(b *testing.B) {
			for b.Loop() {
				if err := p.Unpack(out, results); err != nil {
					b.Fatal(err)
				}
			}
			perTile(b, tiles)
		})
		b.Run("run/tiles/"+bc.name, func(b *testing.B) { benchmarkRun(b, k, in) })
		dots := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1024})
		b.Run("run/dots/"+bc.name, func(b *testing.B) { benchmarkRun(b, k, dots) })
	}
}

func perTile(b *testing.B, tiles int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tiles), "ns/tile")
}

func benchmarkRun(b *testing.B, k *gpu.Kernel, in *mma.Batch) {
	device := &copying{}
	u, err := gpu.NewUnit(k, device)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]byte, in.Dots()*in.Formats.D.Width())
	for b.Loop() {
		if err := u.Run(b.Context(), in, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(in.Dots())*float64(b.N)/b.Elapsed().Seconds(), "dots/s")
	b.ReportMetric(100*(1-device.took.Seconds()/b.Elapsed().Seconds()), "outside%")
}

// BenchmarkTarget runs chunks as large as those of a campaign through the whole way
// to a driver and back, in a child process and in this one. The driver is the fake
// one, whose kernels do nothing.
func BenchmarkTarget(b *testing.B) {
	fake(b, "cc=7.0 cuLaunchKernel=null")
	for _, bc := range []struct {
		name, target string
		s            mma.Shape
	}{
		{"child/tiles", "cuda:0,force", mma.Shape{M: 8, N: 8, Tiles: 16}},
		{"child/dots", "cuda:0,force", mma.Shape{M: 1, N: 1, Tiles: 1024}},
		{"child/one", "cuda:0,force", mma.Shape{M: 1, N: 1, Tiles: 1}},
		{"child/512 tiles", "cuda:0,force", mma.Shape{M: 8, N: 8, Tiles: 512}}, // as many as campaigns give
		{"child/4096 tiles", "cuda:0,force", mma.Shape{M: 8, N: 8, Tiles: 4096}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			u := unit(b, open(b, bc.target), quad)
			bc.s.K = u.Instruction().K
			in := random(u.Instruction().Formats, bc.s)
			out := make([]byte, in.Dots()*4)
			for b.Loop() {
				if err := u.Run(b.Context(), in, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(in.Dots())*float64(b.N)/b.Elapsed().Seconds(), "dots/s")
		})
	}
}
