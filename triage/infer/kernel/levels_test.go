package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// meeting tells how many products the smallest partial sum of two has.
type meeting func(i, j int32) int

// sumsBy are the partial sums of K products that meet so, as readBy reads them.
func sumsBy(t *testing.T, k int, size meeting) *sums {
	t.Helper()
	s := newSums(k)
	s.present, s.width = upTo(k), 1
	for work := []node{{set: s.present}}; len(work) > 0; work = work[1:] {
		n := work[0]
		var sizes []int
		for _, j := range n.set[1:] {
			sizes = append(sizes, size(n.set[0], j))
		}
		inner, err := s.split(n, sizes)
		if err != nil {
			t.Fatal(err)
		}
		work = append(work, inner...)
	}
	return s
}

// forward are blocks of so many products, whose sums are added first to last.
func forward(block int32, inside meeting) meeting {
	return func(i, j int32) int {
		if i/block != j/block {
			return int((max(i, j)/block + 1) * block)
		}
		return inside(i%block, j%block)
	}
}

// twoLanes are a block of so many products in two accumulators.
func twoLanes(block int32) meeting {
	return func(i, j int32) int {
		if i%2 != j%2 {
			return int(block)
		}
		return int(max(i, j)/2 + 1)
	}
}

// TestBlocksOfLanes looks for schedules of many blocks, each in two lanes, as matrix-vector products of
// OpenBLAS have them: one level is not enough, and to see that takes a small part of a search.
func TestBlocksOfLanes(t *testing.T) {
	for n, tc := range []struct {
		name  string
		size  meeting
		depth int
		work  int // products that may be looked at
		want  string
	}{
		{"blocks of 8", forward(8, twoLanes(8)), 2, 1 << 23, "size 8 forward, lanes 2 forward"},
		{"blocks of 4", forward(4, twoLanes(4)), 2, 1 << 23, "size 4 forward, lanes 2 forward"},
		{"blocks of 40, of blocks of 8", forward(40, forward(8, twoLanes(8))), 3, 1 << 27, "size 40 forward, size 8 forward, lanes 2 forward"},
	} {
		if n >= tier.Of(2, 2, 3) {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			e := &enumeration{ctx: t.Context(), sums: sumsBy(t, 1000, tc.size), failed: map[uint64]bool{}}
			e.work = e.most() - tc.work
			var got []string
			for depth := 1; depth <= tc.depth; depth++ {
				for _, levels := range e.levels([][]int32{upTo(1000)}, depth) {
					var all []string
					for _, l := range levels {
						all = append(all, fmt.Sprint(l.Cut.By, " ", l.Cut.N, " ", l.Merge.Order))
					}
					got = append(got, strings.Join(all, ", "))
				}
			}
			if !slices.Contains(got, tc.want) {
				t.Errorf("%q, want %q among them", got, tc.want)
			}
		})
	}
}
