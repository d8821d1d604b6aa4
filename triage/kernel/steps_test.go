package kernel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestSteps writes the partial sums of 1 + 2^24 - 2^24 + 0 + ... and of an element that is longer.
func TestSteps(t *testing.T) {
	kernel := func(levels ...schedule.Level) *schedule.Kernel {
		return &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP32}, Schedules: []schedule.Schedule{{Levels: levels}}}
	}
	chain := kernel()
	halves := kernel(schedule.Level{Cut: schedule.Cut{By: "count", N: 2}, Merge: schedule.Merge{Order: "forward"}})
	lost := kernel(schedule.Level{Cut: schedule.Cut{By: "size", N: 24}, Tail: &schedule.Tail{Of: 24, Into: "drop"}, Merge: schedule.Merge{Order: "chain"}})
	for _, tc := range []struct {
		a, b   *schedule.Kernel
		values map[int]float64
		k      int
		want   [2][]string
	}{
		{chain, halves, map[int]float64{0: 1, 1: 1 << 24, 20: -1 << 24}, 24, [2][]string{
			{"… 1 partial sum, the same on both sides", "+ p1 → 4b800000 (16777216)", "+ p20 → 00000000 (0)"},
			{"… 1 partial sum, the same on both sides", "block 1 of 2: + p1 → 4b800000 (16777216)", "block 2 of 2: + p20 → cb800000 (-16777216)", "block 2 of 2, add → 00000000 (0)"}}},
		{lost, chain, map[int]float64{24: 1}, 25, [2][]string{{"no partial sum is other than what it begins with"}, {"+ p24 → 3f800000 (1)"}}},
	} {
		o := &gemm.Operands{Shape: schedule.Shape{M: 1, N: 1, K: tc.k}, A: make([]byte, 4*tc.k), B: make([]byte, 4*tc.k)}
		for k := range tc.k {
			mma.Store(o.A, 4, k, fp.FP32.Get().FromFloat64(tc.values[k]))
			mma.Store(o.B, 4, k, fp.FP32.Get().FromFloat64(1))
		}
		got, _, err := Steps(t.Context(), [2]*schedule.Kernel{tc.a, tc.b}, o, [2]int{})
		if d := cmp.Diff(tc.want, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
}
