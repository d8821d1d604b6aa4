package sim

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// merge adds the lanes, and c if it is one of the terms, in the order of mma.Merge.
func (x *machine) merge() term {
	x.terms, x.origin = x.terms[:0], x.origin[:0]
	for r, t := range x.lanes {
		x.term(t, origin{FromLane, r})
	}
	if x.p.Start != mma.StartC && !x.noC {
		x.leaf(x.p.Leaf, mma.LeafFirst, mma.LeafLast, &x.c, origin{Kind: FromC})
	}
	if x.p.Merge == 0 {
		for i := 1; i < len(x.terms); i++ {
			x.mergeInto(0, i)
		}
		return x.terms[0]
	}
	done := 0 // terms whose number has one of these bits have been added to others
	for _, d := range x.m.merge {
		for i := range x.terms {
			if i&(done|d) == 0 && i+d < len(x.terms) {
				x.mergeInto(i, i+d)
			}
		}
		done |= d
	}
	return x.terms[0]
}

// mergeInto replaces term i by its sum with term j.
func (x *machine) mergeInto(i, j int) {
	if x.trace == nil {
		x.terms[i] = x.addLate(&x.terms[i], &x.terms[j], origin{}, origin{}, &x.p.Late)
		return
	}
	x.terms[i] = x.addLate(&x.terms[i], &x.terms[j], x.origin[i], x.origin[j], &x.p.Late)
	x.origin[i] = x.partial()
}

// leaf makes t one of the terms that are being added: the first of them if at is first,
// the last if it is last, none otherwise.
func (x *machine) leaf(at, first, last mma.Leaf, t *term, what origin) {
	switch at {
	case mma.NoLeaf:
	case first:
		x.terms = slices.Insert(x.terms, 0, *t)
		if x.trace != nil {
			x.origin = slices.Insert(x.origin, 0, what)
		}
	case last:
		x.term(*t, what)
	}
}

// sorted puts the terms of a group in the order that a stage wants.
func (x *machine) sorted(s mma.Sort) {
	if s == mma.Unsorted {
		return
	}
	for i := range x.member { // insertion: groups are short, and this is stable
		for j := i; j > 0; j-- {
			c := compareMagnitude(&x.member[j-1], &x.member[j])
			if s == mma.Falling {
				c = -c
			}
			if c <= 0 {
				break
			}
			x.member[j-1], x.member[j] = x.member[j], x.member[j-1]
			if x.trace != nil {
				x.memberOrigin[j-1], x.memberOrigin[j] = x.memberOrigin[j], x.memberOrigin[j-1]
			}
		}
	}
}

// compareMagnitude returns -1, 0 or 1 as |t| is smaller than |u|, equal, or larger.
// Infinities and NaNs are larger than numbers and equal to each other.
func compareMagnitude(t, u *term) int {
	if t.kind >= Inf || u.kind >= Inf {
		return order(t.kind >= Inf, u.kind >= Inf)
	}
	if t.IsZero() || u.IsZero() {
		return order(!t.IsZero(), !u.IsZero())
	}
	if a, b := t.Exponent(), u.Exponent(); a != b {
		return order(a > b, b > a)
	}
	a, b := t.Shl(128-t.Len()), u.Shl(128-u.Len())
	if a.Hi != b.Hi {
		return order(a.Hi > b.Hi, b.Hi > a.Hi)
	}
	return order(a.Lo > b.Lo, b.Lo > a.Lo)
}

// order returns 1 if only the first holds, -1 if only the second does, else 0.
func order(first, second bool) int {
	switch {
	case first == second:
		return 0
	case first:
		return 1
	}
	return -1
}
