package encode

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// cut is how the terms of a fused sum are aligned.
type cut struct {
	mma.Join     // of a sum without an accumulator, Align alone counts
	acc      int // index of the accumulator, -1: none
	next     mma.Round
	keeps    int // fraction bits that the roundings that follow keep at most; 0: none follows
}

// of is how term i is cut.
func (c *cut) of(i int) (f int, m fp.Mode) {
	f, m = int(c.Align.F), c.Align.Mode
	if i == c.acc {
		if c.CF != 0 {
			f = int(c.CF)
		}
		if c.CMode != 0 {
			m = c.CMode
		}
	}
	return f, m
}

// plain reports whether the sum is one of integers: nothing but the cut of the terms changes
// it.
func (c *cut) plain() bool {
	return c.Align.Sticky == mma.StickyOff && c.Align.Negate == mma.NegateExact && c.Align.Bits == 0
}

// fused is a fused sum. An adder that is large enough for every sum changes nothing.
func (e *encoder) fused(ts []number, c cut) number {
	if c.Align.Bits != 0 {
		large := c
		large.Align.Bits, large.Align.Saturate = 0, false
		if s, sum := e.fusedSum(ts, large); within(sum, int(c.Align.Bits)) {
			return s
		}
	}
	s, _ := e.fusedSum(ts, c)
	return s
}

// fusedSum is a fused sum, and its number of units: nil if there are sums of each sign.
func (e *encoder) fusedSum(ts []number, c cut) (number, *graph.Node) {
	aligned, top := e.top(ts, &c)
	dropped := make([]*graph.Node, len(ts))
	for i := range ts {
		dropped[i] = e.dropped(ts, &c, i, top)
	}
	var s number
	var kept []*graph.Node
	if c.Align.F == 0 {
		s, kept = e.exactTerms(ts, &c, top, dropped)
	} else {
		s, kept = e.cutTerms(ts, &c, aligned, top, dropped)
	}
	s.null, s.nan, s.over = e.Int(1), e.Int(0), e.Int(0)
	s.rel = e.summedError(ts, &c, aligned, dropped, top)
	plus, minus := e.Int(0), e.Int(0)
	var firstOver *graph.Node
	for i := range ts {
		t := &ts[i]
		s.null = e.And(s.null, t.null)
		s.nan = e.Or(s.nan, t.nan)
		inf := e.And(t.inf, e.Not(t.over))
		plus, minus = e.Or(plus, e.And(inf, e.Not(t.neg))), e.Or(minus, e.And(inf, t.neg))
	}
	s.nan = e.Or(s.nan, e.And(plus, minus))
	s.inf = e.Or(plus, minus)
	for i := len(ts) - 1; i >= 0; i-- { // the first product that is too large decides
		if t := &ts[i]; !t.over.Is(0) {
			if firstOver == nil {
				firstOver = t.neg
			}
			firstOver = e.Ite(t.over, t.neg, firstOver)
			s.inf = e.Or(s.inf, t.over)
		}
	}
	if firstOver != nil {
		minus = e.Or(minus, e.And(e.Not(plus), firstOver))
	}
	if c.Apart {
		return e.apart(ts, &c, s, kept, dropped, top, minus), nil
	}
	sum := e.sum(ts, kept)
	if c.Align.F != 0 && !c.plain() {
		sum = e.adder(ts, &c, &s, sum, kept, dropped, aligned, top)
	}
	s.mag, s.e = e.Abs(sum), top
	s.neg = e.Ite(s.inf, minus, e.sign(ts, &c, sum, kept, dropped))
	return s, sum
}

// sum adds magnitudes with the signs of terms.
func (e *encoder) sum(ts []number, kept []*graph.Node) *graph.Node {
	var signed []*graph.Node
	for i, k := range kept {
		signed = append(signed, e.Ite(ts[i].neg, e.Neg(k), k))
	}
	return e.Add(signed...)
}

// accumulator is an accumulator with the exponent and without the special values that
// mma.Join.CNorm and CLost take.
func (e *encoder) accumulator(acc number, others []number) number {
	if e.Join.CNorm {
		acc.e, acc.frac = e.exponent(acc), 0
	}
	if e.Join.CLost == 0 {
		return acc
	}
	lost := e.Or(acc.inf, acc.nan)
	large := e.Int(0) // some term has an exponent of CLost or more
	for i := range others {
		t := &others[i]
		lost = e.And(lost, e.Not(t.inf), e.Not(t.nan))
		large = e.Or(large, e.And(e.Not(t.null), e.Not(e.Less(t.e, e.Int(int(e.Join.CLost))))))
	}
	lost = e.And(lost, large)
	stays := e.Not(lost)
	acc.inf, acc.nan, acc.neg = e.And(acc.inf, stays), e.And(acc.nan, stays), e.And(acc.neg, stays)
	acc.mag, acc.null = e.Ite(lost, e.Int(0), acc.mag), e.Or(acc.null, lost)
	return acc
}

// top returns the exponent at which terms are aligned, the largest of the nominal exponents
// and of the floor unless mma.Join has it otherwise, and the exponents by term: a null term
// has the lowest that any term can have.
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
	largest := func(of []*graph.Node) *graph.Node {
		if c.Align.Floor != 0 && !e.floorIdle(ts, c) {
			of = append(of[:len(of):len(of)], e.Int(int(c.Align.Floor)))
		}
		return e.Max(of...)
	}
	switch {
	case c.acc < 0:
	case c.CGrid:
		acc := &ts[c.acc]
		return aligned, largest([]*graph.Node{e.Ite(acc.null, e.Int(int(e.d.Emin())), acc.e)})
	case c.CBeside && len(ts) > 1:
		none := e.Int(1)
		for i := range ts[:c.acc] {
			none = e.And(none, ts[i].null)
		}
		return aligned, e.Ite(none, largest(aligned), largest(aligned[:c.acc]))
	}
	return aligned, largest(aligned)
}

// floorIdle reports whether the floor changes no sum: every term is a multiple of
// 2^(Floor-f), f being the width at which it is cut, so that nothing is cut where the floor
// is the largest exponent, nor would be without it. Only the nominal exponent of the sum
// differs, and the rounding that follows replaces it.
func (e *encoder) floorIdle(ts []number, c *cut) bool {
	if c.keeps == 0 || c.Align.Drop != 0 || c.acc >= 0 && (c.CDrop != 0 || c.CBeside || c.CGrid) || !c.plain() {
		return false
	}
	for i := range ts {
		if f, _ := c.of(i); f != 0 && int(c.Align.Floor)-f > ts[i].low {
			return false
		}
	}
	return true
}

// dropped reports whether term i is too far below the largest for a shifter: it is +0.
func (e *encoder) dropped(ts []number, c *cut, i int, top *graph.Node) *graph.Node {
	most, t := int(c.Align.Drop), &ts[i]
	if i == c.acc && c.CDrop != 0 {
		most = int(c.CDrop)
	}
	if most == 0 || e.dropIdle(t, c, i, most) {
		return e.Int(0)
	}
	return e.And(e.Not(t.null), e.Less(t.e, e.AddInt(top, -most)))
}

// dropIdle reports whether a term that is dropped would be cut to zero, the sign of which
// does not show.
func (e *encoder) dropIdle(t *number, c *cut, i, most int) bool {
	f, mode := c.of(i)
	place, ok := e.Sub(t.e, t.q).Value()
	return ok && f != 0 && mode == fp.RZ && !e.Special.NegZero && c.plain() && most+1+int(place.Int64())-f >= t.mag.Bits()
}

// cutTerms returns terms cut at their alignment, in units of 2^(top-f) for the largest f.
func (e *encoder) cutTerms(ts []number, c *cut, aligned []*graph.Node, top *graph.Node, dropped []*graph.Node) (number, []*graph.Node) {
	unit := c.unit()
	s := number{q: e.AddInt(top, -unit), low: 1 << 20, high: -1 << 20}
	var all []*graph.Node
	for i := range ts {
		t := ts[i]
		f, mode := c.of(i)
		mag, place := e.cutAt(&t, aligned[i], top, f)
		kept := e.Ite(dropped[i], e.Int(0), e.rounded(mag, place, mode, t.neg))
		all = append(all, e.Left(kept, unit-f))
		s.low = min(s.low, t.low)
		s.high = max(s.high, t.high)
		if mode != fp.RZ {
			s.high = max(s.high, int(top.Hi.Int64())-f+1)
		}
	}
	s.high += bits.Len(uint(len(ts)))
	return s, all
}

// unit is how far below the largest exponent the last place of a sum lies.
func (c *cut) unit() int {
	if c.acc >= 0 {
		return max(int(c.Align.F), int(c.CF))
	}
	return int(c.Align.F)
}

// cutAt returns the magnitude of a term, and the place above its last bit at which f bits
// below the largest exponent end.
func (e *encoder) cutAt(t *number, aligned, top *graph.Node, f int) (mag, place *graph.Node) {
	mag, place = t.mag, e.AddInt(e.Add(e.Sub(top, aligned), e.Sub(t.e, t.q)), -f)
	if place.Lo.Sign() < 0 {
		left := int(-place.Lo.Int64())
		if left > widest {
			panic(&TooHard{"an alignment over more than 700 bits"})
		}
		mag, place = e.Left(mag, left), e.AddInt(place, left)
	}
	return mag, place
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

// exactTerms returns terms in the unit of their exact sum, or so that the rounding that
// follows cannot tell.
func (e *encoder) exactTerms(ts []number, c *cut, top *graph.Node, dropped []*graph.Node) (number, []*graph.Node) {
	s := number{low: 1 << 20, high: -1 << 20}
	kept := make([]*graph.Node, len(ts))
	var terms []int // those that are not 0
	ts = slices.Clone(ts)
	for i := range ts {
		t := &ts[i]
		s.low, s.high = min(s.low, t.low), max(s.high, t.high)
		if f, mode := c.of(i); f != 0 {
			t.mag = e.cutAlone(t, top, f, mode)
			s.high = max(s.high, int(top.Hi.Int64())-f+1)
		}
		t.mag = e.Ite(dropped[i], e.Int(0), t.mag)
		if kept[i] = e.Int(0); !t.mag.Is(0) {
			terms = append(terms, i)
		}
	}
	s.high += bits.Len(uint(len(ts)))
	if len(terms) == 0 {
		s.q, s.low, s.high = e.Int(0), 0, 0
		return s, kept
	}
	if len(terms) == 2 && c.keeps != 0 && !c.Apart {
		return e.twoTerms(s, ts, terms, kept, c.keeps)
	}
	unit := ts[terms[0]].q.Lo
	for _, i := range terms {
		if ts[i].q.Lo.Cmp(unit) < 0 {
			unit = ts[i].q.Lo
		}
	}
	if n := s.high - int(unit.Int64()); n > widest {
		panic(&TooHard{"an exact sum of more than 700 bits"})
	}
	s.q = e.Big(unit)
	for _, i := range terms {
		kept[i] = e.Shl(ts[i].mag, e.Sub(ts[i].q, s.q))
	}
	return s, kept
}

// cutAlone is the magnitude of a term that is cut at 2^(top-f) in an exact sum, in its own
// units.
func (e *encoder) cutAlone(t *number, top *graph.Node, f int, mode fp.Mode) *graph.Node {
	place := e.Max(e.AddInt(e.Sub(top, t.q), -f), e.Int(0))
	return e.Ite(t.null, e.Int(0), e.Shl(e.rounded(t.mag, place, mode, t.neg), place))
}

// twoTerms returns the two terms that are not 0. Of one whose last bit is far below that of
// the other, the bits that lie further below than any rounding to frac bits can see become one
// bit.
func (e *encoder) twoTerms(s number, ts []number, terms []int, kept []*graph.Node, frac int) (number, []*graph.Node) {
	x, y := &ts[terms[0]], &ts[terms[1]]
	below := max(x.mag.Bits(), y.mag.Bits()) + frac + 4
	least := x.q.Lo
	if y.q.Lo.Cmp(least) < 0 {
		least = y.q.Lo
	}
	at := func(t *number) *graph.Node { return e.Ite(e.Eq(t.mag, e.Int(0)), e.Big(least), t.q) }
	top := e.Max(at(x), at(y))
	for _, i := range terms {
		t := &ts[i]
		kept[i] = e.rounded(e.Left(t.mag, below), e.Sub(top, at(t)), fp.RTO, t.neg)
	}
	s.q = e.AddInt(top, -below)
	return s, kept
}

// sign returns the sign of a sum, of which kept are the terms after their cut.
func (e *encoder) sign(ts []number, c *cut, sum *graph.Node, kept, dropped []*graph.Node) *graph.Node {
	negative := e.Less(sum, e.Int(0))
	if !e.Special.NegZero {
		return negative
	}
	plus, minus, some := e.Int(0), e.Int(0), e.Int(0)
	for i := range ts {
		neg := e.And(ts[i].neg, e.Not(dropped[i]))
		plus, minus = e.Or(plus, e.Not(neg)), e.Or(minus, neg)
		left := kept[i]
		if e.Special.ZerosOnly {
			left = ts[i].mag
		}
		some = e.Or(some, e.Not(e.Eq(left, e.Int(0))))
	}
	zero := e.zeroSign(plus, minus, c.next.Mode)
	if !c.plain() || e.Special.ZerosOnly { // a sum of numbers of one sign may be zero
		down := e.Bool(c.next.Mode == fp.RD)
		zero = e.Ite(some, down, zero)
	}
	if zero.Is(0) {
		return negative
	}
	return e.Ite(e.Eq(sum, e.Int(0)), zero, negative)
}

// zeroSign is the sign of a zero sum of zeros, or of numbers of both signs.
func (e *encoder) zeroSign(plus, minus *graph.Node, next fp.Mode) *graph.Node {
	if next == fp.RD {
		return minus
	}
	return e.And(minus, e.Not(plus))
}
