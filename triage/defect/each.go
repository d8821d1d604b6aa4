package defect

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim"
)

// What may be wrong with any term of a sum, whether it is a product, c or the sum so far: an aligner
// and an adder make no difference between them.

// eachEffects are the effects on terms of any kind.
func (s *search) eachEffects() (all []Effect) {
	if s.f.B.IsOne() {
		return nil
	}
	for _, do := range []string{"lost", "half", "twice", "negate"} {
		all = append(all, Effect{On: OnEach, Do: do})
	}
	for n := int64(0); n <= lastAdderBit; n++ {
		all = append(all, Effect{On: OnEach, Do: "ones", N: n})
	}
	return all
}

// termsOf are the places of the finite terms of all sums, in the order of the scope of terms.
func (w *viewer) termsOf() (all []place) {
	for i := range w.tr.Sums {
		for j := range w.tr.Sums[i].Terms {
			if finite(&w.tr.Sums[i].Terms[j]) {
				all = append(all, place{i, j})
			}
		}
	}
	return all
}

// ofTerms are the features of each of them.
func (w *viewer) ofTerms(v *view) [][]int64 {
	v.terms = w.termsOf()
	all := make([][]int64, len(v.terms))
	tops := make([]int32, len(w.tr.Sums)) // of the leading bits of their terms
	for i := range tops {
		tops[i] = math.MinInt32
	}
	for _, at := range v.terms {
		tops[at.sum] = max(tops[at.sum], w.tr.Sums[at.sum].Terms[at.term].Value.Exponent())
	}
	for n, at := range v.terms {
		sum := &w.tr.Sums[at.sum]
		t := &sum.Terms[at.term]
		shift, cut := absent, absent
		if sum.HasE {
			if shift = int64(sum.E) - int64(t.E); t.IsCut {
				cut = truth(t.Value.Low() < t.Q)
			}
		}
		all[n] = []int64{truth(t.From != sim.FromProduct), int64(at.sum), int64(at.sum), truth(t.Value.Neg), int64(t.E), int64(t.Value.Exponent()), shift, cut, int64(tops[at.sum] - t.Value.Exponent())}
	}
	return all
}
