//go:build !purego

package cpu

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// benchmarked has an instruction of each body, by architecture.
var benchmarked = map[string][]string{
	"x86": {"vdpbf16ps", "fma3-bf16", "vfmadd231ps.daz.ftz", "vfmadd231pd", "vfmadd231ph", "dpps", "dppd", "tdpbf16ps", "tdpfp16ps",
		"vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds", "vpmaddwd", "vpmaddubsw", "avx2-u8s8"},
	"arm": {"bfdot.ebf0", "bfmmla.ebf0", "bfmlalb", "bfmlalt", "fmlal", "fmla-8h", "fmla-4s", "fmla-2d",
		"fdot.e4m3.e4m3", "fmmla.e4m3.e4m3"},
	"power10": {"xvbf16ger2pp", "xvf16ger2pp", "xvf32gerpp", "xvf64gerpp"},
}

// benchArch is the architecture of the catalogue that has all instructions of this
// machine.
func benchArch() string {
	if arch == "zen4" {
		return "x86"
	}
	return arch
}

// BenchmarkRun reports dot products a second of the units, on one goroutine and
// batches as large as those of a campaign, in single dot products and in tiles:
//
//	go test -run xxx -bench . ./devices/cpu
//
// outside% is the part of the time that is not spent in the assembly: packing and
// cutting. model/unit is how much longer the model takes than the unit.
func BenchmarkRun(b *testing.B) {
	for _, name := range benchmarked[benchArch()] {
		for _, bc := range []struct {
			name string
			m, n int
		}{{"dots", 1, 1}, {"tiles", 16, 16}} {
			b.Run(name+"/"+bc.name, func(b *testing.B) {
				u := benchUnit(b, name)
				in := mma.NewBatch(u.inst.Formats, mma.Shape{M: bc.m, N: bc.n, K: u.inst.K, Tiles: 4096 / (bc.m * bc.n)})
				fill(b, in)
				out := make([]byte, in.Dots()*in.D.Width())
				inside := &clocked{native: *u.native}
				u.native = inside.clock()
				began := time.Now()
				for b.Loop() {
					if err := u.Run(b.Context(), in, out); err != nil {
						b.Fatal(err)
					}
				}
				took := time.Since(began).Seconds()
				b.ReportMetric(float64(b.N)*float64(in.Dots())/took, "dots/s")
				b.ReportMetric(100*(1-inside.spent().Seconds()/took), "outside%")
				b.ReportMetric(0, "ns/op")
				m, err := sim.ForInstruction(u.inst)
				if err != nil {
					b.Fatal(err)
				}
				began = time.Now()
				for range b.N {
					m.Run(in, out)
				}
				b.ReportMetric(time.Since(began).Seconds()/took, "model/unit")
			})
		}
	}
}

// BenchmarkCampaign reports dot products a second of a campaign of a unit against
// its model, with all that belongs to it, and in outside% the part of the time that
// is spent outside the processor's instruction: generators, the model, comparison.
func BenchmarkCampaign(b *testing.B) {
	for _, name := range benchmarked[benchArch()] {
		b.Run(name, func(b *testing.B) {
			u := benchUnit(b, name)
			inside := &clocked{native: *u.native}
			u.native = inside.clock()
			m, err := simulated.Open(u.inst)
			if err != nil {
				b.Fatal(err)
			}
			count := uint64(0)
			began := time.Now()
			for b.Loop() {
				const each = 1 << 16
				c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{{A: u, B: m, TargetA: "cpu:0", TargetB: "sim:" + arch, K: u.inst.K}}, Seed: 1, Count: each, Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
				count += each
			}
			took := time.Since(began).Seconds()
			b.ReportMetric(float64(count)/took, "dots/s")
			b.ReportMetric(100*(1-inside.spent().Seconds()/took), "outside%")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchUnit(b *testing.B, name string) *unit {
	b.Helper()
	i, err := mma.Lookup(benchArch(), name)
	if err != nil {
		b.Fatal(err)
	}
	target, err := open("0")
	if err != nil {
		b.Skip(err)
	}
	u, err := target.Open(i)
	if err != nil {
		b.Skip(err)
	}
	return u.(*unit)
}

// clocked adds up the time that a body takes.
type clocked struct {
	native native
	ns     atomic.Int64
}

// clock returns a native whose body is timed.
func (c *clocked) clock() *native {
	n := c.native
	n.body = func(d, a, b *byte, groups int, control uint64) {
		began := time.Now()
		c.native.body(d, a, b, groups, control)
		c.ns.Add(int64(time.Since(began)))
	}
	return &n
}

func (c *clocked) spent() time.Duration { return time.Duration(c.ns.Load()) }

// fill fills a batch with numbers of a normal distribution.
func fill(b *testing.B, in *mma.Batch) {
	b.Helper()
	g, err := gen.Find("normal")
	if err != nil {
		b.Fatal(err)
	}
	src := mma.NewBatch(in.Formats, mma.Shape{M: g.M, N: g.N, K: in.K, Tiles: in.Dots() / g.N})
	g.Aimed(gen.Spec{Formats: in.Formats, K: in.K}).Fill(src, 1, 0)
	copy(in.A, src.A)
	copy(in.B, src.B)
	copy(in.C, src.C)
}
