package bundle

import (
	"regexp"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// TestConversions holds that the labels and the parameters by which conversions can differ are told in words that
// conversions have: no products, sums or terms.
func TestConversions(t *testing.T) {
	others := regexp.MustCompile(`\b(products?|sums?|terms?|accumulators?|a and b|a step)\b`)
	labels := map[triage.Label]bool{triage.TruncationWidth: true, triage.AlignmentRounding: true, triage.RoundingAsymmetry: true}
	for arch, name := range map[string]string{"x86": "vcvtph2hf8", "ada": "cvt.rn.satfinite.e4m3x2.f16x2", "hopper": "cvt.rn.bf16.f32",
		"cdna4": "v_cvt_scalef32_pk_fp8_f32", "cdna3": "v_cvt_sr_fp8_f32"} {
		i, err := mma.Lookup(arch, name)
		if err != nil {
			t.Fatal(err)
		}
		first := i.Params
		first.Join.Align.F, first.Join.Align.Mode = 7, fp.RNE
		programs := append(change.Programs(change.SpaceOf(i).Mutants(&i.Params, change.Decisions, change.Refinements)), first)
		for n := range programs {
			q := &programs[n]
			if q.Step(2) != i.Params.Step(2) || q.Passes != i.Params.Passes || q.Together != i.Params.Together {
				continue // which decide nothing where there is one product
			}
			for _, part := range triage.Parts(&i.Params, q) {
				labels[part.Label] = true
				if text := readable.Converted(i.Formats, mma.Brief(part.Changes, &i.Params, q)); part.Changes[0].Path != "prod.exp" && others.MatchString(text) {
					t.Errorf("%s: %s", name, text)
				}
				if text := readable.Converted(i.Formats, report.ParameterInWords(part.Changes[0].Path)); others.MatchString(text) {
					t.Errorf("%s: %s", name, text)
				}
			}
		}
	}
	conversion := mma.Formats{A: fp.FP32, B: fp.One, D: fp.E4M3}
	for l := range labels {
		if doc := readable.Converted(conversion, LabelDoc(string(l))); others.MatchString(doc) {
			t.Errorf("%s: %s", l, doc)
		}
	}
	for from, want := range map[string]string{
		"kept bits (F) 7→exact": "first rounding to 8 significant bits (bf16)→none", "kept bits (F) none→10": "first rounding none→to 11 significant bits (fp16 or tf32)",
		"rounding each sum does not see the bits more than 6 below the last place":                                   "rounding the result does not see the bits more than 6 below the last place",
		"the result is negative where in a sum the exponent of the sum is beyond the largest of the result's format": "the result is negative where the exponent of the number is beyond the largest of the result's format",
		"kept bits (F) 8→9": "first rounding to 9 significant bits→to 10 significant bits",
	} {
		if got := readable.Converted(conversion, from); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := readable.Converted(mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}, from); got != from {
			t.Errorf("a unit that is no conversion: %q", got)
		}
	}
}
