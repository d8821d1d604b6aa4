package kernel

import (
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestOperandFactor infers sums of products of an operand that is multiplied by a number and rounded before, as where
// code scales the queries of an attention.
func TestOperandFactor(t *testing.T) {
	s := schedule.Shape{M: 3, N: 4, K: 50}
	for _, tc := range []struct {
		id     fp.ID
		ofA    bool
		factor float32
		want   string
	}{
		{fp.FP16, true, 0.3, "A multiplied before by 0.3 and rounded to fp16 and B as it is"},
		{fp.BF16, false, -0.7, "A as it is and B multiplied before by -0.7 and rounded to bf16"},
		{fp.FP16, false, 0.30004883, "A as it is and B multiplied before by 0.30004883 and rounded to fp16"},
		{fp.FP16, false, 0.125, "A as it is and B multiplied before by 0.125 and rounded to fp16"},
		{fp.FP32, true, 0.7, "A multiplied before by 0.7 and rounded to fp32 and B as it is"},
	} {
		f := tc.id.Get()
		times := func(x []float64) (all []float64) {
			for _, v := range x {
				v = float64(float32(v) * tc.factor)
				if most := f.Float64(f.MaxFinite()); math.Abs(v) >= most*(1+math.Ldexp(1, -int(f.FracBits)-2)) {
					v = math.Copysign(math.Inf(1), v)
				}
				code, _ := codeOf(tc.id, v)
				all = append(all, f.Float64(code))
			}
			return all
		}
		h := newWritten(mma.Formats{A: tc.id, B: tc.id, D: fp.FP32}, s, func(a, b []float64, row, column int) float64 {
			a, b = a[row*s.K:][:s.K], b[column*s.K:][:s.K]
			if tc.ofA {
				a = times(a)
			} else {
				b = times(b)
			}
			return float32s(a, b)
		})
		r := h.infer(t, s)
		if r.Verdict != Found {
			t.Errorf("%s: %s: %s, %v", tc.want, r.Verdict, r.Why, r.Witness)
			continue
		}
		if got := strings.Join(Words(r.Kernel, s.K), " "); !strings.Contains(got, tc.want) {
			t.Errorf("%q is not in %q", tc.want, got)
		}
	}
}
