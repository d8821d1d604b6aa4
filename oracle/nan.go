package oracle

import (
	"cmp"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// nanOf is a NaN among the terms of a sum.
type nanOf struct {
	term
	acc bool // it is the accumulator
}

// nansOf returns the NaNs of a sum in its order; Inf*0 is one of them.
func (e *evaluator) nansOf(terms []term, hasAcc bool) []nanOf {
	nans := e.nans[:0]
	for i := range terms {
		if t := &terms[i]; t.kind == NotANumber {
			nans = append(nans, nanOf{*t, hasAcc && i == len(terms)-1})
		}
	}
	e.nans = nans
	return nans
}

// chooseNaN returns the one of a sum's NaNs that is the result.
func (e *evaluator) chooseNaN(nans []nanOf) term {
	acc := func(n nanOf) bool { return n.acc }
	signals := func(n nanOf) bool { return n.signals }
	invalid := func(n nanOf) bool { return n.invalid }
	switch e.Special.NaN {
	case mma.NaNSignal:
		prefer(nans, acc)
		prefer(nans, invalid)
		prefer(nans, signals)
	case mma.NaNMulAdd:
		nans = multiplyAddOrder(nans)
	case mma.NaNLarger:
		slices.SortStableFunc(nans, func(x, y nanOf) int { return e.compareNaN(x.term, y.term) })
	default:
		prefer(nans, func(n nanOf) bool { return !n.invalid })
	}
	t := nans[0].term
	t.direct = false
	return t
}

// compareNaN is the order of NaNLarger: operands before Inf*0, quiet before
// signalling, then by fraction in D's format, the largest first, then by sign.
func (e *evaluator) compareNaN(x, y term) int {
	fraction := func(t term) uint64 { return (t.payload | 1<<63) >> (64 - e.f.D.Get().FracBits) }
	return cmp.Or(order(x.invalid, y.invalid), order(x.signals, y.signals), cmp.Compare(fraction(y), fraction(x)), order(x.neg, y.neg))
}

// order puts false before true.
func order(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// multiplyAddOrder moves the last NaN that is a product, not yet rounded or summed, to the
// front if its first factor is a NaN; to the end if only the second is, or if it is Inf*0.
func multiplyAddOrder(nans []nanOf) []nanOf {
	for i := len(nans) - 1; i >= 0; i-- {
		if p := nans[i]; p.direct {
			rest := slices.Delete(slices.Clone(nans), i, i+1)
			if p.second || p.invalid {
				return append(rest, p)
			}
			return slices.Insert(rest, 0, p)
		}
	}
	return nans
}

// prefer puts the NaNs for which a predicate holds before the others.
func prefer(nans []nanOf, first func(nanOf) bool) {
	slices.SortStableFunc(nans, func(x, y nanOf) int { return order(first(y), first(x)) })
}
