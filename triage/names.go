package triage

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Names is the space in which cases are named together. The zero Names is ready for
// use, by one goroutine at a time.
type Names struct {
	of   []string  // by case
	left []int     // cases without a name yet
	some mma.Batch // these
	out  []byte
	hits []bool // by variant and case that is left
	text []byte
	said map[string]string // names that were joined
}

// Name names the dot products of a batch of tiles of 1 x 1, of which the wanted
// results are given, each as Namer.Name does alone. The names are good until the
// next call.
func (s *Names) Name(n *Namer, b *mma.Batch, want []uint64) []string {
	s.of = slices.Grow(s.of[:0], len(want))[:len(want)]
	s.left = s.left[:0]
	for i := range want {
		s.left = append(s.left, i)
	}
	cases := b
	for _, step := range n.steps {
		if len(s.left) == 0 {
			break
		}
		for v := range step {
			s.test(n, v*len(s.left), &step[v], cases, want)
		}
		s.settle(step)
		cases = s.rest(b)
	}
	dot := mma.NewDot(b.Formats, b.K)
	for _, i := range s.left {
		b.Get(i, dot)
		s.of[i], _ = n.reduce(dot, want[i])
	}
	return s.of
}

// test notes, from place at on, which of the cases that are left a variant explains.
func (s *Names) test(n *Namer, at int, v *variant, cases *mma.Batch, want []uint64) {
	w := cases.Formats.D.Width()
	s.out = slices.Grow(s.out[:0], len(s.left)*w)[:len(s.left)*w]
	v.model.Run(cases, s.out)
	s.hits = slices.Grow(s.hits[:at], len(s.left))[:at+len(s.left)]
	for j, i := range s.left {
		s.hits[at+j] = oracle.Compare(cases.Formats.D, n.pr.Policy, mma.Load(s.out, w, j), want[i]) == oracle.Same
	}
}

// settle names the cases that a variant of a step explains; the others are left.
func (s *Names) settle(step []variant) {
	n, rest := len(s.left), s.left[:0]
	for j, i := range s.left {
		if s.of[i] = s.joined(step, j, n); s.of[i] == "" {
			rest = append(rest, i)
		}
	}
	s.left = rest
}

// joined returns the names of the variants that explain the case in place j of n,
// joined by |.
func (s *Names) joined(step []variant, j, n int) string {
	name, more := "", false
	for v := range step {
		switch {
		case !s.hits[v*n+j]:
		case name == "":
			name = step[v].name
		case !more:
			more = true
			s.text = append(append(append(s.text[:0], name...), '|'), step[v].name...)
		default:
			s.text = append(append(s.text, '|'), step[v].name...)
		}
	}
	if !more {
		return name
	}
	known, ok := s.said[string(s.text)]
	if !ok {
		if s.said == nil {
			s.said = map[string]string{}
		}
		known = string(s.text)
		s.said[known] = known
	}
	return known
}

// rest returns the cases that are left as a batch.
func (s *Names) rest(b *mma.Batch) *mma.Batch {
	s.some.Reset(b.Formats, mma.Shape{M: 1, N: 1, K: b.K, Tiles: len(s.left)})
	for j, i := range s.left {
		s.some.Take(j, b, i)
	}
	return &s.some
}
