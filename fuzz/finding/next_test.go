package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestInferCommand holds that nobody is sent to infer with what it refuses.
func TestInferCommand(t *testing.T) {
	flags, err := fp.FP32.WithFlags(fp.FlagsX86)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		target string
		d      fp.ID
		k      int
		there  bool
	}{
		{"exec:./mine", fp.FP32, 4, true}, {"exec:./mine", flags, 1, false},
		{"exec:./mine", fp.FP32, mma.MaxK + 1, false}, {"FuzzMine", fp.FP32, 4, false}, {"sim:hopper", fp.FP32, 4, false},
	} {
		i := &mma.Instruction{Name: "mine", Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: tc.d}, K: tc.k}
		s := TargetUnit{Target: tc.target, Unit: devices.Func(i, func(*mma.Dot) uint64 { return 0 })}
		if got := (&Finder{Options: Options{Pairs: make([]devices.Pair, 1)}}).inferCommand(s, 0, ""); (got != "") != tc.there {
			t.Errorf("%s, %s, K = %d: %q", tc.target, tc.d, tc.k, got)
		}
	}
}
