package defect

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestStored looks for the partial sum of a kernel that is kept in a narrower format: that of one of two
// accumulators, or of one accumulator after some products.
func TestStored(t *testing.T) {
	brain := func(x float32) float32 {
		if x != x {
			return x
		}
		code := math.Float32bits(x)
		return math.Float32frombits((code + 0x7fff + code>>16&1) &^ 0xffff)
	}
	for _, c := range []struct {
		k     int
		lanes int
		after []int // products
		rule  string
	}{
		{16, 1, []int{7}, "the result of the sum that adds product 7 (step 7) is rounded to bf16"},
		{16, 2, []int{14}, "the result of the sum that adds product 14 (step 7; the 8th of accumulator 0) is rounded to bf16"},
		{200, 2, []int{199}, "the result of the sum that adds product 199 (step 199; the 100th of accumulator 1) is rounded to bf16"},
		{16, 1, []int{3, 7, 11, 15}, "the result of each sum whose number, counted from 1, 4 divides, is rounded to bf16"},
		{16, 2, []int{14, 15}, "the last sum of each accumulator is rounded to bf16"},
	} {
		i := &mma.Instruction{Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: c.k}
		i.Params = mma.FMA(fp.FP32)
		i.Params.L = 1
		if c.lanes > 1 {
			i.Params.Lanes, i.Params.Late = uint8(c.lanes), i.Params.Acc
		}
		x := planted{dot: func(u *unit) uint64 {
			sums := make([]float32, c.lanes)
			sums[0] = float32(u.c())
			for k := range u.A {
				sum := &sums[k%c.lanes]
				*sum += float32(u.p(k)) // which is exact
				for _, n := range c.after {
					if n == k {
						*sum = brain(*sum)
					}
				}
			}
			for _, sum := range sums[1:] {
				sums[0] += sum
			}
			if sums[0] != sums[0] {
				return u.f.D.Get().QuietNaN(false)
			}
			return uint64(math.Float32bits(sums[0]))
		}}
		u := x.of(t, i)
		u.Budget = &Budget{Most: 2_000_000 * PerDot} // a quick search has no more
		claim, err := Find(t.Context(), u)
		got := ""
		if claim != nil {
			got = claim.Rule.String()
		}
		t.Logf("work %.2f", float64(u.Budget.Spent)/1e9)
		if err != nil || got != c.rule {
			t.Errorf("%v: %q, %v, want %q", c, got, err, c.rule)
		}
	}
}
