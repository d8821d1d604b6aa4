package sim_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// BenchmarkTile reports for each operation and path, on raw bits and on finite
// numbers, the processor time for the 2,048 products of an m16n8k16 tile (other K
// scaled to that) on one core, and clock cycles per product:
//
//	go test -run xxx -bench Tile ./sim
//	go test -run xxx -bench Tile/t-fdpa/.*/avx512 ./sim
func BenchmarkTile(b *testing.B) {
	cycle := measure.Cycle()
	for _, op := range measure.Operations {
		i, err := mma.Lookup(op.Arch, op.Inst)
		if err != nil {
			b.Fatal(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range sim.Paths() {
			for _, inputs := range []measure.Inputs{measure.Raw, measure.Finite} {
				b.Run(op.Name+"/"+path.String()+"/"+string(inputs), func(b *testing.B) {
					in := measure.Batch(i, measure.Shape(i, measure.Tiles), 1, inputs)
					benchmarkTile(b, m.On(path), in, cycle)
				})
			}
		}
	}
}

func benchmarkTile(b *testing.B, m *sim.Model, in *mma.Batch, cycle float64) {
	out := make([]byte, in.Dots()*in.D.Width())
	b.ReportAllocs()
	defer measure.Lock()()
	began := measure.Thread()
	for b.Loop() {
		m.Run(in, out)
	}
	spent := measure.Thread() - began
	perProduct := float64(spent.Nanoseconds()) / float64(b.N) / float64(in.Dots()*in.K)
	b.ReportMetric(measure.Products*perProduct, "ns/tile")
	b.ReportMetric(perProduct/cycle, "cycles/product")
	b.ReportMetric(0, "ns/op")
}
