package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A sum that is wrong changes what the sums after it are about: a condition on one of these is one on
// what the broken unit has there, not on what the right one has.

// ofRunningSum are the features of a product that are about the sum to which it is added.
var ofRunningSum = []string{"acc.neg", "acc.zero", "acc.p", "acc.exp", "p-acc", "p.top-acc"}

// runs reports whether what meets the conditions of a rule depends on what met them before.
func (w *viewer) runs(h *hypothesis) bool {
	e := &h.p.effect
	switch {
	case len(h.rule.When) == 0:
		return false
	case e.scope() == OfSum:
		return true
	case e.scope() != OfProduct || h.rule.Scope != OfProduct || !e.onInputs() && e.On != OnExact:
		return false
	}
	p := w.m.Params()
	return p.L == 1 && p.Order == mma.Ascending && p.Lanes <= 1 &&
		slices.ContainsFunc(h.rule.When, func(c Condition) bool { return slices.Contains(ofRunningSum, c.Feature) })
}

// inOrder returns the sums or products that meet the conditions of a rule, of which one is the first:
// the ones after it are looked at as the broken ones before leave them.
func (w *viewer) inOrder(h *hypothesis, v *view, first int) []int {
	met := []int{first}
	for n := len(v.of[h.rule.Scope]); met[len(met)-1] < n-1; {
		last := met[len(met)-1]
		again := w.meeting(&h.rule, w.after(h, v, met))
		i := slices.IndexFunc(again, func(i int) bool { return i > last })
		if i < 0 {
			break
		}
		met = append(met, again[i])
	}
	return met
}

// after is a case as sums or products of some numbers leave it, if they are broken.
func (w *viewer) after(h *hypothesis, v *view, met []int) *view {
	some := false
	w.budget.dots(ofTrace, len(v.dot.A))
	after := &view{dot: v.dot, right: v.right, whole: v.whole, of: map[Scope][][]int64{OfCase: v.of[OfCase]}}
	switch e := &h.p.effect; {
	case e.scope() == OfSum:
		change := h.p.adderChange(v, met, &some) // which may look at the trace of the right computation
		w.tr.Reset()
		w.m.TraceChanged(v.dot, change, &w.tr)
		after.of[OfSum] = w.ofSums(v)
	case e.On == OnExact:
		w.tr.Reset()
		w.m.TraceChanged(v.dot, h.p.exactChange(v.dot, met, &some), &w.tr)
		after.of[OfProduct] = w.ofProducts(v)
	default:
		d, _ := h.p.changed(v, met)
		w.tr.Reset()
		w.m.Dot(d, &w.tr)
		after.of[OfProduct] = w.ofProducts(v)
	}
	return after
}
