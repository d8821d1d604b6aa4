package infer

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNearTie checks that near ties tell wide adders from exact ones.
func TestNearTie(t *testing.T) {
	for _, tc := range []struct {
		operands fp.ID
		f        mma.Frac
	}{{fp.BF16, 34}, {fp.FP16, 36}, {fp.TF32, 36}, {fp.FP32, 40}} {
		f := mma.Formats{A: tc.operands, B: tc.operands, C: fp.FP32, D: fp.FP32}
		const k, n = 4, 20_000
		exact := mma.Params{L: 1, Acc: mma.To(fp.FP32, fp.RNE)}
		wide := exact
		wide.Join.Align = mma.Align{F: tc.f, Mode: fp.RZ}
		of := func(p mma.Params) *sim.Model {
			m, err := sim.New(f, k, p)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		x, y := of(exact), of(wide)
		family := &family{make: nearTie}
		differ := 0
		for _, d := range design(gen.Spec{Formats: f, K: k}, family, rand.New(rand.NewPCG(1, 2)), n, nil) {
			if x.Dot(d, nil) != y.Dot(d, nil) {
				differ++
			}
		}
		if differ < n/1000 {
			t.Errorf("%s: %d of %d differ", f, differ, n)
		}
	}
}

// TestCarryUp asks adders that lose the carry of rounding up in one binade of their sums: every one
// of those that K products and c can reach.
func TestCarryUp(t *testing.T) {
	for _, tc := range []struct {
		f mma.Formats
		k int
	}{{half, 4}, {half, 8}, {half, 16}, {mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32}, 32}, {mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.None, D: fp.FP32}, 8}} {
		exact, err := sim.New(tc.f, tc.k, mma.Params{Acc: mma.To(fp.FP32, fp.RNE)})
		if err != nil {
			t.Fatal(err)
		}
		cut, err := sim.New(tc.f, tc.k, mma.Params{Acc: mma.To(fp.FP32, fp.RZ)})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]int{} // carries, by the power of two that the sum of products of 1 is rounded to
		for _, dot := range design(gen.Spec{Formats: tc.f, K: tc.k}, &family{make: carryUp}, rand.New(rand.NewPCG(1, 2)), 4_000, nil) {
			up, down := exact.Dot(dot, nil), cut.Dot(dot, nil)
			if up&0x7fffff != 0 || up == down {
				continue
			}
			most := int32(-1000)
			for i := range dot.A {
				if x, y := tc.f.A.Get().Decode(dot.A[i]), tc.f.B.Get().Decode(dot.B[i]); x.Class == fp.Finite && y.Class == fp.Finite {
					most = max(most, x.Exp+y.Exp)
				}
			}
			seen[int(up>>23&0xff)-127-int(most)]++
		}
		n := bits.Len(uint(tc.k)) // 2K, less what the small term takes
		for m := n - 2; m < n; m++ {
			if seen[m] < 40 {
				t.Errorf("%v, K = %d: %d carries into 2^%d, want at least 40: %v", tc.f, tc.k, seen[m], m, seen)
			}
		}
	}
}
