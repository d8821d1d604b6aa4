package oracle

import (
	"math/big"

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
func newAdder(j mma.Join, top int, acc bool) adder {
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
			one := int64(1)
			if t.neg {
				one = -1
			}
			units.Add(units, big.NewInt(one))
		}
		lost = lost || !sameNumber(t, cuts[i])
	}
	units = a.limit(units)
	q := a.unit
	if lost && (units.Sign() != 0 || a.Mode == fp.RD && a.Sticky != mma.StickyRound) {
		units, q = a.stick(units, q)
	}
	return term{m: units, q: q, neg: units.Sign() < 0}
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
		return dropped(all[i], a.top, a.cDrop)
	}
	return dropped(all[i], a.top, a.Drop)
}

// count returns a number, which is a multiple of the grid, in units of the grid.
func (a adder) count(t term) *big.Int {
	units := new(big.Int)
	switch shift := t.q - a.unit; {
	case t.isZero():
	case shift >= 0:
		units.Lsh(t.m, uint(shift))
	default: // zeros below the grid
		units.Rsh(t.m, uint(-shift))
	}
	return units
}

// sameNumber reports whether two terms are the same number.
func sameNumber(x, y term) bool {
	if x.isZero() || y.isZero() {
		return x.isZero() == y.isZero()
	}
	q := min(x.q, y.q)
	return new(big.Int).Lsh(x.m, uint(x.q-q)).Cmp(new(big.Int).Lsh(y.m, uint(y.q-q))) == 0
}

// limit brings a sum into the range -2^Bits..2^Bits-1.
func (a adder) limit(units *big.Int) *big.Int {
	if a.Bits == 0 {
		return units
	}
	least := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(a.Bits)))
	most := new(big.Int).Not(least)
	switch {
	case units.Cmp(least) >= 0 && units.Cmp(most) <= 0:
		return units
	case a.Saturate && units.Sign() < 0:
		return least
	case a.Saturate:
		return most
	}
	modulus := new(big.Int).Lsh(big.NewInt(2), uint(a.Bits))
	rest := new(big.Int).Sub(units, least)
	return rest.Mod(rest, modulus).Add(rest, least)
}

// stick returns a sum with its sticky bit.
func (a adder) stick(units *big.Int, q int) (*big.Int, int) {
	magnitude, neg := units, false
	if a.Mode != fp.RD { // else the bit is that of two's complement
		magnitude, neg = new(big.Int).Abs(units), units.Sign() < 0
	}
	switch a.Sticky {
	case mma.StickyLast:
		magnitude = new(big.Int).SetBit(magnitude, 0, 1)
	case mma.StickyBelow, mma.StickyRound:
		low := uint(1)
		if a.Sticky == mma.StickyRound {
			low = 200 // more bits than a rounding keeps
		}
		magnitude = new(big.Int).Lsh(magnitude, low)
		magnitude.SetBit(magnitude, 0, 1)
		q -= int(low)
	}
	if neg {
		magnitude = new(big.Int).Neg(magnitude)
	}
	return magnitude, q
}
