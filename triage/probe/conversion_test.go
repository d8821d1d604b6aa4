package probe_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// TestBriefConversion sums conversions up whose manuals say how they round.
func TestBriefConversion(t *testing.T) {
	for _, c := range []struct{ arch, inst, want string }{
		{"blackwell", "cvt.rn.satfinite.e4m3x2.f32", `3
RNE, the largest number gives 7e (the largest number), infinity gives 7e (the largest number), NaN gives 7f (NaN)
a -, results yes`},
		{"blackwell", "cvt.rz.relu.f16.f32", `10
RZ or RD, negative numbers give 0, the largest number gives 7bff (the largest number), infinity gives 7c00 (infinity), NaN gives 7fff (NaN)
a -, results yes`},
		{"blackwell", "cvt.rna.tf32.f32", `10
RNA, infinity gives 7f800000 (infinity), NaN gives 7fffffff (NaN)
a -, results -`}, // of FP32 as D, in which the unit keeps fewer bits
		{"blackwell", "cvt.rp.ue8m0x2.f32", `0
RU, the largest number gives ff (NaN), infinity gives ff (NaN), NaN gives ff (NaN)
a yes, results -`},
		{"blackwell", "cvt.rn.bf16x2.ue8m0x2", `0
nothing is rounded, NaN gives 7fff (NaN)
a -, results yes`},
		{"blackwell", "cvt.rs.relu.satfinite.e4m3x4.f32", `3
by random bits, the largest number gives 7e (the largest number), infinity gives 7e (the largest number), NaN gives 7f (NaN)
a -, results yes`},
		{"cdna4", "v_cvt_scalef32_pk_fp8_f32", `3
RNE, the largest number gives 7f (NaN), infinity gives 7f (NaN), NaN gives 7f (NaN)
a yes, results yes`}, // which scales make large
		{"x86", "vcvtneps2bf16", `7
RNE, the largest number gives 7f80 (infinity), infinity gives 7f80 (infinity), NaN gives 7fc0 (NaN)
a -, results no`},
	} {
		got, err := probe.New(t.Context(), open(t, c.arch, c.inst)).BriefConversion()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(c.want, "\n")
		if want := "bits kept: results " + lines[0] + "\nrounding: " + lines[1] + "\nsubnormals are numbers: " + lines[2] + "\n"; got != want {
			t.Errorf("%s:\n%swant\n%s", c.inst, got, want)
		}
	}
}

// TestConversionAnswers holds that a conversion is asked nothing about sums, and that a subnormal number
// is told from zero by a scale that makes it a result.
func TestConversionAnswers(t *testing.T) {
	got := map[string]string{}
	for _, paper := range probe.Papers {
		answers, err := probe.New(t.Context(), open(t, "cdna4", "v_cvt_scalef32_pk_fp8_f32")).Ask(paper.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			got[a.ID] = a.Value
			if strings.Contains(a.Question, "product") || strings.Contains(a.Question, "sum") || strings.Contains(a.Question, "a and b") {
				t.Errorf("%s: %s", a.ID, a.Question)
			}
		}
	}
	if got["3.1.1 inputs"] != "yes" || got["T_si_no"] != "yes" {
		t.Errorf("subnormal numbers are zero: %v", got)
	}
}
