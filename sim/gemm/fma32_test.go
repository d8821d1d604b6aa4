package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestFMA32 compares fma32 with the oracle on drawn codes, many of which cancel, are ties or
// are no numbers.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, f := mma.FMA(fp.FP32), mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	draw := func() uint64 {
		switch rng.IntN(4) {
		case 0:
			return uint64(rng.Uint32())
		case 1:
			return uint64(math.Float32bits(float32(math.Ldexp(float64(1+rng.IntN(7)), rng.IntN(60)-30))) ^ rng.Uint32()<<31)
		}
		return uint64(math.Float32bits(float32(rng.NormFloat64())))
	}
	for range 100_000 {
		d := &mma.Dot{A: []uint64{draw()}, B: []uint64{draw()}, C: draw()}
		load := func(c uint64) float64 { return float64(math.Float32frombits(uint32(c))) }
		if rng.IntN(2) == 0 { // near the product, or far below it
			d.C = uint64(math.Float32bits(float32(-load(d.A[0]) * load(d.B[0]) * math.Ldexp(1, -rng.IntN(60)))))
		}
		got := fma32(load(d.A[0])*load(d.B[0]), load(d.C))
		want := math.Float32frombits(uint32(oracle.Eval(&p, f, 1, d)))
		if got == got && math.Float32bits(got) != math.Float32bits(want) || (got == got) != (want == want) {
			t.Fatalf("%x: %v, want %v", *d, got, want)
		}
	}
}
