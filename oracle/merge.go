package oracle

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// withLeaf returns terms with another one before or after them, or as they are.
func (e *evaluator) withLeaf(terms []term, t term, first, last bool) []term {
	switch {
	case first:
		return append(append(e.space(len(terms)+1), t), terms...)
	case last:
		return append(append(e.space(len(terms)+1), terms...), t)
	}
	return terms
}

// merge adds the lanes. A Merge of distances is a tree: its last level adds two sums, that
// of the terms whose numbers have the bit of the last distance clear, and that of those
// which have it set.
func (e *evaluator) merge(terms []term) term {
	if e.Merge == 0 {
		sum := terms[0]
		for _, t := range terms[1:] {
			sum = e.late(sum, t, &e.Late)
		}
		return sum
	}
	numbers := make([]int, len(terms))
	for i := range numbers {
		numbers[i] = i
	}
	return e.mergeTree(terms, numbers, e.Merge.Distances())
}

// mergeTree returns the sum of the terms with the given numbers by the given levels of a
// Merge.
func (e *evaluator) mergeTree(terms []term, numbers, levels []int) term {
	if len(numbers) == 1 {
		return terms[numbers[0]]
	}
	bit := bits.TrailingZeros(uint(levels[len(levels)-1]))
	var clear, set []int
	for _, n := range numbers {
		if n>>bit&1 == 0 {
			clear = append(clear, n)
		} else {
			set = append(set, n)
		}
	}
	levels = levels[:len(levels)-1]
	if set == nil {
		return e.mergeTree(terms, clear, levels)
	}
	return e.late(e.mergeTree(terms, clear, levels), e.mergeTree(terms, set, levels), &e.Late)
}

// sorted returns the terms of a group in the order in which a stage adds them.
func sorted(terms []term, s mma.Sort) []term {
	if s == mma.Unsorted {
		return terms
	}
	direction := 1
	if s == mma.Falling {
		direction = -1
	}
	return slices.SortedStableFunc(slices.Values(terms), func(x, y term) int { return direction * cmpAbs(x, y) })
}

// cmpAbs compares magnitudes; all infinities and NaNs have one magnitude, above that of all
// numbers.
func cmpAbs(x, y term) int {
	if x.kind != Finite || y.kind != Finite {
		return order(x.kind != Finite, y.kind != Finite)
	}
	q := min(x.q, y.q)
	return x.m.abs().shifted(x.q - q).cmp(y.m.abs().shifted(y.q - q))
}
