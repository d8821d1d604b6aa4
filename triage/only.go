package triage

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// otherCause stands for any cause with another Detail than the one that is asked about.
var otherCause = &Cause{}

// only finds out which of the cases left have causes with a detail. All other cases get
// otherCause as soon as a program shows that they have none: most do at the first one.
// It does nothing if the detail does not consist of labels of sets that are tried.
func (s *Attribution) only(detail string, b *mma.Batch) {
	set, together := s.n.parse(detail)
	if set == 0 || together && bits.OnesCount32(set) > len(s.n.sets) {
		return
	}
	key := causeKey{need: set}
	if !together {
		key = causeKey{need: set & -set, enough: set}
	}
	for need := set; need != 0 && !together; need &= need - 1 {
		s.sift(need&-need, b, true)
	}
	if together {
		s.sift(set, b, true)
	}
	for _, other := range s.n.before(set, together) {
		s.sift(other, b, false)
	}
	cause := s.n.cause(key)
	s.leave(func(i int) bool {
		s.of[i] = cause
		return true
	})
}

// parse returns the labels in a Cause.Detail, 0 if they are not among the attributor's.
// together reports that a case needs all of them.
func (n *Attributor) parse(detail string) (set uint32, together bool) {
	together = strings.Contains(detail, "+")
	for name := range strings.FieldsFuncSeq(detail, func(r rune) bool { return r == '|' || r == '+' }) {
		i := slices.Index(n.labels, Label(name))
		if i < 0 {
			return 0, false
		}
		set |= 1 << i
	}
	return set, together
}

// before returns the sets that explain no case with a cause of a set of labels: those that are
// tried before the set, or all other single labels if each of the set is enough.
func (n *Attributor) before(set uint32, together bool) []uint32 {
	var list []uint32
	for size, sets := range n.sets {
		for _, other := range sets {
			switch {
			case n.tried(size+1, other):
			case together && other == set:
				return list
			case together, size == 0 && other&set == 0:
				list = append(list, other)
			}
		}
	}
	return list
}

// sift gives otherCause to the cases left that a set of labels explains, or to those that it
// does not explain.
func (s *Attribution) sift(set uint32, b *mma.Batch, explained bool) {
	mark := func(want, other []uint64) func(i int, code uint64) {
		return func(i int, code uint64) { s.back[i] = s.back[i] || s.differ.Explains(code, want[i], other[i]) }
	}
	other := func(i int) bool {
		if s.back[i] != explained {
			s.of[i] = otherCause
		}
		return s.of[i] != nil
	}
	s.run(set, b, mark(s.to, s.from))
	if !explained {
		s.leave(other)
	}
	s.run(s.n.all()&^set, b, mark(s.from, s.to))
	s.leave(other)
	for _, i := range s.left {
		s.back[i] = false
	}
}
