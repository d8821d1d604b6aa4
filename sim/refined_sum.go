package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// refined reports whether the adder deviates from a sum of integers.
func (c *cut) refined() bool {
	return c.Sticky != mma.StickyOff || c.Negate != mma.NegateExact || c.Bits != 0
}

// refinedSum adds terms cut at their alignment, all in units of 2^q, as mma.Sticky,
// mma.Negate and mma.Align.Bits describe.
func (x *machine) refinedSum(ts []term, c *cut, e int32) term {
	q := e - int32(c.F)
	if c.acc >= 0 {
		q = e - int32(max(c.F, c.cf))
	}
	cuts := x.cutAll(ts, c, e)
	high, lost := q, false
	for i := range cuts {
		if cuts[i].kind == Finite && !cuts[i].IsZero() {
			high = max(high, cuts[i].Exponent())
		}
		lost = lost || ts[i].kind == Finite && !c.drops(&ts[i], i, e) && loses(&ts[i].Dyadic, &cuts[i].Dyadic)
	}
	w := &x.wide
	w.reset(high - q + 2 + int32(bits.Len(uint(len(ts)))))
	for i := range cuts {
		if d := cuts[i].Dyadic; cuts[i].kind == Finite && !d.IsZero() {
			if d.Q < q { // zeros below the grid
				d = d.Round(q, fp.RZ)
			}
			w.add(d, uint32(d.Q-q))
		}
		if c.flips(ts, i, e) {
			w.add(fp.Dyadic{Lo: 1, Neg: ts[i].Neg}, 0)
		}
	}
	if c.Bits != 0 {
		w.limit(uint(c.Bits), c.Saturate)
	}
	t := w.magnitude(q)
	if lost && (!t.IsZero() || c.Mode == fp.RD && c.Sticky != mma.StickyRound) {
		t.Dyadic = c.stick(t.Dyadic, q)
	}
	return t
}

// loses reports whether a cut took anything away.
func loses(x, y *fp.Dyadic) bool {
	return !x.IsZero() && (y.IsZero() || x.Low() < y.Q)
}

// flips reports whether term i is negated without adding 1.
func (c *cut) flips(ts []term, i int, e int32) bool {
	if c.Negate == mma.NegateExact || !c.NegatesNull() && ts[i].kind == Null || c.drops(&ts[i], i, e) {
		return false
	}
	return ts[i].Neg != (c.NegatesRelative() && ts[max(c.acc, 0)].Neg)
}

// someCut reports whether a term is not zero after its cut.
func (c *cut) someCut(ts []term, e int32) bool {
	for i := range ts {
		if ts[i].kind == Finite && !ts[i].IsZero() && !c.cutTerm(&ts[i], i, e).IsZero() {
			return true
		}
	}
	return false
}

// stick adds the sticky bit to a sum in units of 2^q.
func (c *cut) stick(d fp.Dyadic, q int32) fp.Dyadic {
	if d.IsZero() {
		d = fp.Dyadic{Q: q}
	}
	switch {
	case c.Sticky == mma.StickyOff:
		return d
	case c.Sticky == mma.StickyLast && d.Q == q:
		if d.Lo&1 != 0 {
			return d
		}
	case c.Sticky == mma.StickyBelow && d.Q == q:
		d = d.Shl(1)
	default: // below anything that a Round could keep
		d = d.Shl(max(0, 127-d.Len()))
	}
	if d.Neg && c.Mode == fp.RD {
		var borrow uint64
		d.Lo, borrow = bits.Sub64(d.Lo, 1, 0)
		d.Hi -= borrow
		return d
	}
	d.Lo |= 1
	return d
}

// limit makes the sum a number of n bits and a sign: its lower bits, or with saturate
// the nearest such number.
func (w *wide) limit(n uint, saturate bool) {
	i, bit := n/64, n%64
	if int(i) >= len(w.limb) {
		return
	}
	sign := uint64(int64(w.limb[len(w.limb)-1]) >> 63)
	fits := uint64(int64(w.limb[i])>>bit) == sign
	for _, l := range w.limb[i+1:] {
		fits = fits && l == sign
	}
	if fits {
		return
	}
	if saturate {
		for j := range w.limb {
			w.limb[j] = ^sign
		}
	} else {
		sign = uint64(int64(w.limb[i]<<(63-bit)) >> 63)
	}
	w.limb[i] = w.limb[i]&(1<<bit-1) | sign<<bit
	for j := range w.limb[i+1:] {
		w.limb[int(i)+1+j] = sign
	}
}
