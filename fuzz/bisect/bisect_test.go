package bisect

import (
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
