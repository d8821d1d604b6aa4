package infer

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSummaryWidth holds that no line of a summary is longer than the width, unless it is an
// input that is to be copied.
func TestSummaryWidth(t *testing.T) {
	const dot = "3f800000,3f800000,3f800000,3f800000 3f800000,3f800000,3f800000,3f800000 3f800005"
	r := Report{
		Target: "exec:./unit", Instruction: "one", Verdict: Unexplained, Effort: 5, Left: 218, Evidence: 4060,
		Arithmetic: "custom", Params: mma.Params{L: 2},
		Witness:  &WitnessText{Counterexample: Counterexample{Terms: "c=3f800005", Dot: dot, Got: "3f800007", Would: "3f800005"}, Kind: "they are different numbers", Alike: 214, Wrong: 218},
		Families: []Family{{Name: "pile", Doc: "products of similar exponents whose sums carry far", Cases: 200, Wrong: 8}},
	}
	for _, width := range []int{40, 60, 80, 100} {
		var b strings.Builder
		if err := r.Document().Write(&b, "text", document.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && strings.TrimSpace(line) != dot {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
}

// TestCustom says in words what a program without a name computes.
func TestCustom(t *testing.T) {
	p := mma.Params{Prod: mma.Product{Round: mma.Round{Emax: 127}}, Acc: mma.To(fp.FP32, fp.RZ), Late: mma.To(fp.FP32, fp.RNE), Start: mma.StartEmpty}
	r := Report{Target: "exec:./unit", Instruction: "one", Formats: half, K: 4, Verdict: Found, Arithmetic: custom, Params: p}
	var b strings.Builder
	if err := r.Document().Write(&b, "text", document.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const want = `exec:./unit one: custom: no named operation with few other parameters
  Operands: a of fp16, b of fp16, c of fp32
  4 products: largest exponent 127, above it an infinity (a NaN if there is none)
  Alignment: no term is cut: the sum is exact
  Adder: adds all 4 products at once
  Rounding: to 23 fraction bits, toward zero (RZ); subnormal below 2⁻¹²⁶; largest exponent 127,
    above it an infinity (a NaN if there is none)
  Addition of c after the last step: to 23 fraction bits, to nearest, ties to even (RNE);
    subnormal below 2⁻¹²⁶; largest exponent 127, above it an infinity (a NaN if there is none)
  Result d: fp32
`
	if got := b.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNonDefault says where the arrows of a program's parameters begin.
func TestNonDefault(t *testing.T) {
	for _, c := range []struct {
		p    mma.Params
		want string
	}{
		{mma.Params{}, "whose parameters are all the default"},
		{mma.Params{L: 2}, "whose parameters that are not the default are (default→value): products in a step (L) all→2"},
	} {
		if got := nonDefault(&c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestOnlyCodes holds that a report says how to leave codes of NaNs out if they alone are not explained.
func TestOnlyCodes(t *testing.T) {
	for _, c := range []struct {
		kind string
		want bool
	}{{nanCodes, true}, {"they are different numbers", false}} {
		r := Report{Target: "exec:./unit", Instruction: "one", Verdict: Unexplained, Left: 19, Evidence: 4060, Params: mma.Params{L: 2},
			Witness: &WitnessText{Kind: c.kind, Alike: 19, Wrong: 19}}
		var b strings.Builder
		if err := r.Document().Write(&b, "text", document.Options{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "--nan class leaves them out"); got != c.want {
			t.Errorf("%s: told %v, want %v", c.kind, got, c.want)
		}
	}
}

// TestCalls holds that a report names what its reader can call: options of the command, or arguments of a
// function, of which no text has the former.
func TestCalls(t *testing.T) {
	for _, r := range []Report{
		{Verdict: Unexplained, Effort: 5, Left: 2, Evidence: 9, Params: mma.Params{L: 2}, Witness: &WitnessText{Kind: nanCodes, Alike: 2, Wrong: 2}},
		{Verdict: Unexplained, Effort: 5, Left: 2, Evidence: 9, Params: mma.Params{L: 2}, Witness: &WitnessText{Kind: zeroSigns, Alike: 2, Wrong: 2}},
		{Verdict: Exhausted, Left: 2, Evidence: 9, Params: mma.Params{L: 2}},
		{Verdict: Exhausted, Evidence: 9, Params: mma.Params{L: 2}},
		{Verdict: NotStable, Unstable: &Change{What: (&Unstable{NaNs: true}).Error()}, nans: true},
	} {
		r.Target = "python"
		for _, calls := range []*Calls{nil, &Python} {
			var b strings.Builder
			r.Calls = calls
			if err := r.Document().Write(&b, "text", document.Options{}); err != nil {
				t.Fatal(err)
			}
			words := regexp.MustCompile(`--[a-z]+|mmafuzz [a-z]+|eval|command`)
			if said := words.FindAllString(b.String(), -1); (said == nil) != (calls == &Python) {
				t.Errorf("%s: %v says %q:\\n%s", r.Verdict, calls, said, b.String())
			}
		}
	}
}
