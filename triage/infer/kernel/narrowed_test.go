package kernel

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestNarrowed infers sums that are rounded to a narrower format than that of the results.
func TestNarrowed(t *testing.T) {
	half := func(x float64) float64 { f := fp.FP16.Get(); return f.Float64(f.FromFloat64(x)) }
	s := schedule.Shape{M: 2, N: 3, K: 60}
	h := newWritten(mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}, s, func(a, b []float64, row, column int) float64 {
		a, b = a[row*s.K:][:s.K], b[column*s.K:][:s.K]
		return half(float64(float32(float32s(a[:20], b[:20]) + float32s(a[20:], b[20:]))))
	})
	r := h.infer(t, s)
	if r.Verdict != Found {
		t.Fatal(r.Verdict, r.Why, r.Witness)
	}
	if got, want := strings.Join(Words(r.Kernel, s.K), " "), "The sum is rounded to fp16; what is too large, and an infinity, becomes the largest number. The result is in fp32."; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}
