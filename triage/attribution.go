package triage

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// Attribution finds the causes of many cases together: it runs the programs that lie
// between an attributor's two on batches. The zero Attribution is ready for use, by one
// goroutine at a time.
type Attribution struct {
	// Only, if not empty, is the only Cause.Detail that matters: the cause of a case that
	// has another may be any with a Detail that is not Only. That takes less time.
	Only string

	n        *Attributor
	of       []*Cause // by case
	need     []uint32 // by case: the first set of labels, of the size now tried, that explains it
	enough   []uint32 // by case: the labels each of which alone explains it
	back     []bool   // by case: need explains it in the second direction only (see Cause)
	left     []int    // cases without a cause yet
	at       []int32
	from, to []uint64   // results, by case
	known    []results  // of programs that were run
	some     mma.Batch  // the cases left, if they are few
	taken    bool       // some holds the cases left
	whole    sim.Shared // the batch, and the cases left
	few      sim.Shared
	out      []byte
	last     []keyedCause // causes found before

	differ oracle.Comparer
}

// results are those of the program of a set of labels, by case. They are good for the cases that
// are left, which become fewer only.
type results struct {
	set   uint32
	codes []uint64
}

// Causes finds the causes of cases. The operands of case i are those of output at[i] of the
// batch; from[i] and to[i] are its results on the two sides that the attributor's programs
// stand for. The answer is good until the next call.
func (s *Attribution) Causes(n *Attributor, b *mma.Batch, at []int32, from, to []uint64) []*Cause {
	s.begin(n, at, from, to)
	s.whole.Reset(b)
	s.shown(b)
	s.only(s.Only, b)
	for size := 1; size <= len(n.sets) && len(s.left) > 0; size++ {
		s.step(size, b)
	}
	if len(s.left) == 0 {
		return s.of
	}
	s.some.Reset(b.Formats, mma.Shape{M: 1, N: 1, K: b.K, Tiles: 1})
	for _, i := range s.left {
		s.some.Take(0, b, int(at[i]))
		s.few.Reset(&s.some)
		s.of[i] = s.reduce(from[i], to[i])
	}
	return s.of
}

// Shown reports of each case, as Causes has them, whether the two programs reproduce it: each gives
// the result of its side. The answer is good until the next call.
func (s *Attribution) Shown(n *Attributor, b *mma.Batch, at []int32, from, to []uint64) []bool {
	s.begin(n, at, from, to)
	s.whole.Reset(b)
	s.shown(b)
	clear(s.back)
	for _, i := range s.left {
		s.back[i] = true
	}
	return s.back
}

// begin resets the causes of all cases.
func (s *Attribution) begin(n *Attributor, at []int32, from, to []uint64) {
	if s.n != n {
		s.n, s.last = n, nil
		s.differ = oracle.NewComparer(n.formats.D, n.policy)
	}
	s.at, s.from, s.to = at, from, to
	s.of, s.need, s.enough, s.back = zeros(s.of, len(at)), zeros(s.need, len(at)), zeros(s.enough, len(at)), zeros(s.back, len(at))
	s.left, s.taken, s.known = s.left[:0], false, s.known[:0]
	for i := range at {
		s.left = append(s.left, i)
	}
}

// zeros returns n zero values in the memory of a slice.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// shown keeps the cases that the two programs reproduce: each gives the result of its
// side. The others are unexplained.
func (s *Attribution) shown(b *mma.Batch) {
	if len(s.n.labels) == 0 {
		s.drop(func(int) bool { return true })
		return
	}
	for _, side := range []struct {
		set         uint32
		want, other []uint64
		exact       bool
	}{{0, s.from, s.to, s.n.ExactFrom}, {s.n.all(), s.to, s.from, s.n.ExactTo}} {
		if side.exact {
			continue
		}
		s.run(side.set, b, func(i int, code uint64) { s.back[i] = s.differ.Explains(code, side.want[i], side.other[i]) })
		s.drop(func(i int) bool { return !s.back[i] })
	}
}

// leave removes cases that are done from those that are left.
func (s *Attribution) leave(done func(i int) bool) {
	before := len(s.left)
	s.left = slices.DeleteFunc(s.left, done)
	s.taken = s.taken && len(s.left) == before
}

// drop gives up cases as unexplained.
func (s *Attribution) drop(which func(i int) bool) {
	s.leave(func(i int) bool {
		if which(i) {
			s.of[i] = unexplainedCause
			return true
		}
		s.back[i] = false
		return false
	})
}

// step finds the causes of cases that sets of a size explain.
func (s *Attribution) step(size int, b *mma.Batch) {
	all := s.n.all()
	half := 2*size == len(s.n.labels) // the complement of a set of this size has the same size
	for _, set := range s.n.sets[size-1] {
		if s.n.tried(size, set) {
			continue
		}
		rest := all &^ set
		s.run(set, b, func(i int, code uint64) {
			if s.differ.Explains(code, s.to[i], s.from[i]) {
				s.hit(i, set, false)
			}
			if half && s.differ.Explains(code, s.from[i], s.to[i]) {
				s.hit(i, rest, true)
			}
		})
		if half {
			continue
		}
		if size > 1 { // no later set comes before this one, and none adds to its labels
			s.explained()
		}
		s.run(rest, b, func(i int, code uint64) {
			if s.differ.Explains(code, s.from[i], s.to[i]) {
				s.hit(i, set, true)
			}
		})
		if size > 1 {
			s.explained()
		}
	}
	s.explained()
}

// tried reports whether a set of some size explains what it does without its idle labels, which
// is tried before.
func (n *Attributor) tried(size int, set uint32) bool {
	idle := set & n.still
	return 2*size != len(n.labels) && idle != 0 && n.valid(set&^idle)
}

// explained gives the cases left that a set explains their causes.
func (s *Attribution) explained() {
	s.leave(func(i int) bool {
		if s.need[i] != 0 {
			s.of[i] = s.cause(causeKey{s.need[i], s.enough[i], s.back[i]})
		}
		return s.need[i] != 0
	})
}

// hit notes that a set explains a case.
func (s *Attribution) hit(i int, set uint32, back bool) {
	if bits.OnesCount32(set) == 1 {
		s.enough[i] |= set
	}
	switch {
	case s.need[i] == 0 || s.need[i] != set && before(set, s.need[i]):
		s.need[i], s.back[i] = set, back
	case s.need[i] == set && !back:
		s.back[i] = false
	}
}

// keyedCause is a cause with its key.
type keyedCause struct {
	causeKey
	*Cause
}

// cause is Attributor.cause, without its lock from the second time on. There are so few causes
// that a linear search is faster than a map.
func (s *Attribution) cause(key causeKey) *Cause {
	for i := range s.last {
		if s.last[i].causeKey == key {
			return s.last[i].Cause
		}
	}
	c := s.n.cause(key)
	s.last = append(s.last, keyedCause{key, c})
	return c
}

// run calls use with the result of the program of a set for each case that is left.
func (s *Attribution) run(set uint32, b *mma.Batch, use func(i int, code uint64)) {
	if len(s.left) == 0 {
		return
	}
	if codes := s.codes(set, b); codes != nil {
		for _, i := range s.left {
			use(i, codes[i])
		}
	}
}

// codes returns the results of the program of a set for the cases that are left; nil if it is not
// valid.
func (s *Attribution) codes(set uint32, b *mma.Batch) []uint64 {
	switch {
	case set == 0 && s.n.ExactFrom:
		return s.from
	case set == s.n.all() && s.n.ExactTo:
		return s.to
	}
	for i := range s.known {
		if s.known[i].set == set {
			return s.known[i].codes
		}
	}
	m := s.n.model(set)
	if m == nil {
		return nil
	}
	n := len(s.known)
	s.known = slices.Grow(s.known, 1)[:n+1] // with its memory
	k := &s.known[n]
	k.set, k.codes = set, slices.Grow(k.codes[:0], len(s.at))[:len(s.at)]
	s.compute(m, b, k.codes)
	return k.codes
}

// compute runs a model on the cases that are left.
func (s *Attribution) compute(m *sim.Model, b *mma.Batch, codes []uint64) {
	complete, shared := s.complete(m, b), &s.whole
	if !complete {
		if !s.taken {
			s.take(b)
		}
		b, shared = &s.some, &s.few
	}
	w := b.Formats.D.Width()
	s.out = slices.Grow(s.out[:0], b.Dots()*w)[:b.Dots()*w]
	m.RunShared(shared, s.out)
	for j, i := range s.left {
		if complete {
			j = int(s.at[i])
		}
		codes[i] = mma.Load(s.out, w, j)
	}
}

// complete reports whether running all of a batch takes less time than running only the cases
// left: an output of a large tile takes a kernel in vector instructions a sixteenth of the time of
// a single dot product, and any other code half of it.
func (s *Attribution) complete(m *sim.Model, b *mma.Batch) bool {
	times := 2
	if m.Vector() {
		times = 16
	}
	return len(s.left)*min(times, b.M*b.N) >= b.Dots()
}

// take makes a batch of the cases that are left.
func (s *Attribution) take(b *mma.Batch) {
	s.some.Reset(b.Formats, mma.Shape{M: 1, N: 1, K: b.K, Tiles: len(s.left)})
	for j, i := range s.left {
		s.some.Take(j, b, int(s.at[i]))
	}
	s.few.Reset(&s.some)
	s.taken = true
}

// reduce explains the case in s.few, which needs more labels than are tried together: it leaves
// out labels, the last ones first, that the case does not need, in each direction, and takes
// the smaller set.
func (s *Attribution) reduce(from, to uint64) *Cause {
	n, w := s.n, s.some.Formats.D.Width()
	s.out = slices.Grow(s.out[:0], w)[:w]
	gives := func(set uint32, want, other uint64) bool {
		m := n.model(set)
		if m == nil {
			return false
		}
		m.RunShared(&s.few, s.out)
		return s.differ.Explains(mma.Load(s.out, w, 0), want, other)
	}
	there := search.LeaveOut(len(n.labels), func(set uint32) bool { return gives(set, to, from) })
	back := search.LeaveOut(len(n.labels), func(set uint32) bool { return gives(n.all()&^set, from, to) })
	x, y := bits.OnesCount32(there), bits.OnesCount32(back)
	if y < x || y == x && there != back && before(back, there) {
		return n.cause(causeKey{need: back, back: true})
	}
	return n.cause(causeKey{need: there})
}
