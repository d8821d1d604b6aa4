package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// stage replaces the terms in x.terms by the sums of their groups, in a deep stage again
// and again until one is left.
func (x *machine) stage(place Place, s *mma.Stage) {
	if s.Sum == mma.Off {
		return
	}
	x.level(place, s)
	for s.Deep && len(x.terms) > 1 {
		x.level(place, s)
	}
}

// level sums the groups of x.terms once.
func (x *machine) level(place Place, s *mma.Stage) {
	n := len(x.terms)
	size, groups, stride := int(s.Group), 0, 1
	switch {
	case s.Split == mma.Interleaved:
		groups = min(size, n)
		if s.Deep {
			groups = (n + size - 1) / size
		}
		stride = groups
	case size == 0 || size >= n:
		groups, size = 1, n
	default:
		groups = (n + size - 1) / size
	}
	x.levelOrigin = x.levelOrigin[:0]
	for g := range groups {
		if s.Split == mma.Interleaved {
			x.take(g, n, stride)
		} else {
			x.take(g*size, min(n, (g+1)*size), 1)
		}
		if s.Sort != mma.Unsorted {
			x.sorted(s.Sort)
		}
		t := x.sum(place, g, s)
		if s.Fixed {
			t.e = 0
		}
		x.terms[g] = t // no later group has the term that stood here
		if x.trace != nil && s.Deep && groups > 1 {
			x.levelOrigin = append(x.levelOrigin, x.result(s))
		}
	}
	x.terms = x.terms[:groups]
	switch {
	case x.trace == nil:
	case s.Deep && groups > 1: // not the last level
		x.origin = append(x.origin[:0], x.levelOrigin...)
	default:
		x.origin = x.origin[:0]
		for g := range groups {
			x.origin = append(x.origin, origin{FromGroup, g})
		}
	}
}

// take makes the terms first, first+stride, ... below last the members of a group.
func (x *machine) take(first, last, stride int) {
	if stride == 1 {
		x.member = x.terms[first:last]
	} else {
		x.dealt = x.dealt[:0]
		for i := first; i < last; i += stride {
			x.dealt = append(x.dealt, x.terms[i])
		}
		x.member = x.dealt
	}
	if x.trace == nil {
		return
	}
	x.memberOrigin = x.memberOrigin[:0]
	for i := first; i < last; i += stride {
		x.memberOrigin = append(x.memberOrigin, x.origin[i])
	}
}

// result is the origin of the sum of the group in x.member: the sum made last or, if there
// was nothing to add, the origin of its only term.
func (x *machine) result(s *mma.Stage) origin {
	if len(x.member) == 1 && s.Sum != mma.Fused {
		return x.memberOrigin[0]
	}
	return x.partial()
}

// sum adds the terms of one group, which stand in x.member.
func (x *machine) sum(place Place, g int, s *mma.Stage) term {
	c := &x.stage0
	if place == Stage1 {
		c = &x.stage1
	}
	switch s.Sum {
	case mma.Fused:
		return x.add(place, g, s, c, x.member, x.memberOrigin)
	case mma.Sequential:
		return x.sequential(place, g, s, c)
	}
	return x.pairwise(place, g, s, c)
}

// stageCut is how the sums of a stage are aligned.
func stageCut(s *mma.Stage) cut {
	return cut{Align: s.Align, acc: -1, rd: s.Round.Mode == fp.RD, plus: s.Plus}
}

// add is one fused sum and its rounding.
func (x *machine) add(place Place, g int, s *mma.Stage, c *cut, ts []term, from []origin) term {
	if x.trace != nil {
		x.trace.begin(place, g, from)
	}
	return x.rounded("round", x.fuse(ts, c), &s.Round)
}

func (x *machine) sequential(place Place, g int, s *mma.Stage, c *cut) term {
	t, what := x.member[0], x.firstOrigin()
	for i := 1; i < len(x.member); i++ {
		pair := [2]term{t, x.member[i]}
		var from []origin
		if x.trace != nil {
			from = []origin{what, x.memberOrigin[i]}
		}
		t = x.add(place, g, s, c, pair[:], from)
		what = x.partial()
	}
	return t
}

func (x *machine) firstOrigin() origin {
	if x.trace == nil {
		return origin{}
	}
	return x.memberOrigin[0]
}

// partial is the origin of the sum made last.
func (x *machine) partial() origin {
	if x.trace == nil {
		return origin{}
	}
	return origin{FromPartial, len(x.trace.Sums) - 1}
}

// pairwise adds neighbours, or opposite halves, until one term is left.
func (x *machine) pairwise(place Place, g int, s *mma.Stage, c *cut) term {
	for n := len(x.member); n > 1; n = (n + 1) / 2 {
		h := (n + 1) / 2
		for i := range h {
			l, r := 2*i, 2*i+1
			if s.Sum == mma.PairHalves {
				l, r = i, i+h
			}
			t := x.member[l]
			var from []origin
			if x.trace != nil {
				from = []origin{x.memberOrigin[l]}
			}
			if r < n {
				pair := [2]term{t, x.member[r]}
				if x.trace != nil {
					from = append(from, x.memberOrigin[r])
				}
				t = x.add(place, g, s, c, pair[:], from)
				if x.trace != nil {
					from = []origin{x.partial()}
				}
			}
			x.member[i] = t // i <= l: read already, also by halves since i < h <= r
			if x.trace != nil {
				x.memberOrigin[i] = from[0]
			}
		}
	}
	return x.member[0]
}
