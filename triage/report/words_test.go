package report

import (
	"strings"
	"testing"
)

// TestStepsInWords looks at what is said of sides that differ in their steps.
func TestStepsInWords(t *testing.T) {
	for _, c := range []struct{ a, b, dot, steps, input string }{
		{"ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", strings.Repeat("0,", 31) + "0 " + strings.Repeat("0,", 31) + "0 3f800200",
			"in 2 steps of 16, B in 2 steps of 16 and then c: ", "c = 1.00006103515625·2⁰ (all 32 products are zero)"},
		{ampere16, hopper16, dense, "in 2 steps of 8, B in one step of 16: ", ""},
		{ampere8, hopper8, eight, "", "8 products"},
		{"cdna4/v_cvt_scalef32_pk_fp8_f32", "cdna4/v_cvt_scalef32_pk_fp8_f32", "00400000 00 -", "A: It is exact before it is rounded", "a = 2⁻¹²⁷, scale `00` (2¹²⁷)"},
	} {
		p := pictureCase{a: c.a, b: c.b, dot: c.dot}
		m, _ := p.mismatch(t)
		text := strings.Join(InWords(m), "\n")
		if !strings.Contains(text, c.steps) || c.steps == "" && strings.Contains(text, "adds the products") || !strings.Contains(text, c.input) {
			t.Errorf("%s and %s: %s", c.a, c.b, text)
		}
	}
}
