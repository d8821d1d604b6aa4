package bisect

import (
	"strings"
	"testing"

	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// TestZeroValues runs bisections that leave fields out.
func TestZeroValues(t *testing.T) {
	const instruction = "mma.m16n8k8.f32.f16.f16.f32"
	limited := fuzz.Config{Seed: 1, Count: 1000}
	for _, c := range []struct {
		name  string
		b     Bisection
		first string
		err   string
	}{
		{"no versions", Bisection{A: "sim:ampere", Campaign: limited}, "", "there are no versions to test"},
		{"no limit", Bisection{A: "sim:ampere", Versions: []string{"sim:hopper"}}, "", "the number of inputs has no limit"},
		{"no target and nobody told", Bisection{A: "sim:ampere", Versions: []string{"sim:ada", "sim:none", "sim:hopper", "sim:hopper"}, Campaign: limited,
			Instruction: instruction}, "sim:hopper", ""},
	} {
		first := ""
		_, err := c.b.Run(t.Context(), func(c *Change) error {
			first = c.First
			return nil
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if first != c.first || got != c.err {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, first, got, c.first, c.err)
		}
	}
}

// TestChangeWords holds that inputs of one cause are told apart, and that the cause is that of the last
// version, which the one that is named may not share.
func TestChangeWords(t *testing.T) {
	for _, c := range []struct {
		number  int
		earlier bool
		want    string
	}{
		{1, false, "dot  overflow\n  changed in  v2\n  last as A"},
		{2, true, "dot  overflow, input 2\n  changed in  v2\n  cause       that of the last version, which v2 may not share\n  last as A"},
	} {
		var b strings.Builder
		(&Change{Instruction: "dot", Cause: "overflow", First: "v2", number: c.number, earlier: c.earlier}).Write(&b, 100)
		if !strings.HasPrefix(b.String(), c.want) {
			t.Errorf("%q, want %q", &b, c.want)
		}
	}
}

// TestLongInput writes of a long input what is not zero.
func TestLongInput(t *testing.T) {
	for input, want := range map[string]string{"3c00 3c01 0": "  input       3c00 3c01 0\n", strings.Repeat("0000,", 512): "  input       p3=3c00*3c01 (other products are zero)\n"} {
		var b strings.Builder
		(&Change{Instruction: "dot", Cause: "overflow", First: "v2", Input: input, terms: "p3=3c00*3c01"}).Write(&b, 100)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s, want %q", b.String(), want)
		}
	}
}
