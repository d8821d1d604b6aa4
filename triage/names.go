package triage

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Names names many cases together, as Namer.Name does one: the variants run on
// batches, by the kernels. The zero Names is ready for use, by one goroutine at a
// time.
type Names struct {
	n     *Namer
	sets  [][]variants // by step
	of    []string     // by case
	set   []int32      // by case: the variants of the step that explain it
	left  []int        // cases without a name yet
	some  mma.Batch    // these, if they are few
	out   []byte
	loose bool // other codes may be the same result: differ decides

	differ oracle.Comparer
}

// variants is a set of variants of a step.
type variants struct {
	name string  // their names, joined by |
	with []int32 // by variant: the set that has it too; 0: not known yet
}

// Name names cases whose operands are the outputs at of a batch and whose wanted
// results are given. The names are good until the next call.
func (s *Names) Name(n *Namer, b *mma.Batch, at []int32, want []uint64) []string {
	s.begin(n, len(at))
	for step := range n.steps {
		if len(s.left) == 0 {
			return s.of
		}
		s.run(step, b, at, want)
	}
	if len(n.labels) <= maxNamed {
		for _, i := range s.left {
			s.of[i] = string(Unexplained)
		}
		return s.of
	}
	dot := mma.NewDot(b.Formats, b.K)
	for _, i := range s.left {
		b.Get(int(at[i]), dot)
		s.of[i], _ = n.reduce(dot, want[i])
	}
	return s.of
}

// begin has no case named.
func (s *Names) begin(n *Namer, cases int) {
	if s.n != n {
		s.n, s.sets = n, make([][]variants, len(n.steps))
		for i, step := range n.steps {
			s.sets[i] = []variants{{with: make([]int32, len(step))}} // the empty set
		}
		s.loose, s.differ = n.pr.Policy != oracle.Policy{}, oracle.NewComparer(n.pr.Formats.D, n.pr.Policy)
	}
	s.of = slices.Grow(s.of[:0], cases)[:cases]
	s.set = slices.Grow(s.set[:0], cases)[:cases]
	s.left = s.left[:0]
	for i := range cases {
		s.left = append(s.left, i)
	}
}

// run names the cases that variants of a step explain.
func (s *Names) run(step int, b *mma.Batch, at []int32, want []uint64) {
	whole := s.whole(b)
	if !whole {
		s.take(b, at)
		b = &s.some
	}
	for _, i := range s.left {
		s.set[i] = 0
	}
	w := b.Formats.D.Width()
	s.out = slices.Grow(s.out[:0], b.Dots()*w)[:b.Dots()*w]
	for v := range s.n.steps[step] {
		s.n.steps[step][v].model.Run(b, s.out)
		for j, i := range s.left {
			if whole {
				j = int(at[i])
			}
			if x := mma.Load(s.out, w, j); x == want[i] || s.loose && s.differ.Compare(x, want[i]) == oracle.Same {
				s.set[i] = s.with(step, s.set[i], v)
			}
		}
	}
	rest := s.left[:0]
	for _, i := range s.left {
		if s.set[i] == 0 {
			rest = append(rest, i)
			continue
		}
		s.of[i] = s.sets[step][s.set[i]].name
	}
	s.left = rest
}

// whole says whether running all of a batch takes less than running what is left
// alone: kernels take for an output of a large tile a sixteenth of what they take
// for one that stands alone.
func (s *Names) whole(b *mma.Batch) bool { return len(s.left)*min(16, b.M*b.N) >= b.Dots() }

// take makes a batch of the cases that are left.
func (s *Names) take(b *mma.Batch, at []int32) {
	s.some.Reset(b.Formats, mma.Shape{M: 1, N: 1, K: b.K, Tiles: len(s.left)})
	for j, i := range s.left {
		s.some.Take(j, b, int(at[i]))
	}
}

// with returns a set of variants of a step with one more.
func (s *Names) with(step int, set int32, v int) int32 {
	sets := s.sets[step]
	if next := sets[set].with[v]; next != 0 {
		return next
	}
	name := s.n.steps[step][v].name
	if set != 0 {
		name = sets[set].name + "|" + name
	}
	next := int32(len(sets))
	sets[set].with[v] = next
	s.sets[step] = append(sets, variants{name, make([]int32, len(sets[set].with))})
	return next
}
