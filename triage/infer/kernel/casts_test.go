package kernel

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// rounder makes an operand of a number of FP32.
type rounder func(x float32) float32

// cut drops the last bits of a number.
func cut(bits int) rounder {
	return func(x float32) float32 {
		if x != x {
			return x
		}
		return math.Float32frombits(math.Float32bits(x) >> bits << bits)
	}
}

// nearest rounds to a format, to nearest even.
func nearest(id fp.ID) rounder {
	return func(x float32) float32 {
		f := id.Get()
		return float32(f.Float64(f.FromFloat64(float64(x))))
	}
}

// halfAdded rounds to so many bits less, away from zero where two numbers are as near.
func halfAdded(bits int) rounder {
	return func(x float32) float32 {
		if x-x != 0 {
			return x
		}
		return math.Float32frombits((math.Float32bits(x) + 1<<(bits-1)) >> bits << bits)
	}
}

func itself(x float32) float32 { return x }

// operandCasts are kernels whose operands in FP32 are cast before they are multiplied.
var operandCasts = []struct {
	name string
	a, b rounder
}{
	{"both to BF16", bf16, bf16},
	{"A to BF16", bf16, itself},
	{"B to BF16", itself, bf16},
	{"both to BF16, bits are dropped", cut(16), cut(16)},
	{"A to BF16, bits are dropped", cut(16), itself},
	{"both to BF16, half a unit is added", halfAdded(16), halfAdded(16)},
	{"both to TF32", halfAdded(13), halfAdded(13)},
	{"both to TF32, bits are dropped", cut(13), cut(13)},
	{"both to TF32, to nearest even", nearest(fp.TF32), nearest(fp.TF32)},
	{"both to FP16", nearest(fp.FP16), nearest(fp.FP16)},
	{"A to FP16", nearest(fp.FP16), itself},
	{"A to E4M3", nearest(fp.E4M3), itself},
}

// TestOperandCasts infers the kernels of operandCasts.
func TestOperandCasts(t *testing.T) {
	for n, tc := range operandCasts {
		if n%tier.Of(6, 6, 1) != 0 {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			findsHandwritten(t, func(e element) float32 {
				a, b := make([]float32, len(e.a)), make([]float32, len(e.b))
				for k := range a {
					a[k], b[k] = tc.a(e.a[k]), tc.b(e.b[k])
				}
				e.a, e.b = a, b
				if n%2 == 1 {
					return butterfly(e.lanes(fma, 4, len(e.a)))
				}
				return e.chain(fma)
			}, schedule.Shape{M: 2, N: 3, K: 21})
		})
	}
}
