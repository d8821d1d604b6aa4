package oracle

import (
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fused is a fused sum of terms and, unless it is nil, of an accumulator, which
// j may cut differently. next is the direction of the rounding that follows: it
// can decide the sign of a zero.
func (e *evaluator) fused(terms []term, acc *term, j *mma.Join, next fp.Mode) term {
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
		return term{null: true, neg: e.zeroSign(all, next)}
	}
	if j.CGrid && acc != nil {
		top = e.gridOf(*acc, j.Align.Floor)
	}
	cuts := append(e.space(len(all)), all...)
	for i := range terms {
		cut(&cuts[i], top, &j.Align)
	}
	if acc != nil {
		cutAccumulator(&cuts[len(terms)], top, j)
	}
	sum := total(cuts)
	if j.Apart {
		cuts = e.apart(cuts)
		if someSpecial(cuts) {
			return e.specialSum(cuts, false)
		}
		sum = total(cuts)
	}
	if j.Align.F != 0 {
		sum = newAdder(j, top, acc != nil).finish(sum, all, cuts)
	}
	sum.e = top
	if sum.isZero() {
		sum.neg = e.zeroSign(cuts, next)
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
	next := e.Join.Post
	if next == (mma.Round{}) {
		next = e.Acc
	}
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
			e.round(&sum, &next)
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
func total(terms []term) term {
	q := lowestBit(terms)
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
