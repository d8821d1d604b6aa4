package report

import (
	"github.com/mmafuzz/mmafuzz/sim"
)

// choice says which sums of a view are drawn; only the results of the other sums are
// named.
type choice []bool

// maxComplete is the number of sums up to which a step, or a side that cannot be
// compared step by step, is drawn completely; sums in which nothing happens do
// not count.
const maxComplete = 3

// chooseBoth chooses the sums of two sides: those of the step in which the two
// first differ, where they have the same steps up to there, or else of the step
// of each in which most is lost; and those of the last step.
func chooseBoth(a, b *view, all bool) (choice, choice) {
	if all {
		return everything(a), everything(b)
	}
	i, found := firstDifference(a, b)
	if !found {
		return chooseOne(a, false), chooseOne(b, false)
	}
	sumA, sumB := a.costliest(i), b.costliest(i)
	if a.paired {
		sumA = firstDifferentSum(a, b, i)
		sumB = sumA
	}
	return a.choose(i, sumA), b.choose(i, sumB)
}

// chooseOne chooses the sums of one side: all in which something happens if they
// are few.
func chooseOne(v *view, all bool) choice {
	if all || len(v.steps) == 0 {
		return everything(v)
	}
	c := make(choice, len(v.sums))
	if n := v.chooseWithin(c, 0, len(v.sums)); 0 < n && n <= maxComplete {
		return c
	}
	sum := v.mostLost(0, len(v.sums))
	if v.trivial(sum) {
		sum = v.lastAdded()
	}
	return v.choose(v.stepOf[sum], sum)
}

// chooseWithin chooses the sums in [first, end) in which something happens, and
// returns their number.
func (v *view) chooseWithin(c choice, first, end int) int {
	n := 0
	for i := first; i < end; i++ {
		if !v.trivial(i) {
			c[i] = true
			n++
		}
	}
	return n
}

func everything(v *view) choice {
	c := make(choice, len(v.sums))
	for i := range c {
		c[i] = true
	}
	return c
}

// firstDifference returns the first step that gives two sides different
// results, if both have the same steps of the same products up to it.
func firstDifference(a, b *view) (int, bool) {
	for i := range min(len(a.steps), len(b.steps)) {
		if !sameStep(&a.steps[i], &b.steps[i]) {
			return 0, false
		}
		if !sameValue(a.stepResult(i), b.stepResult(i)) {
			return i, true
		}
	}
	return 0, false
}

func sameStep(x, y *step) bool {
	if x.exec != y.exec || x.late != y.late || len(x.products) != len(y.products) {
		return false
	}
	for i := range x.products {
		if x.products[i].K != y.products[i].K {
			return false
		}
	}
	return true
}

// firstDifferentSum returns the first sum of a step that gives two sides of the
// same structure different results.
func firstDifferentSum(a, b *view, step int) int {
	st := &a.steps[step]
	for i := st.first; i < st.end; i++ {
		if !sameValue(a.result(i), b.result(i)) {
			return i
		}
	}
	return st.end - 1
}

// choose chooses the sums of a step, sum among them in any case, and those of the last
// step if anything happens there.
func (v *view) choose(step, sum int) choice {
	c := make(choice, len(v.sums))
	v.chooseStep(c, step)
	v.chooseStep(c, len(v.steps)-1)
	c[sum] = true
	return c
}

// chooseStep chooses the sums of a step in which something happens; if these are
// many, the one in which most is lost, and the last, which the others lead to.
func (v *view) chooseStep(c choice, i int) {
	st := &v.steps[i]
	if v.chooseWithin(c, st.first, st.end) > maxComplete {
		clear(c[st.first:st.end])
		c[v.costliest(i)], c[st.end-1] = true, true
	}
}

// trivial reports whether a sum has at most one term that is not zero, which neither side
// changes; or whether it hands on an infinity or a NaN that another sum made.
func (v *view) trivial(i int) bool {
	s := &v.sums[i]
	n, special, handed := 0, 0, 0
	for j := range s.Terms {
		if s.Terms[j].Kind != sim.Null {
			n++
		}
		if v.keepsMore(i, j) {
			return false
		}
		if isFinite(&s.Terms[j]) {
			continue
		}
		special++
		if v.origin(i, j) >= 0 {
			handed++
		}
	}
	if special > 0 {
		return special == handed && special == 1
	}
	return n <= 1 && v.loss(i) == nothingLost
}

// keepsMore reports whether a product or c has a bit here that the other side drops.
func (v *view) keepsMore(sum, term int) bool {
	t := &v.sums[sum].Terms[term]
	there, comparable := v.there(sum, term)
	if _, ok := sourceOf(&v.sums[sum], t); !ok || !comparable || !isFinite(t) || t.Cut.IsZero() {
		return false
	}
	for w := t.Cut.Exponent(); w >= t.Cut.Low(); w-- {
		if bit(t.Cut, w) && !bit(there, w) {
			return true
		}
	}
	return false
}

// costliest returns the sum of a step in which most is lost.
func (v *view) costliest(step int) int {
	return v.mostLost(v.steps[step].first, v.steps[step].end)
}

// mostLost returns the first of the sums in [first, end) that loses most; if
// none loses anything, the last one that adds anything.
func (v *view) mostLost(first, end int) int {
	best, most := end-1, int32(nothingLost)
	for i := first; i < end; i++ {
		l := v.loss(i)
		if l > most || l == nothingLost && most == nothingLost && !v.trivial(i) {
			best, most = i, l
		}
	}
	return best
}

// lastAdded returns the last sum to which a product or c other than zero is added, or else the last.
func (v *view) lastAdded() int {
	for i := len(v.sums) - 1; i >= 0; i-- {
		s := &v.sums[i]
		for j := range s.Terms {
			if _, ok := sourceOf(s, &s.Terms[j]); ok && s.Terms[j].Kind != sim.Null {
				return i
			}
		}
	}
	return len(v.sums) - 1
}

const (
	nothingLost = -1 << 30
	allLost     = 1 << 30 // an infinity or a NaN arises
)

// loss returns the exponent of the largest error that a sum makes: in a term
// that it cuts or that was flushed before, or in a rounding.
func (v *view) loss(i int) int32 {
	s := &v.sums[i]
	if !isFinite(v.result(i)) {
		return allLost
	}
	most := int32(nothingLost)
	note := func(e int32, differ bool) {
		if differ {
			most = max(most, e)
		}
	}
	for j := range s.Terms {
		if t := &s.Terms[j]; t.From == sim.FromProduct && t.Kind == sim.Null {
			note(distance(exactProduct(v.in, v.p, t.K), t.Cut))
		} else {
			note(distance(v.exact(t), t.Cut))
		}
	}
	x := &s.Sum
	for j := range s.Rounds {
		note(distance(x.Value, s.Rounds[j].After.Value))
		x = &s.Rounds[j].After
	}
	return most
}
