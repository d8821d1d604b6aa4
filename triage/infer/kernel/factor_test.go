package kernel

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestFactor finds the number by which code multiplies its sums, to the last bit that changes a result, and where
// it is rounded.
func TestFactor(t *testing.T) {
	const half, bfloat, plain = `{"op": "fma", "in": "fp16", "acc": "fp32"}`, `{"op": "fma", "in": "bf16", "acc": "fp32"}`, `{"op": "fma", "acc": "fp32"}`
	for n, c := range []struct{ unit, epilogue, want string }{ // the same, if want is ""
		{half, `{"op": "alpha", "factor": 0.3}, {"op": "cast", "format": "fp16"}`, ""},
		{half, `{"op": "cast", "format": "fp16"}, {"op": "alpha", "factor": 0.30004883}`, ""},
		{plain, `{"op": "alpha", "factor": -0.11180341}`, ""},
		{bfloat, `{"op": "alpha", "factor": 0.088388346}, {"op": "cast", "format": "bf16"}`, ""},
		{bfloat, `{"op": "cast", "format": "bf16"}, {"op": "alpha", "factor": 0.088388346, "format": "fp32"}, {"op": "cast", "format": "bf16"}`,
			`{"op": "cast", "format": "bf16"}, {"op": "alpha", "factor": 0.088388}`},
		{half, `{"op": "cast", "format": "fp16"}, {"op": "relu", "zeroes": "nan"}`, ""},
		{bfloat, `{"op": "alpha", "factor": 0.088388346}, {"op": "cast", "format": "bf16"}, {"op": "relu"}`, ""},
		{plain, `{"op": "relu"}`, ""},
		{half, `{"op": "cast", "format": "fp16"}, {"op": "relu", "zeroes": "-0"}`, ""},
		{half, `{"op": "alpha", "factor": 12345.678}`, ""},
		{half, `{"op": "alpha", "factor": -0.00017}, {"op": "cast", "format": "fp16"}`, ""},
		{half, `{"op": "alpha", "factor": 0.125}, {"op": "cast", "format": "fp16"}`, ""},
		{half, `{"op": "alpha", "factor": 0.7, "format": "fp16"}`, ""},
		{half, `{"op": "cast", "format": "fp16"}, {"op": "alpha", "factor": 0.7, "format": "fp32"}, {"op": "cast", "format": "fp16"}`, ""},
	} {
		if n >= tier.Of(8, 8, 14) {
			break
		}
		kernel := func(epilogue string) *schedule.Kernel {
			return read(t, `{"v": 1, "unit": `+c.unit+`, "schedules": [{"levels": [{"cut": {"by": "size", "n": 24}, "merge": {"order": "forward"}}]}], "epilogue": [`+epilogue+`]}`)
		}
		r := infers(t, kernel(c.epilogue), schedule.Shape{M: 2, N: 3, K: 60})
		if r.Verdict != Found {
			t.Errorf("%s: %s", c.epilogue, r.Why)
			continue
		}
		r.Kernel.When, r.Kernel.Source = schedule.When{}, ""
		if got, want := text(r.Kernel), text(kernel(cmp.Or(c.want, c.epilogue))); got != want {
			t.Errorf("found %s, not %s", got, want)
		}
		t.Log(words(r.Kernel, &r.Kernel.Schedules[0], 60)[2:])
	}
}

// TestNoFactor has sums that become something else than a multiple: nothing is said of them that is not so.
func TestNoFactor(t *testing.T) {
	s := schedule.Shape{M: 2, N: 2, K: 20}
	for _, c := range []struct {
		name, says string
		of         func(sum float64) float64
	}{
		{"gelu", "of 20 ones beside a large number", func(x float64) float64 { return float64(float32(0.5 * x * (1 + math.Erf(x/math.Sqrt2)))) }},
		{"square", "of 20 ones beside a large number", func(x float64) float64 { return float64(float32(x * x)) }},
		{"nothing", "gives zero, at whatever k it is", func(float64) float64 { return 0 }},
	} {
		h := newWritten(mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, s, func(a, b []float64, row, column int) float64 {
			return c.of(float32s(a[row*s.K:][:s.K], b[column*s.K:][:s.K]))
		})
		if r := h.infer(t, s); r.Verdict != Unexplained || !strings.Contains(fmt.Sprint(r.Why), c.says) {
			t.Errorf("%s: %s, %s", c.name, r.Verdict, r.Why)
		}
	}
}
