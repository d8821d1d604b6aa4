package finding

import (
	"context"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestOften asks a unit whose NaN has another code each time: where NaNs are compared by class, that is
// one answer, and else none counts.
func TestOften(t *testing.T) {
	for _, tc := range []struct {
		nan      oracle.Strictness
		doubtful []bool
		runs     int
	}{
		{oracle.ByClass, []bool{false, false}, repetitions},
		{oracle.Bits, []bool{true, false}, repetitions + unsure},
	} {
		runs := 0
		run := func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
			runs++
			return []uint64{0x7fc00000 + uint64(runs), 5}[:len(dots)], nil
		}
		p := &Pair{Policy: oracle.Policy{NaN: tc.nan}}
		p.Spec.D = fp.FP32
		codes, doubtful, err := often(t.Context(), run, p.Equal, make([]*mma.Dot, 2))
		if err != nil || codes[1] != 5 || !slices.Equal(doubtful, tc.doubtful) || runs != tc.runs {
			t.Errorf("NaNs by %s: %x, doubtful %v in %d runs, %v", tc.nan, codes, doubtful, runs, err)
		}
	}
}
