package defect

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// TestTies looks for conversions whose ties go another way in a part of the range: a bit of the
// operand that is stuck there gives the same results, but the rounding is what is wrong.
func TestTies(t *testing.T) {
	for _, tc := range []struct {
		where, rule string
		when        func(x float64) bool
	}{
		{"subnormal", "the unit computes with rounding of the result to nearest even→to nearest away where the result is zero or subnormal",
			func(x float64) bool { return math.Abs(x) < 0x1p-6 }},
		{"negative", "the unit computes with rounding of the result to nearest even→to nearest away where the result is negative",
			func(x float64) bool { return x < 0 }},
	} {
		x := planted{target: "hopper/cvt.rn.satfinite.e4m3x2.f32", dot: func(u *unit) uint64 {
			v := float64(math.Float32frombits(uint32(u.Dot.A[0])))
			if tc.when(v) { // a tie, and no other number that FP32 has, goes away from zero
				w := u.with()
				w.A[0] |= 1
				if got := w.right(); got&0x7f < 0x7e {
					return got
				}
			}
			return u.right()
		}}
		u := x.open(t)
		border, err := gen.Find("border")
		if err != nil {
			t.Fatal(err)
		}
		dots := gen.Independent(gen.Spec{Formats: u.Formats, K: u.K}, gen.Source{Generator: border}, 3, 0, 600)
		got, _ := u.Ask(t.Context(), dots)
		for i, d := range dots {
			u.Cases = append(u.Cases, Case{d, got[i]})
		}
		claim, err := Find(t.Context(), u)
		rule := ""
		if claim != nil {
			rule = claim.Rule.String()
		}
		if err != nil || rule != tc.rule {
			t.Errorf("%s: %q, %v, want %q", tc.where, rule, err, tc.rule)
		}
	}
}
