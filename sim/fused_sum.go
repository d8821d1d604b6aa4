package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// cut describes how terms are aligned in a fused sum. E is the alignment exponent: see
// package mma.
type cut struct {
	mma.Align
	acc    int      // index of the accumulator among the terms, -1 if there is none
	cf     mma.Frac // this and the following: those of mma.Join
	cmode  fp.Mode
	cdrop  mma.Frac
	beside bool       // the accumulator does not count for E
	grid   bool       // E is the accumulator's exponent
	apart  *mma.Round // rounding of the sums of each sign; nil: they are not summed apart
	rd     bool       // the Round that follows has Mode RD, which decides the sign of a zero sum
	plus   bool       // a zero sum is +0
}

// fuse returns the fused sum of terms.
func (x *machine) fuse(ts []term, c *cut) term {
	if x.change != nil {
		x.sums++
	}
	// Most sums have none of these: the call is not made for them.
	for i := range ts {
		if ts[i].kind >= Inf {
			t, _ := x.specialSum(ts, c.acc)
			return t
		}
	}
	e, some := x.largest(ts, c)
	if x.change != nil {
		x.changeTerms(ts, c, e)
		if x.change.Terms != nil {
			x.changeTwo(ts, e)
		}
	}
	var s term
	switch {
	case !some:
		s = zeroTerm(false)
	case c.apart != nil:
		return x.apartSum(ts, c, e)
	case c.F == 0 && c.cf == 0 && c.cdrop == 0 && c.Drop == 0:
		s = x.exactSum(ts)
	case c.refined():
		s = x.refinedSum(ts, c, e)
	default:
		s = x.cutSum(ts, c, e)
	}
	broken := x.change != nil && x.change.Sum != nil && !s.IsZero()
	if broken {
		s.Dyadic = x.change.Sum(x.sums, s.Dyadic, e)
	}
	if some {
		s.kind, s.e = Finite, e
	}
	if s.IsZero() && !broken { // a broken one has the sign that the change gives it
		s.Neg = x.p.Special.NegZero && !c.plus && c.zeroSign(ts, e, x.p.Special.ZerosOnly)
		if c.Bits != 0 && c.someCut(ts, e) { // a cancellation, or the sum has wrapped around
			s.Neg = x.p.Special.NegZero && !c.plus && c.rd
		}
	}
	if x.change != nil && x.change.Zero != nil {
		if x.accNonZero = c.acc >= 0 && !ts[c.acc].IsZero(); x.accNonZero {
			if x.accMinus = ts[c.acc].Neg; s.IsZero() {
				s.Neg = x.change.Zero(x.sums, s.Neg, x.accMinus, true)
			}
		}
	}
	if x.trace != nil {
		x.trace.sum(ts, c, e, some, s)
	}
	return s
}

// changeTerms makes the terms of a sum those of a broken unit.
func (x *machine) changeTerms(ts []term, c *cut, e int32) {
	top := int32(-1 << 30) // of the leading bits
	for i := range ts {
		if (x.change.Shift != nil || x.change.Lost != nil) && ts[i].kind == Finite && !ts[i].IsZero() {
			top = max(top, ts[i].Exponent())
		}
	}
	for i := range ts {
		t := &ts[i]
		if t.kind != Finite || t.IsZero() {
			continue
		}
		if shift := x.change.Shift; shift != nil && t.e <= e {
			t.Q += e - t.e - shift(i == c.acc, e-t.e, top-t.Exponent())
		}
		if lost := x.change.Lost; lost != nil && lost(i == c.acc, top-t.Exponent()) {
			t.Dyadic = fp.Dyadic{Neg: t.Neg}
		}
		if x.change.Term != nil && !t.IsZero() {
			t.Dyadic = x.change.Term(x.sums, i, t.Dyadic, e)
		}
	}
}

// changeTwo makes the terms of a sum of two numbers those of a broken unit.
func (x *machine) changeTwo(ts []term, e int32) {
	var two [2]int
	n := 0
	for i := range ts {
		if ts[i].kind != Finite || ts[i].IsZero() {
			continue
		}
		if n == len(two) {
			return
		}
		two[n], n = i, n+1
	}
	if n == len(two) {
		a, b := &ts[two[0]], &ts[two[1]]
		a.Dyadic, b.Dyadic = x.change.Terms(x.sums, a.Dyadic, b.Dyadic, a.e, b.e, e)
	}
}

// largest returns E, and whether any term has a nominal exponent.
func (x *machine) largest(ts []term, c *cut) (int32, bool) {
	e, some := int32(-1<<30), false
	if c.acc >= 0 && (c.beside || c.grid) || x.unseen(c) {
		e, some = x.besides(ts, c)
	} else {
		for i := range ts {
			if ts[i].kind == Finite {
				e, some = max(e, ts[i].e), true
			}
		}
	}
	if c.Floor != 0 {
		e = max(e, int32(c.Floor))
	}
	return e, some
}

// unseen reports whether terms of a sum may not count for the largest exponent in a broken unit. In
// adders that are no sum of integers they all do.
func (x *machine) unseen(c *cut) bool {
	return x.change != nil && x.change.Unseen != nil && !c.refined()
}

// besides is largest where some terms do not count like the others: only if there are no others.
func (x *machine) besides(ts []term, c *cut) (int32, bool) {
	const none = int32(-1 << 30)
	e, aside, unseen := none, none, x.unseen(c)
	for i := range ts {
		switch {
		case ts[i].kind != Finite:
		case c.beside && i == c.acc || unseen && x.change.Unseen(x.sums, i):
			aside = max(aside, ts[i].e)
		default:
			e = max(e, ts[i].e)
		}
	}
	if e == none {
		e = aside
	}
	some := e != none
	if c.grid && c.acc >= 0 {
		if e = x.fd.Emin(); ts[c.acc].kind == Finite {
			e = ts[c.acc].e
		}
	}
	return e, some
}

// zeroSign is IEEE 754 section 6.3 for a sum that came out as zero. zerosOnly: a term that is not
// zero makes it a cancellation, although it was cut to nothing.
func (c *cut) zeroSign(ts []term, e int32, zerosOnly bool) bool {
	pos, neg := false, false
	for i := range ts {
		if zerosOnly && !ts[i].IsZero() {
			return c.rd
		}
		// A term that vanished in the alignment is a zero of its sign, one that was
		// dropped is +0, and one that did neither is half of a cancellation.
		if ts[i].Neg && !c.drops(&ts[i], i, e) {
			neg = true
		} else {
			pos = true
		}
	}
	if pos && neg {
		return c.rd
	}
	return neg
}

// drops reports whether term i is dropped.
func (c *cut) drops(t *term, i int, e int32) bool {
	most := c.Drop
	if i == c.acc && c.cdrop != 0 {
		most = c.cdrop
	}
	return most != 0 && t.kind == Finite && t.e < e-int32(most)
}

// specialSum returns the sum of terms if one of them is Inf or NaN, and reports whether one
// is. acc is the index of the accumulator, -1 for none.
func (x *machine) specialSum(ts []term, acc int) (term, bool) {
	var plus, minus, nan bool
	over := -1 // the first product that overflowed
	for i := range ts {
		switch ts[i].kind {
		case NaN, invalid:
			nan = true
		case Inf:
			switch {
			case ts[i].nan&ofOverflow != 0:
				if over < 0 {
					over = i
				}
			case ts[i].Neg:
				minus = true
			default:
				plus = true
			}
		}
	}
	var t term
	switch {
	case nan:
		t = x.nanSum(ts, acc)
	case plus && minus:
		t = term{kind: invalid}
	case plus || minus:
		t = infTerm(minus)
	case over >= 0:
		t = infTerm(ts[over].Neg)
	default:
		return t, false
	}
	if x.trace != nil {
		x.trace.special(ts, t)
	}
	return t, true
}

// of returns the position and mode at which term i is cut, and whether it is cut at all.
func (c *cut) of(i int, e int32) (q int32, m fp.Mode, ok bool) {
	f, m := c.F, c.Mode
	if i == c.acc {
		if c.cf != 0 {
			f = c.cf
		}
		if c.cmode != 0 {
			m = c.cmode
		}
	}
	return e - int32(f), m, f != 0
}

// cutTerm returns term i as it enters the sum.
func (c *cut) cutTerm(t *term, i int, e int32) fp.Dyadic {
	if c.drops(t, i, e) {
		return fp.Dyadic{}
	}
	if q, m, ok := c.of(i, e); ok {
		return t.Round(q, m)
	}
	return t.Dyadic
}

// cutSum adds terms cut at their alignment. If only the accumulator is cut, the other
// terms are exact and may span any range.
func (x *machine) cutSum(ts []term, c *cut, e int32) term {
	if c.F == 0 || c.beside || c.grid || x.unseen(c) { // terms may be far above E
		return x.exactSum(x.cutAll(ts, c, e))
	}
	q := e - int32(max(c.F, c.cf))
	var s acc128
	for i := range ts {
		if ts[i].kind != Finite || ts[i].IsZero() {
			continue
		}
		d := c.cutTerm(&ts[i], i, e)
		if !d.IsZero() {
			s.add(d, q)
		}
	}
	return s.term(q)
}

// apartSum adds the sums of the positive and of the negative terms, each of which is rounded.
func (x *machine) apartSum(ts []term, c *cut, e int32) term {
	cuts := x.cutAll(ts, c, e)
	var both [2]term
	sides := both[:0]
	for i := range 2 {
		x.side = x.side[:0]
		for j := range cuts {
			if cuts[j].Neg == (i == 1) {
				x.side = append(x.side, cuts[j])
			}
		}
		if len(x.side) > 0 {
			s := x.exactSum(x.side)
			s.Neg = i == 1
			sides = append(sides, x.round(s, c.apart))
		}
	}
	trace := x.trace
	x.trace = nil // its sum is that of ts
	s, special := x.specialSum(sides, -1)
	if x.trace = trace; !special {
		if s = x.exactSum(sides); s.IsZero() {
			all := cut{rd: c.rd}
			s.Neg = x.p.Special.NegZero && all.zeroSign(sides, e, false)
		}
		s.e = e
	}
	if x.trace != nil {
		x.trace.sum(ts, c, e, true, s)
	}
	return s
}

// cutAll returns the cut terms in scratch space.
func (x *machine) cutAll(ts []term, c *cut, e int32) []term {
	x.scratch = x.scratch[:0]
	for i := range ts {
		t := ts[i]
		if t.kind == Finite {
			t.Dyadic = c.cutTerm(&ts[i], i, e)
		}
		x.scratch = append(x.scratch, t)
	}
	return x.scratch
}

// exactSum adds terms exactly. A result of more than 127 bits comes back as its
// upper 127 bits and a sticky last bit, which no Round (at most 64 fraction
// bits) can tell from the exact sum.
func (x *machine) exactSum(ts []term) term {
	low, high := int32(1<<30), int32(-1<<30)
	n := 0
	for i := range ts {
		if ts[i].kind == Finite && !ts[i].IsZero() {
			low, high = min(low, ts[i].Q), max(high, ts[i].Exponent())
			n++
		}
	}
	if n == 0 {
		return term{}
	}
	if span := high - low + 1 + int32(bits.Len(uint(n))); span > 126 {
		return x.wide.sum(ts, low, span)
	}
	var s acc128
	for i := range ts {
		if ts[i].kind == Finite && !ts[i].IsZero() {
			s.add(ts[i].Dyadic, low)
		}
	}
	return s.term(low)
}

// acc128 is a two's complement 128-bit accumulator.
type acc128 struct{ hi, lo uint64 }

// add adds d, a multiple of 2^q, in units of 2^q.
func (s *acc128) add(d fp.Dyadic, q int32) {
	if d.Q > q {
		d = d.Shl(d.Q - q)
	} else if d.Q < q { // a multiple of 2^q with zeros below
		d = d.Round(q, fp.RZ)
	}
	var c uint64
	if d.Neg {
		s.lo, c = bits.Sub64(s.lo, d.Lo, 0)
		s.hi, _ = bits.Sub64(s.hi, d.Hi, c)
		return
	}
	s.lo, c = bits.Add64(s.lo, d.Lo, 0)
	s.hi, _ = bits.Add64(s.hi, d.Hi, c)
}

// term returns the sum in units of 2^q as sign and magnitude.
func (s acc128) term(q int32) term {
	d := fp.Dyadic{Hi: s.hi, Lo: s.lo, Q: q}
	if s.hi>>63 != 0 {
		var c uint64
		d.Neg = true
		d.Lo, c = bits.Sub64(0, s.lo, 0)
		d.Hi, _ = bits.Sub64(0, s.hi, c)
	}
	return term{Dyadic: d}
}
