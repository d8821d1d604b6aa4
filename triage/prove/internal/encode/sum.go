package encode

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// cut is how the terms of a fused sum are aligned.
type cut struct {
	mma.Align
	acc   int // index of the accumulator, -1: none
	cf    mma.Frac
	cmode fp.Mode
	drop  mma.Frac
	next  mma.Round // the rounding that follows
}

// of is how term i is cut.
func (c *cut) of(i int) (f int, m fp.Mode) {
	f, m = int(c.F), c.Mode
	if i == c.acc {
		if c.cf != 0 {
			f = int(c.cf)
		}
		if c.cmode != 0 {
			m = c.cmode
		}
	}
	return f, m
}

// fused is a fused sum.
func (e *encoder) fused(ts []number, c cut) number {
	aligned, top := e.top(ts, &c)
	dropped := e.Int(0)
	if c.acc >= 0 && c.drop != 0 && !e.dropIdle(&ts[c.acc], &c) {
		t := &ts[c.acc]
		dropped = e.And(e.Not(t.null), e.Less(t.e, e.AddInt(top, -int(c.drop))))
	}
	var s number
	var sum *graph.Node
	if c.F == 0 {
		s, sum = e.exactSum(ts, &c, dropped)
	} else {
		s, sum = e.cutSum(ts, &c, aligned, top, dropped)
	}
	s.mag, s.e = e.Abs(sum), top
	s.neg = e.sign(ts, &c, sum, dropped)
	s.null = e.Int(1)
	plus, minus := e.Int(0), e.Int(0)
	s.nan = e.Int(0)
	for i := range ts {
		t := &ts[i]
		s.null = e.And(s.null, t.null)
		s.nan = e.Or(s.nan, t.nan)
		plus, minus = e.Or(plus, e.And(t.inf, e.Not(t.neg))), e.Or(minus, e.And(t.inf, t.neg))
	}
	s.nan = e.Or(s.nan, e.And(plus, minus))
	s.inf = e.Or(plus, minus)
	s.neg = e.Ite(s.inf, minus, s.neg)
	return s
}

// top returns the largest of the nominal exponents and of the floor, and the exponents by
// term: a null term has the lowest that any term can have.
func (e *encoder) top(ts []number, c *cut) (aligned []*graph.Node, top *graph.Node) {
	least := ts[0].e.Hi
	for i := range ts {
		if !ts[i].null.Is(1) && ts[i].e.Lo.Cmp(least) < 0 {
			least = ts[i].e.Lo
		}
	}
	for i := range ts {
		aligned = append(aligned, e.Ite(ts[i].null, e.Big(least), ts[i].e))
	}
	all := aligned
	if c.Floor != 0 && !e.floorIdle(ts, c) {
		all = append(all[:len(all):len(all)], e.Int(int(c.Floor)))
	}
	return aligned, e.Max(all...)
}

// floorIdle reports whether the floor changes no sum: every term is a multiple of
// 2^(Floor-f), f being the width at which it is cut, so that nothing is cut where the floor
// is the largest exponent, nor would be without it. Only the nominal exponent of the sum
// differs, and the rounding that follows replaces it.
func (e *encoder) floorIdle(ts []number, c *cut) bool {
	if c.next.Frac == 0 || c.drop != 0 {
		return false
	}
	for i := range ts {
		if f, _ := c.of(i); f != 0 && int(c.Floor)-f > ts[i].low {
			return false
		}
	}
	return true
}

// dropIdle reports whether an accumulator that is dropped would be cut to zero, the sign of
// which does not show.
func (e *encoder) dropIdle(t *number, c *cut) bool {
	f, mode := c.of(c.acc)
	place, ok := e.Sub(t.e, t.q).Value()
	return ok && f != 0 && mode == fp.RZ && !e.Special.NegZero && int(c.drop)+1+int(place.Int64())-f >= t.mag.Bits()
}

// cutSum adds terms cut at their alignment, in units of 2^(top-f) for the largest f.
func (e *encoder) cutSum(ts []number, c *cut, aligned []*graph.Node, top, dropped *graph.Node) (number, *graph.Node) {
	unit := max(int(c.F), int(c.cf))
	s := number{q: e.AddInt(top, -unit), low: 1 << 20, high: -1 << 20}
	var terms []*graph.Node
	for i := range ts {
		t := ts[i]
		f, mode := c.of(i)
		// The place of the cut above the last bit of mag.
		place := e.AddInt(e.Add(e.Sub(top, aligned[i]), e.Sub(t.e, t.q)), -f)
		mag, left := t.mag, 0
		if place.Lo.Sign() < 0 {
			left = int(-place.Lo.Int64())
			mag, place = e.Left(mag, left), e.AddInt(place, left)
		}
		kept := e.rounded(mag, place, mode, t.neg)
		if i == c.acc {
			kept = e.Ite(dropped, e.Int(0), kept)
		}
		kept = e.Left(kept, unit-f)
		terms = append(terms, e.Ite(t.neg, e.Neg(kept), kept))
		s.low = min(s.low, t.low)
		s.high = max(s.high, t.high)
		if mode != fp.RZ {
			s.high = max(s.high, int(top.Hi.Int64())-f+1)
		}
	}
	s.high += bits.Len(uint(len(ts)))
	return s, e.Add(terms...)
}

// rounded is mag / 2^place as an integer by a mode.
func (e *encoder) rounded(mag, place *graph.Node, m fp.Mode, neg *graph.Node) *graph.Node {
	kept := e.Shr(mag, place)
	if m == fp.RZ {
		return kept
	}
	if m != fp.RNE && m != fp.RNA {
		lost := e.Not(e.Eq(e.Low(mag, place), e.Int(0)))
		return e.Add(kept, e.up(m, neg, e.Low(kept, e.Int(1)), e.Int(0), lost))
	}
	// A bit more on the right, so that there is a highest bit that is lost.
	double := e.Left(mag, 1)
	half := e.Low(e.Shr(double, place), e.Int(1))
	rest := e.Not(e.Eq(e.Low(double, place), e.Int(0)))
	return e.Add(kept, e.up(m, neg, e.Low(kept, e.Int(1)), half, rest))
}

// up reports whether a magnitude is rounded up, of which half says that the highest bit
// lost is set, and rest that any below it is.
func (e *encoder) up(m fp.Mode, neg, odd, half, rest *graph.Node) *graph.Node {
	lost := e.Or(half, rest)
	switch m {
	case fp.RNE:
		return e.And(half, e.Or(rest, odd))
	case fp.RNA:
		return half
	case fp.RD:
		return e.And(neg, lost)
	case fp.RU:
		return e.And(e.Not(neg), lost)
	case fp.RTO:
		return e.And(lost, e.Not(odd))
	}
	return e.Int(0)
}

// widest is the number of bits of an exact sum at most, in fixed point.
const widest = 700

// exactSum adds terms exactly, or so that the rounding that follows cannot tell.
func (e *encoder) exactSum(ts []number, c *cut, dropped *graph.Node) (number, *graph.Node) {
	s := number{low: 1 << 20, high: -1 << 20}
	var terms []number
	for i := range ts {
		t := ts[i]
		s.low, s.high = min(s.low, t.low), max(s.high, t.high)
		if i == c.acc {
			t.mag = e.Ite(dropped, e.Int(0), t.mag)
		}
		if !t.mag.Is(0) {
			terms = append(terms, t)
		}
	}
	s.high += bits.Len(uint(len(ts)))
	if len(terms) == 0 {
		s.q, s.low, s.high = e.Int(0), 0, 0
		return s, e.Int(0)
	}
	if len(terms) == 2 && c.next.Frac != 0 {
		return e.twoTerms(s, terms, int(c.next.Frac))
	}
	unit := terms[0].q.Lo
	for _, t := range terms {
		if t.q.Lo.Cmp(unit) < 0 {
			unit = t.q.Lo
		}
	}
	if n := s.high - int(unit.Int64()); n > widest {
		panic(&TooHard{"an exact sum of more than 700 bits"})
	}
	s.q = e.Big(unit)
	var sum []*graph.Node
	for _, t := range terms {
		m := e.Shl(t.mag, e.Sub(t.q, s.q))
		sum = append(sum, e.Ite(t.neg, e.Neg(m), m))
	}
	return s, e.Add(sum...)
}

// twoTerms adds two terms. Of one whose last bit is far below that of the other, the bits
// that lie further below than any rounding to frac bits can see become one bit.
func (e *encoder) twoTerms(s number, ts []number, frac int) (number, *graph.Node) {
	below := max(ts[0].mag.Bits(), ts[1].mag.Bits()) + frac + 4
	least := ts[0].q.Lo
	if ts[1].q.Lo.Cmp(least) < 0 {
		least = ts[1].q.Lo
	}
	at := make([]*graph.Node, 2)
	for i, t := range ts {
		at[i] = e.Ite(e.Eq(t.mag, e.Int(0)), e.Big(least), t.q)
	}
	top := e.Max(at...)
	var sum []*graph.Node
	for i, t := range ts {
		m := e.rounded(e.Left(t.mag, below), e.Sub(top, at[i]), fp.RTO, t.neg)
		sum = append(sum, e.Ite(t.neg, e.Neg(m), m))
	}
	s.q = e.AddInt(top, -below)
	return s, e.Add(sum...)
}

// sign returns the sign of a sum.
func (e *encoder) sign(ts []number, c *cut, sum, dropped *graph.Node) *graph.Node {
	negative := e.Less(sum, e.Int(0))
	if !e.Special.NegZero {
		return negative
	}
	plus, minus := e.Int(0), e.Int(0)
	for i := range ts {
		neg := ts[i].neg
		if i == c.acc {
			neg = e.And(neg, e.Not(dropped))
		}
		plus, minus = e.Or(plus, e.Not(neg)), e.Or(minus, neg)
	}
	zero := minus
	if c.next.Mode != fp.RD {
		zero = e.And(minus, e.Not(plus))
	}
	if zero.Is(0) {
		return negative
	}
	return e.Ite(e.Eq(sum, e.Int(0)), zero, negative)
}
