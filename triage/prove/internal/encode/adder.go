package encode

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// adder is what an adder makes of a sum of integers, in units of 2^s.q: Negate, then Bits, then
// Sticky of mma.Align. kept are the terms after their cut.
func (e *encoder) adder(ts []number, c *cut, s *number, sum *graph.Node, kept, dropped, aligned []*graph.Node, top *graph.Node) *graph.Node {
	last := int(top.Lo.Int64()) - c.unit() // the lowest place of the unit
	s.low = min(s.low, last)
	s.high = max(s.high, int(top.Hi.Int64())-c.unit()+8) + 1 // at most 255 units more
	if c.Align.Negate != mma.NegateExact {
		sum = e.negated(ts, c, sum, dropped)
	}
	if c.Align.Bits != 0 {
		sum = e.limited(sum, int(c.Align.Bits), c.Align.Saturate)
	}
	if c.Align.Sticky == mma.StickyOff {
		return sum
	}
	lost := e.Int(0)
	for i := range ts {
		f, _ := c.of(i)
		mag, place := e.cutAt(&ts[i], aligned[i], top, f)
		lost = e.Or(lost, e.And(e.Not(dropped[i]), e.Not(e.Eq(e.Low(mag, place), e.Int(0)))))
	}
	below := 0 // places that the sticky bit lies below the unit
	switch c.Align.Sticky {
	case mma.StickyBelow:
		below = 1
	case mma.StickyRound:
		below = c.keeps + 4
	}
	s.q, s.low, s.high = e.AddInt(s.q, -below), s.low-below, s.high+1
	return e.stuck(sum, lost, below, c.Align.Mode == fp.RD, c.Align.Sticky == mma.StickyRound)
}

// negated adds a unit to the magnitude of each term that is negated without the 1 of two's
// complement.
func (e *encoder) negated(ts []number, c *cut, sum *graph.Node, dropped []*graph.Node) *graph.Node {
	frame, none := e.Int(0), e.Int(1)
	if c.Align.NegatesRelative() {
		frame = ts[max(c.acc, 0)].neg
	}
	units := []*graph.Node{sum}
	for i := range ts {
		t := &ts[i]
		none = e.And(none, t.null)
		one := e.And(e.Xor(t.neg, frame), e.Not(dropped[i]))
		if !c.Align.NegatesNull() {
			one = e.And(one, e.Not(t.null))
		}
		units = append(units, e.Ite(t.neg, e.Neg(one), one))
	}
	return e.Ite(none, e.Int(0), e.Add(units...))
}

// within reports whether a sum always lies in the range -2^bits..2^bits-1. With a sticky bit it
// has no fewer bits than the sum that the adder limits.
func within(sum *graph.Node, bits int) bool {
	return sum != nil && sum.Hi.BitLen() <= bits && new(big.Int).Not(sum.Lo).BitLen() <= bits
}

// limited brings a sum into the range -2^bits..2^bits-1.
func (e *encoder) limited(sum *graph.Node, bits int, saturates bool) *graph.Node {
	size := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	least, most := e.Big(new(big.Int).Neg(size)), e.Big(new(big.Int).Sub(size, big.NewInt(1)))
	if saturates {
		return e.Max(e.Min(sum, most), least)
	}
	rest := e.Low(e.natural(e.Sub(sum, least), bits+1), e.Int(bits+1))
	return e.Add(rest, least)
}

// natural adds a multiple of 2^bits to a number, so that it is not negative.
func (e *encoder) natural(x *graph.Node, bits int) *graph.Node {
	if x.Lo.Sign() >= 0 {
		return x
	}
	times := new(big.Int).Rsh(new(big.Int).Neg(x.Lo), uint(bits))
	times.Add(times, big.NewInt(1))
	return e.Add(x, e.Big(times.Lsh(times, uint(bits))))
}

// stuck is a sum with its sticky bit, that many places below: in its magnitude or, if it is
// rounded down, in its two's complement. A sum that is zero has none unless zeros count.
func (e *encoder) stuck(sum, lost *graph.Node, below int, down, rounds bool) *graph.Node {
	bit := lost
	if !down || rounds {
		bit = e.And(lost, e.Not(e.Eq(sum, e.Int(0))))
	}
	with := func(x *graph.Node) *graph.Node {
		if below == 0 {
			return e.Add(x, e.And(bit, e.Not(e.Low(e.natural(x, 1), e.Int(1)))))
		}
		return e.Add(e.Left(x, below), bit)
	}
	if down {
		return with(sum)
	}
	magnitude := with(e.Abs(sum))
	return e.Ite(e.Less(sum, e.Int(0)), e.Neg(magnitude), magnitude)
}

// apart is a sum whose positive and negative terms are summed apart, and each of the two sums
// is rounded. s has what the special values of the terms give, minus the sign of an infinity.
func (e *encoder) apart(ts []number, c *cut, s number, kept, dropped []*graph.Node, top, minus *graph.Node) number {
	special := e.Or(s.inf, s.nan)
	var sides [2]number
	var exists [2]*graph.Node
	for n := range sides {
		var own []*graph.Node
		exists[n] = e.Int(0)
		for i := range ts {
			in := e.And(ts[i].neg, e.Not(dropped[i]))
			if n == 0 {
				in = e.Not(in)
			}
			own, exists[n] = append(own, e.Ite(in, kept[i], e.Int(0))), e.Or(exists[n], in)
		}
		side := number{neg: e.Int(n), mag: e.Add(own...), q: s.q, e: top, null: e.Int(0), inf: e.Int(0), nan: e.Int(0), over: e.Int(0), low: s.low, high: s.high}
		sides[n] = e.round(side, c.next)
		sides[n].inf = e.And(sides[n].inf, exists[n], e.Not(special))
	}
	plain := cut{acc: -1, next: c.next, keeps: c.keeps}
	none := []*graph.Node{e.Int(0), e.Int(0)}
	u, both := e.exactTerms(sides[:], &plain, top, none)
	sum := e.sum(sides[:], both)
	u.mag, u.e, u.null, u.over = e.Abs(sum), top, s.null, s.over
	plus, negative := sides[0].inf, sides[1].inf
	u.nan = e.Or(s.nan, e.And(plus, negative))
	u.inf = e.Or(s.inf, plus, negative)
	u.neg = e.Less(sum, e.Int(0))
	if e.Special.NegZero {
		pos, neg := e.Int(0), e.Int(0)
		for n := range sides {
			pos, neg = e.Or(pos, e.And(exists[n], e.Not(sides[n].neg))), e.Or(neg, e.And(exists[n], sides[n].neg))
		}
		u.neg = e.Ite(e.Eq(sum, e.Int(0)), e.zeroSign(pos, neg, c.next.Mode), u.neg)
	}
	u.neg = e.Ite(s.inf, minus, e.Ite(u.inf, negative, u.neg))
	return u
}
