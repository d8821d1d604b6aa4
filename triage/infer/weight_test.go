package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestWeight infers units that multiply every product by a power of two: a scale that was
// forgotten, the LSCALE of Arm.
func TestWeight(t *testing.T) {
	e4m3 := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	for _, c := range []struct {
		name  string
		f     mma.Formats
		k     int
		p     mma.Params
		shift mma.Exp
	}{
		{"a chain of FMAs", half, 2, mma.FMA(fp.FP32), -3},
		{"a truncated fused sum", half, 4, mma.TFDPA(4, 23, mma.To(fp.FP32, fp.RZ), 0), 4},
		{"FP8", e4m3, 8, mma.TFDPA(8, 25, mma.To(fp.FP32, fp.RZ), 0), -15},
		{"far up", half, 4, mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RNE), 0), 60},
	}[:tier.Of(0, 1, 4)] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.p.Prod.Shift = c.shift
			r := inferred(t, newUnit(t, c.f, c.k, c.p), Options{Seed: 5})
			if r.Verdict != Found || r.Params.Prod.Shift != c.shift {
				t.Fatalf("%s, %d of %d cases left, %s", r.Verdict, r.Left, r.Evidence, &r.Params)
			}
			checkSame(t, r, &c.p)
		})
	}
}
