package oracle

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// permutation returns 0..k-1 in the order in which products are taken. Each
// order is a stable sort of the ascending one.
func permutation(o mma.Order, k int) []int {
	rank := func(i int) int { return 0 }
	switch o {
	case mma.Descending:
		rank = func(i int) int { return -i }
	case mma.SwapPairs:
		rank = func(i int) int { return i ^ 1 }
	case mma.Split4:
		rank = func(i int) int { return i % 4 / 2 }
	case mma.EvenOdd:
		rank = func(i int) int { return i % 2 }
	case mma.Halves: // an odd last element stays last
		rank = func(i int) int { return halvesRank(i, k/2) }
	}
	p := make([]int, k)
	for i := range p {
		p[i] = i
	}
	if o == mma.Ascending {
		return p
	}
	slices.SortStableFunc(p, func(i, j int) int { return rank(i) - rank(j) })
	return p
}

// halvesRank puts i and i+h side by side.
func halvesRank(i, h int) int {
	if i < h {
		return 2 * i
	}
	if i < 2*h {
		return 2*(i-h) + 1
	}
	return i
}
