package infer

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A search is guided by the number of cases that a change explains. Where a hypothesis
// fails on a few cases only, there is no guide: a single case does not distinguish a
// change that comes close from one that does not. So the unit is asked about inputs near
// these cases, which show what matters in them.

// The sizes of a close-up.
const (
	closeUpMost = 25 // a hypothesis is close if it fails on at most one case in closeUpMost
	closeUps    = 4  // for each search
	parentsMost = 10 // cases whose neighbours are asked about
	neighbours  = 40 // of each
	waves       = 3  // rounds of asking; half of the next one's parents are the smallest failing cases so far
	nearKept    = 48 // failing cases, and others, that become evidence
)

// near is a case of a close-up.
type near struct {
	dot   *mma.Dot
	want  uint64
	terms int
}

// closeUp asks about the neighbours of the cases on which the hypothesis fails, and
// keeps some on which it fails and some on which it does not. It returns how many of the
// first kind it keeps.
func (l *loop) closeUp(ctx context.Context) (int, error) {
	r := l.rand()
	var wrong, right []near
	parents := l.failing()
	for range waves {
		var dots []*mma.Dot
		for _, d := range parents {
			for range neighbours {
				dots = append(dots, l.neighbour(r, d))
			}
		}
		kept, want, err := l.unit.ask(ctx, dots)
		if err != nil {
			return 0, err
		}
		for i, ok := range l.Hits(&l.p, l.Pack(kept, want)) {
			n := near{kept[i], want[i], terms(kept[i])}
			if ok {
				right = append(right, n)
			} else {
				wrong = append(wrong, n)
			}
		}
		slices.SortStableFunc(wrong, func(x, y near) int { return x.terms - y.terms })
		parents = slices.Clone(parents[:min(len(parents), parentsMost/2)])
		for _, n := range wrong[:min(len(wrong), parentsMost/2)] {
			parents = append(parents, n.dot)
		}
	}
	r.Shuffle(len(right), func(i, j int) { right[i], right[j] = right[j], right[i] })
	spread := slices.Clone(wrong[min(len(wrong), nearKept/2):])
	r.Shuffle(len(spread), func(i, j int) { spread[i], spread[j] = spread[j], spread[i] })
	wrong = append(wrong[:min(len(wrong), nearKept/2)], spread[:min(len(spread), nearKept/2)]...)
	l.trace("close-up of %d cases: %d more, the smallest of %d terms", l.left, len(wrong), terms(parents[len(parents)-1]))
	return len(wrong), l.keepNear(ctx, append(slices.Clone(wrong), right[:min(len(right), nearKept)]...))
}

// keepNear makes cases evidence, if the unit confirms its answers.
func (l *loop) keepNear(ctx context.Context, all []near) error {
	var dots []*mma.Dot
	var want []uint64
	for _, n := range all {
		dots, want = append(dots, n.dot), append(want, n.want)
	}
	if len(dots) == 0 {
		return nil
	}
	if err := l.unit.repeat(ctx, dots, want); err != nil {
		return err
	}
	l.Add(closeUpName, dots, want)
	return nil
}

// failing returns at most parentsMost cases on which the hypothesis fails: half of them
// those with the fewest terms, the others of all sizes.
func (l *loop) failing() []*mma.Dot {
	var dots []*mma.Dot
	hits := l.Hits(&l.p, l.All())
	n := 0
	for _, s := range l.Families {
		for _, d := range s.Dots {
			if !hits[n] {
				dots = append(dots, d)
			}
			n++
		}
	}
	slices.SortStableFunc(dots, func(x, y *mma.Dot) int { return cmp.Compare(terms(x), terms(y)) })
	// The smallest, and some of all sizes.
	const smallest = parentsMost / 2
	if rest := len(dots) - smallest; rest > parentsMost-smallest {
		for i := smallest; i < parentsMost; i++ {
			dots[i] = dots[smallest+(i-smallest)*rest/(parentsMost-smallest)]
		}
	}
	return dots[:min(len(dots), parentsMost)]
}

// terms counts the terms of a dot product that are not zero.
func terms(d *mma.Dot) int {
	n := 0
	for k := range d.A {
		if d.A[k] != 0 && d.B[k] != 0 {
			n++
		}
	}
	if d.C != 0 {
		n++
	}
	return n
}

// neighbour returns a neighbour of a dot product: up to three small changes.
func (l *loop) neighbour(r *rand.Rand, d *mma.Dot) *mma.Dot {
	v := d.Clone()
	for range 1 + r.IntN(3) {
		k := r.IntN(l.K)
		for range 4 { // rather one that is not zero
			if v.A[k]|v.B[k] != 0 {
				break
			}
			k = r.IntN(l.K)
		}
		switch r.IntN(10) {
		case 0:
			v.A[k], v.B[k] = 0, 0
		case 1: // half of them
			for i := range v.A {
				if r.IntN(2) == 0 {
					v.A[i], v.B[i] = 0, 0
				}
			}
		case 2:
			v.C = 0
		case 3:
			j := r.IntN(l.K)
			v.A[k], v.B[k], v.A[j], v.B[j] = v.A[j], v.B[j], v.A[k], v.B[k]
		case 4:
			v.A[k] ^= l.A.Get().SignBit()
		case 5:
			l.nudge(r, v, k)
		case 6, 7:
			v.A[k] = nudged(r, l.A.Get(), v.A[k])
		default:
			v.B[k] = nudged(r, l.B.Get(), v.B[k])
		}
	}
	return v
}

// nudge changes c a little, or the scales of product k.
func (l *loop) nudge(r *rand.Rand, d *mma.Dot, k int) {
	switch {
	case l.Scale != fp.None && r.IntN(2) == 0:
		s := d.SA
		if r.IntN(2) == 0 {
			s = d.SB
		}
		s[k/int(l.Block)] = nudged(r, l.Scale.Get(), s[k/int(l.Block)])
	case l.C != fp.None:
		d.C = nudged(r, l.C.Get(), d.C)
	}
}

// nudged returns a code with another fraction bit, another exponent, or another sign.
func nudged(r *rand.Rand, f *fp.Format, code uint64) uint64 {
	unit := uint64(1) << f.Low
	exp := unit << f.FracBits
	most := exp<<f.ExpBits - 1 // without the sign
	switch step := exp * uint64(1+r.IntN(3)); r.IntN(6) {
	case 0:
		return code ^ f.SignBit()
	case 1, 2:
		if code&most+step <= most {
			return code + step
		}
	case 3:
		if code&most >= step {
			return code - step
		}
	}
	if f.FracBits == 0 {
		return code
	}
	return code ^ unit<<r.IntN(int(f.FracBits))
}
