package tiling_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestDiagonal packs dot products of raw bits into tiles of several sizes: a
// simulator gives the same results.
func TestDiagonal(t *testing.T) {
	for _, name := range []string{"volta/mma.m8n8k4.f32.f16.f16.f16", "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
		"hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0"} {
		for _, n := range []int{1, 2, 4, 16} {
			for _, dots := range []int{1, 15, 16, 17, 100} {
				i := instruction(t, name)
				m, err := sim.ForInstruction(i)
				if err != nil {
					t.Fatal(err)
				}
				in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 2 * i.K, Tiles: dots})
				scramble(in)
				want := make([]byte, dots*i.D.Width())
				m.Run(in, want)
				d := tiling.Pack(in, n)
				if d.Tiles.M != n || d.Tiles.N != n || d.Tiles.Tiles != (dots+n-1)/n {
					t.Fatalf("%+v", d.Tiles.Shape)
				}
				res, out := make([]byte, d.Tiles.Dots()*i.D.Width()), make([]byte, len(want))
				m.Run(d.Tiles, res)
				d.Collect(res, out)
				if string(out) != string(want) {
					t.Errorf("%s: %d dot products in tiles of %d: %x, want %x", name, dots, n, out, want)
				}
			}
		}
	}
}

// TestSingle takes tiles of several sizes apart.
func TestSingle(t *testing.T) {
	for _, name := range []string{"volta/mma.m8n8k4.f32.f16.f16.f16", "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
		"hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0"} {
		for _, s := range []mma.Shape{{M: 1, N: 1, Tiles: 5}, {M: 3, N: 2, Tiles: 2}, {M: 1, N: 4, Tiles: 3}, {M: 4, N: 1, Tiles: 1}} {
			i := instruction(t, name)
			s.K = 2 * i.K
			in := mma.NewBatch(i.Formats, s)
			scramble(in)
			out := tiling.Single(in)
			if (out.Shape != mma.Shape{M: 1, N: 1, K: s.K, Tiles: in.Dots()}) {
				t.Fatalf("%+v", out.Shape)
			}
			x, y := mma.NewDot(i.Formats, s.K), mma.NewDot(i.Formats, s.K)
			for n := range in.Dots() {
				in.Get(n, x)
				if out.Get(n, y); !x.Equal(y) {
					t.Errorf("%s %+v: %d is %v, want %v", name, s, n, y, x)
				}
			}
		}
	}
}

// scramble fills a batch with bytes that are all different from their neighbours.
func scramble(in *mma.Batch) {
	for _, buf := range [][]byte{in.A, in.B, in.C, in.SA, in.SB} {
		for x := range buf {
			buf[x] = byte((x*x + 7*x + 13) * 37 >> 3 & 0x7f)
		}
	}
}

func instruction(t *testing.T, name string) *mma.Instruction {
	t.Helper()
	for _, i := range mma.Catalog() {
		if i.FullName() == name {
			return &i
		}
	}
	t.Fatalf("no %s", name)
	return nil
}
