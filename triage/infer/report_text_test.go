package infer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/document"
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

// TestNonDefault says where the arrows of a program's parameters begin.
func TestNonDefault(t *testing.T) {
	for _, c := range []struct {
		p    mma.Params
		want string
	}{
		{mma.Params{}, "whose parameters are all the default"},
		{mma.Params{L: 2}, "whose parameters that are not the default are (default→value): L all→2"},
	} {
		if got := nonDefault(&c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
