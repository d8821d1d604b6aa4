package report

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestParameterInWords holds that every parameter has words of its own.
func TestParameterInWords(t *testing.T) {
	seen := map[string]string{}
	for _, f := range mma.Fields() {
		words := ParameterInWords(f.Path)
		if words == f.Path || words == "" || strings.HasSuffix(words, ": ") {
			t.Errorf("%s has no words", f.Path)
		}
		if other := seen[words]; other != "" {
			t.Errorf("%s and %s are both %q", f.Path, other, words)
		}
		seen[words] = f.Path
	}
	for path, want := range map[string]string{
		"join.align.f":   "sum with the accumulator: bits kept below the largest exponent of a term (F)",
		"l":              "number of products added in one step (fusion width, L)",
		"join.post.mode": "sum with the accumulator: rounding mode",
		"in.sub":         "what becomes of subnormal operands a and b",
	} {
		if got := ParameterInWords(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
