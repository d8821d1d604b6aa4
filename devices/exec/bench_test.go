package exec_test

import (
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// BenchmarkRun runs chunks as large as those of a campaign through children that
// compute nothing, and by a simulator, in both modes:
//
//	go test -run xxx -bench Run ./devices/exec
//
// dots/s is one goroutine's; outside% is the part of the time that the same
// simulator in this process would not have taken.
func BenchmarkRun(b *testing.B) {
	const hopper = "mma.m16n8k16.f32.f16.f16.f32"
	for _, bc := range []struct {
		name, mode, inst, arch string
		s                      mma.Shape
	}{
		{"nothing/dots", "zero", hopper, "", mma.Shape{M: 1, N: 1, K: 16, Tiles: 1024}},
		{"nothing/tiles", "zero", hopper, "", mma.Shape{M: 16, N: 8, K: 16, Tiles: 8}},
		{"nothing/one", "zero", hopper, "", mma.Shape{M: 1, N: 1, K: 16, Tiles: 1}},
		{"sim/dots", "sim", hopper, "hopper", mma.Shape{M: 1, N: 1, K: 16, Tiles: 1024}},
		{"sim/tiles", "sim", hopper, "hopper", mma.Shape{M: 16, N: 8, K: 16, Tiles: 8}},
		{"text", "t-good", inst, "ampere", mma.Shape{M: 1, N: 1, K: 8, Tiles: 1024}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			u := unit(b, command(bc.mode), bc.inst)
			in := fill(mma.NewBatch(u.Instruction().Formats, bc.s))
			b.ResetTimer()
			took := clock(b, u, in, b.N)
			b.StopTimer()
			b.ReportMetric(float64(in.Dots())/took.Seconds(), "dots/s")
			if bc.arch != "" {
				inside := clock(b, sims(b, bc.arch, bc.inst), in, 500)
				b.ReportMetric(100*(1-inside.Seconds()/took.Seconds()), "outside%")
			}
		})
	}
}

// BenchmarkExamples runs the examples of the documentation:
//
//	go test -run xxx -bench Examples ./devices/exec
//
// outside% is the part of the time that a child of the same mode takes that computes
// nothing.
func BenchmarkExamples(b *testing.B) {
	rtl := verilated(b)
	for _, bc := range []struct{ name, nothing, command string }{
		{"python", "t-zero4", "python3 testdata/double.py"},
		{"rtl/text", "t-zero4", rtl},
		{"rtl/binary", "zero4", rtl + " binary"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			u, nothing := unit(b, "exec:"+bc.command, ""), unit(b, command(bc.nothing), "")
			in := fill(mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 4, Tiles: 1024}))
			b.ResetTimer()
			took := clock(b, u, in, b.N)
			b.StopTimer()
			b.ReportMetric(float64(in.Dots())/took.Seconds(), "dots/s")
			b.ReportMetric(100*clock(b, nothing, in, 500).Seconds()/took.Seconds(), "outside%")
		})
	}
}

// clock returns the time of a batch on a unit, of n runs.
func clock(b *testing.B, u devices.Unit, in *mma.Batch, n int) time.Duration {
	out := make([]byte, in.Dots()*in.Formats.D.Width())
	began := time.Now()
	for range n {
		if err := u.Run(b.Context(), in, out); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began) / time.Duration(n)
}
