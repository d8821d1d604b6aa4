package mine

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/fuzztest"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// FuzzGo has a mistake: it flushes subnormal sums.
func FuzzGo(f *testing.F) {
	fuzztest.Compare(f, "sim:hopper/mma.m8n8k4.f64.f64.f64.f64", func(d *mma.Dot) uint64 {
		sum := math.Float64frombits(d.C)
		for k := range d.A {
			sum = math.FMA(math.Float64frombits(d.A[k]), math.Float64frombits(d.B[k]), sum)
			if math.Abs(sum) < 0x1p-1022 {
				sum = math.Copysign(0, sum)
			}
		}
		if math.IsNaN(sum) {
			return 0x7fffffffffffffff
		}
		return math.Float64bits(sum)
	})
}
