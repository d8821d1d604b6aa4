package oracle

import (
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fused is a fused sum of terms and, unless it is nil, of an accumulator, which
// j may cut differently. next is the rounding that follows: it can decide the sign of a zero,
// and the sum has the bits that matter to it.
func (e *evaluator) fused(terms []term, acc *term, j *mma.Join, next *mma.Round) term {
	all := terms
	if acc != nil {
		all = append(append(e.space(len(terms)+1), terms...), *acc)
	}
	if someSpecial(all) {
		return e.specialSum(all, acc != nil)
	}
	leading := all
	if _, some := maxExponent(terms, 0); j.CBeside && some {
		leading = terms
	}
	top, ok := maxExponent(leading, j.Align.Floor)
	if !ok {
		return term{null: true, neg: e.zeroSign(all, next.Mode)}
	}
	if j.CGrid && acc != nil {
		top = e.gridOf(*acc, j.Align.Floor)
	}
	cuts := all
	if j.Align.F != 0 || j.Align.Drop != 0 || j.CF != 0 || j.CDrop != 0 {
		cuts = append(e.space(len(all)), all...)
		for i := range terms {
			cut(&cuts[i], top, &j.Align)
		}
		if acc != nil {
			cutAccumulator(&cuts[len(terms)], top, j)
		}
	}
	if j.Apart {
		cuts = e.apart(cuts)
		if someSpecial(cuts) {
			return e.specialSum(cuts, false)
		}
	}
	var sum term
	if j.Align.F == 0 && next.Frac != 0 && next.Mode != fp.RS && !e.whole {
		sum = e.totalToRound(cuts, int(next.Frac))
	} else {
		sum = total(cuts)
	}
	if j.Align.F != 0 {
		sum = newAdder(j, top, acc != nil).finish(sum, all, cuts)
	}
	sum.e = top
	if sum.isZero() {
		if sum.neg = e.zeroSign(cuts, next.Mode); e.Special.ZerosOnly && slices.ContainsFunc(all, func(t term) bool { return !t.isZero() }) {
			sum.neg = next.Mode == fp.RD
		}
	}
	return sum
}

// exactJoin is the Join of a sum that nothing is cut in.
var exactJoin mma.Join

// gridOf is the exponent at which all terms are aligned with Join.CGrid.
func (e *evaluator) gridOf(acc term, floor mma.Exp) int {
	top, ok := maxExponent([]term{acc}, floor)
	switch emin := int(e.f.D.Get().Emin()); {
	case ok:
		return top
	case floor != 0:
		return max(emin, int(floor))
	default:
		return emin
	}
}

// apart returns the rounded sums of the positive and of the negative terms, if there are any.
func (e *evaluator) apart(terms []term) []term {
	var sides []term
	for _, neg := range []bool{false, true} {
		var side []term
		for _, t := range terms {
			if t.neg == neg {
				side = append(side, t)
			}
		}
		if side != nil {
			sum := total(side)
			sum.neg = neg
			e.round(&sum, e.next())
			sides = append(sides, sum)
		}
	}
	return sides
}

// specialSum decides a sum that has a NaN or an infinity among its terms, the last
// of which may be an accumulator.
func (e *evaluator) specialSum(terms []term, hasAcc bool) (sum term) {
	if nans := e.nansOf(terms, hasAcc); len(nans) > 0 {
		if e.rule.InvalidBesideNaN() && slices.ContainsFunc(nans, func(n nanOf) bool { return n.invalid }) {
			e.raised |= fp.FlagInvalid
		}
		return e.chooseNaN(nans)
	}
	infinities := e.space(len(terms))
	for i := range terms {
		if terms[i].kind == Infinite {
			infinities = append(infinities, terms[i])
		}
	}
	slices.SortStableFunc(infinities, func(x, y term) int { return order(x.over, y.over) })
	for _, t := range infinities {
		switch {
		case sum.kind == Finite:
			sum = term{kind: Infinite, neg: t.neg}
			if t.over {
				return sum
			}
		case t.over:
		case sum.neg != t.neg:
			return e.invalidOperation()
		}
	}
	return sum
}

// someSpecial reports whether there is an infinity or a NaN among terms.
func someSpecial(terms []term) bool {
	for i := range terms {
		if terms[i].kind != Finite {
			return true
		}
	}
	return false
}

// maxExponent is the exponent at which a fused sum is aligned; ok is false if
// all terms are null.
func maxExponent(terms []term, floor mma.Exp) (top int, ok bool) {
	top = math.MinInt
	for i := range terms {
		if t := &terms[i]; !t.null {
			top, ok = max(top, t.e), true
		}
	}
	if floor != 0 {
		top = max(top, int(floor))
	}
	return top, ok
}

// cut rounds a term to a multiple of 2^(top-a.F), and keeps the sign of a term that becomes
// 0; a term that a.Drop drops is +0.
func cut(t *term, top int, a *mma.Align) {
	switch {
	case dropped(t, top, a.Drop):
		*t = plusZero
	case a.F == 0 || t.isZero():
	default:
		t.toMultiple(top-int(a.F), a.Mode)
	}
}

// dropped reports whether a term is too far below the largest for a shifter.
func dropped(t *term, top int, most mma.Frac) bool {
	return most != 0 && !t.null && t.e < top-int(most)
}

// cutAccumulator is cut by the rules that Join has for the accumulator.
func cutAccumulator(acc *term, top int, j *mma.Join) {
	a := j.Align
	if j.CDrop != 0 {
		a.Drop = j.CDrop
	}
	if j.CF != 0 {
		a.F = j.CF
	}
	if j.CMode != 0 {
		a.Mode = j.CMode
	}
	cut(acc, top, &a)
}

// total is the exact sum of numbers.
func total(terms []term) term { return totalFrom(terms, lowestBit(terms)) }

// totalFrom is total in units of 2^q, of which all terms are multiples.
func totalFrom(terms []term, q int) term {
	var sum integer
	for i := range terms {
		if t := &terms[i]; !t.isZero() {
			sum = sum.plus(t.m.shifted(t.q - q))
		}
	}
	return term{m: sum, q: q, neg: sum.sign() < 0}
}

// lowestBit returns the least q of the terms that are not 0, and 0 if all are.
func lowestBit(terms []term) int {
	q := math.MaxInt
	for i := range terms {
		if t := &terms[i]; !t.isZero() {
			q = min(q, t.q)
		}
	}
	if q == math.MaxInt {
		return 0
	}
	return q
}

// window is the number of bits of numbers that are added without math/big: an integer that needs
// none has room for the carries, too.
const window = 112

// totalToRound is the exact sum of numbers or, where they lie too far apart for a window, another
// number that gives the same if it is rounded to some fraction bits in any direction: the
// sum rounded to odd, two or more bits longer (Boldo and Melquiond, IEEE TC 57(4), 2008).
func (e *evaluator) totalToRound(terms []term, frac int) term {
	low := lowestBit(terms)
	if !near(terms, low) {
		if unit := windowOf(terms); unit > low {
			if sum := e.oddTotal(terms, unit); sum.bitLen() > frac+2 {
				return term{m: sum, q: unit, neg: sum.sign() < 0}
			}
		}
	}
	return totalFrom(terms, low)
}

// near reports whether all terms certainly lie in a window that begins at 2^low.
func near(terms []term, low int) bool {
	for i := range terms {
		if t := &terms[i]; !t.isZero() && (t.q-low > window-64 || !t.m.oneWord()) {
			return false
		}
	}
	return true
}

// windowOf returns the exponent of the unit of a window that begins at the highest bit of the
// terms; that of no window if all are 0.
func windowOf(terms []term) (unit int) {
	unit = math.MinInt
	for i := range terms {
		if t := &terms[i]; !t.isZero() {
			unit = max(unit, t.log2()+1-window)
		}
	}
	return unit
}

// oddTotal is the sum of numbers in units of 2^unit, or of its two neighbours the odd one.
func (e *evaluator) oddTotal(terms []term, unit int) (sum integer) {
	rests := e.space(len(terms))
	for i := range terms {
		t := &terms[i]
		if t.q >= unit || t.isZero() {
			sum = sum.plus(t.m.shifted(max(t.q-unit, 0)))
			continue
		}
		units, _, _ := t.m.abs().floor(unit - t.q)
		if t.neg {
			units = units.neg()
		}
		sum = sum.plus(units)
		if rest := t.m.plus(units.shifted(unit - t.q).neg()); !rest.isZero() {
			rests = append(rests, term{neg: t.neg, m: rest, q: t.q})
		}
	}
	if len(rests) > 0 {
		low := windowOf(rests) // by at least a window below unit
		units, _, exact := e.oddTotal(rests, low).floor(unit - low)
		if sum = sum.plus(units); !exact {
			sum = sum.withLast()
		}
	}
	return sum
}

// zeroSign returns the sign of a sum that is zero: that of IEEE 754-2019 section 6.3 with
// Special.NegZero, plus without.
func (e *evaluator) zeroSign(terms []term, next fp.Mode) (neg bool) {
	if !e.Special.NegZero {
		return false
	}
	for _, t := range terms {
		if !t.isZero() || t.neg != terms[0].neg {
			return next == fp.RD
		}
	}
	return terms[0].neg
}
