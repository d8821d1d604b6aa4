package defect

import (
	"math/bits"
	"slices"
)

// excluders tells of each instance of an agreeing case which of some conditions exclude it, as sets of
// the conditions' numbers: what two conditions leave, a third has to exclude whole, so that few
// conditions have to be looked at.
type excluders struct {
	atoms []*atom
	of    [][]uint64 // by instance
}

func (l *lesson) excluders(atoms []*atom, b *Budget) *excluders {
	words := (len(atoms) + 63) / 64
	x := &excluders{atoms: atoms, of: make([][]uint64, len(l.no))}
	all := make([]uint64, words*len(l.no))
	for i := range x.of {
		x.of[i] = all[i*words : (i+1)*words]
	}
	for n, a := range atoms {
		for w, met := range a.no {
			last := min(64, len(l.no)-w*64)
			for left := ^met & (1<<last - 1); left != 0; left &= left - 1 {
				x.of[w*64+bits.TrailingZeros64(left)][n/64] |= 1 << (n % 64)
			}
		}
	}
	b.add(len(atoms) * len(l.no) * ofValue)
	return x
}

// each calls f with those of the first n conditions, in their order, that exclude the instances of a
// set but for so many. buf is for use meanwhile.
func (x *excluders) each(no []uint64, n, spare int, b *Budget, buf *[]uint64, f func(*atom)) {
	words := (n + 63) / 64
	*buf = slices.Grow((*buf)[:0], words)[:words]
	left := *buf
	for w := range left {
		left[w] = ^uint64(0)
	}
	if n%64 != 0 {
		left[words-1] = 1<<(n%64) - 1
	}
	if spare == 0 {
		b.add(x.narrow(left, no) * ofWord)
	}
	for w, set := range left {
		b.add(bits.OnesCount64(set) * ofCombination)
		for ; set != 0; set &= set - 1 {
			f(x.atoms[w*64+bits.TrailingZeros64(set)])
		}
	}
}

// narrow keeps of a set of conditions those that exclude all instances of another set, and returns how
// many words it has looked at.
func (x *excluders) narrow(left, no []uint64) (work int) {
	for w, set := range no {
		for ; set != 0; set &= set - 1 {
			of, some := x.of[w*64+bits.TrailingZeros64(set)], uint64(0)
			for i := range left {
				left[i] &= of[i]
				some |= left[i]
			}
			if work += len(left); some == 0 {
				return work
			}
		}
	}
	return work
}
