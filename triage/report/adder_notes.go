package report

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// align returns the alignment of a sum.
func (v *view) align(s *sim.SumTrace) mma.Align {
	switch s.Place {
	case sim.Stage0:
		return v.p.Stage0.Align
	case sim.Stage1:
		return v.p.Stage1.Align
	case sim.Join:
		return v.p.Join.Align
	}
	return mma.Align{}
}

// adderNotes describe where the adder of a sum deviates from an addition of integers.
func (v *view) adderNotes(i int) []string {
	s := &v.sums[i]
	a, grid := v.align(s), lowestCut(s)
	if grid == nil {
		return nil
	}
	var notes []string
	if names := v.flipped(i, &a); len(names) > 0 {
		notes = append(notes, fmt.Sprintf("bits flipped without adding 1, so each magnitude is 2^%d too large: %s", *grid, strings.Join(joinNames(names), " ")))
	}
	if a.Bits != 0 {
		what := "wraps around"
		if a.Saturate {
			what = "saturates"
		}
		notes = append(notes, fmt.Sprintf("the sum %s at 2^%d", what, *grid+int32(a.Bits)))
	}
	if a.Sticky != mma.StickyOff && lostAny(s) {
		notes = append(notes, "sticky bit: "+stickyWords[a.Sticky])
	}
	return notes
}

var stickyWords = map[mma.Sticky]string{
	mma.StickyRound: "seen only by the next rounding", mma.StickyBelow: "below the last bit of the sum", mma.StickyLast: "in the last bit of the sum",
}

// flipped names the terms whose bits are flipped without adding 1.
func (v *view) flipped(i int, a *mma.Align) []string {
	if a.Negate == mma.NegateExact {
		return nil
	}
	s := &v.sums[i]
	frame := false
	if a.NegatesRelative() {
		frame = s.Terms[0].Value.Neg
		for j := range s.Terms {
			if t := &s.Terms[j]; s.Place == sim.Join && isAccumulator(t) {
				frame = t.Value.Neg
			}
		}
	}
	var names []string
	for j := range s.Terms {
		if t := &s.Terms[j]; (t.Kind == sim.Finite || t.Kind == sim.Null && a.NegatesNull()) && t.Value.Neg != frame && v.cutNote(s, t).kind != tooSmall {
			names = append(names, v.termName(i, j))
		}
	}
	return names
}

// lostAny reports whether a term of a sum has lost bits.
func lostAny(s *sim.SumTrace) bool {
	for j := range s.Terms {
		if t := &s.Terms[j]; t.IsCut && !t.Value.IsZero() && t.Value.Low() < t.Q {
			return true
		}
	}
	return false
}
