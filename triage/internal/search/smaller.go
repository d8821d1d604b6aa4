package search

import (
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Simplest makes a program smaller as long as it explains at least n of the cases and
// meets the condition keep, if that is not nil.
func Simplest(e *evidence.Evidence, p mma.Params, c *evidence.Cases, n int, keep func(p *mma.Params) bool) mma.Params {
	for {
		simpler := change.Programs(e.Mutants(&p, change.Removals))
		if keep != nil {
			simpler = slices.DeleteFunc(simpler, func(q mma.Params) bool { return !keep(&q) })
		}
		first := slices.IndexFunc(e.Counts(simpler, c), func(got int) bool { return got >= n })
		if first < 0 {
			return p
		}
		p = simpler[first]
	}
}

// EverySet is the number of elements of which Fewest tries every set.
const EverySet = 14

// Fewest returns a set of the first n numbers, as a bit mask, for which a condition holds, as it
// does for all of them, with as few as possible: of the smallest sets the first. Of more than
// EverySet numbers it leaves out one after the other, the last ones first, until none can be
// left out.
func Fewest(n int, holds func(set uint32) bool) uint32 {
	all := uint32(1)<<n - 1
	if n > EverySet {
		return LeaveOut(n, holds)
	}
	for size := 1; size < n; size++ {
		for set := range Subsets(n, size) {
			if holds(set) {
				return set
			}
		}
	}
	return all
}

// LeaveOut returns a set of the first n numbers for which a condition holds, as it does for all
// of them, and from which no number can be left out. It leaves out the last ones first.
func LeaveOut(n int, holds func(set uint32) bool) uint32 {
	set := uint32(1)<<n - 1
	for before := uint32(0); before != set; {
		before = set
		for i := n - 1; i >= 0; i-- {
			if less := set &^ (1 << i); less != set && less != 0 && holds(less) {
				set = less
			}
		}
	}
	return set
}

// Subsets yields the sets of a given size of n elements, as bit masks in ascending order.
func Subsets(n, size int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for set := uint32(1)<<size - 1; set < 1<<n; {
			if !yield(set) {
				return
			}
			low := set & -set
			ripple := set + low
			set = (set^ripple)>>2/low | ripple
		}
	}
}
