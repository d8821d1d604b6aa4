package summary

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz"
)

// TestCounted: pairs of several targets are not counted as instructions.
func TestCounted(t *testing.T) {
	for want, target := range map[string]string{"INSTR": "sim:hopper", "PAIRS": "sim:ada"} {
		pairs := []*fuzz.PairState{{}, {}}
		pairs[0].TargetA, pairs[1].TargetA = "sim:hopper", target
		w := &printer{state: &fuzz.State{Pairs: pairs}}
		if got := w.counted(); got != want {
			t.Errorf("%s and %s: %s, want %s", pairs[0].TargetA, target, got, want)
		}
	}
}
