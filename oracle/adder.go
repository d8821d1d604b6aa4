package oracle

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// adder is what a fused sum does beside adding exactly: mma.Negate, then mma.Align.Bits,
// then mma.Sticky.
type adder struct {
	mma.Align
	unit  int      // the grid is 2^unit
	acc   bool     // the last term is an accumulator
	cDrop mma.Frac // mma.Join.CDrop
	top   int      // alignment exponent
}

// newAdder returns the adder of a sum that is aligned at the exponent top.
func newAdder(j *mma.Join, top int, acc bool) adder {
	f := j.Align.F
	if acc {
		f = max(f, j.CF)
	}
	return adder{j.Align, top - int(f), acc, j.CDrop, top}
}

// finish applies Negate, Bits and Sticky to sum, the exact sum of cuts, which are the terms
// after their cut; all are the terms before it.
func (a adder) finish(sum term, all, cuts []term) term {
	if a.Sticky == mma.StickyOff && a.Negate == mma.NegateExact && a.Bits == 0 {
		return sum
	}
	units := a.count(sum)
	frame := a.NegatesRelative() && all[a.first(all)].neg
	lost := false
	for i, t := range all {
		if a.dropped(i, all) {
			continue
		}
		if a.Negate != mma.NegateExact && t.neg != frame && (!t.null || a.NegatesNull()) {
			one := newInteger(1)
			if t.neg {
				one = newInteger(-1)
			}
			units = units.plus(one)
		}
		lost = lost || !sameNumber(t, cuts[i])
	}
	units = a.limit(units)
	q := a.unit
	if lost && (units.sign() != 0 || a.Mode == fp.RD && a.Sticky != mma.StickyRound) {
		units, q = a.stick(units, q)
	}
	return term{m: units, q: q, neg: units.sign() < 0}
}

// first returns the index of the term whose sign is the frame of the others.
func (a adder) first(all []term) int {
	if a.acc {
		return len(all) - 1
	}
	return 0
}

// dropped reports whether term i is dropped.
func (a adder) dropped(i int, all []term) bool {
	if a.acc && i == len(all)-1 && a.cDrop != 0 {
		return dropped(&all[i], a.top, a.cDrop)
	}
	return dropped(&all[i], a.top, a.Drop)
}

// count returns a number, which is a multiple of the grid, in units of the grid.
func (a adder) count(t term) integer {
	if shift := t.q - a.unit; shift >= 0 {
		return t.m.shifted(shift)
	}
	units, _, _ := t.m.floor(a.unit - t.q) // zeros below the grid
	return units
}

// sameNumber reports whether two terms are the same number.
func sameNumber(x, y term) bool {
	if x.isZero() || y.isZero() {
		return x.isZero() == y.isZero()
	}
	q := min(x.q, y.q)
	return x.m.shifted(x.q-q).cmp(y.m.shifted(y.q-q)) == 0
}

// limit brings a sum into the range -2^Bits..2^Bits-1.
func (a adder) limit(units integer) integer {
	if a.Bits == 0 {
		return units
	}
	size := newInteger(1).shifted(int(a.Bits))
	least, most := size.neg(), size.plus(newInteger(-1))
	switch {
	case units.cmp(least) >= 0 && units.cmp(most) <= 0:
		return units
	case a.Saturate && units.sign() < 0:
		return least
	case a.Saturate:
		return most
	}
	times, _, _ := units.plus(size).floor(int(a.Bits) + 1) // how often it has wrapped around
	return units.plus(times.shifted(int(a.Bits) + 1).neg())
}

// stick returns a sum with its sticky bit.
func (a adder) stick(units integer, q int) (integer, int) {
	magnitude, neg := units, false
	if a.Mode != fp.RD { // else the bit is that of two's complement
		magnitude, neg = units.abs(), units.sign() < 0
	}
	switch a.Sticky {
	case mma.StickyLast:
		magnitude = magnitude.withLast()
	case mma.StickyBelow, mma.StickyRound:
		low := 1
		if a.Sticky == mma.StickyRound {
			low = 200 // more bits than a rounding keeps
		}
		magnitude = magnitude.shifted(low).withLast()
		q -= low
	}
	if neg {
		magnitude = magnitude.neg()
	}
	return magnitude, q
}
