package defect

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Sums are numbered as a model computes them, one accumulator after the other. In words they are named
// by what they add.

// sumName names a sum of a trace: "the sum that adds product 19 (step 14; the 3rd of accumulator 3)".
func sumName(tr *sim.Trace, n, lanes int) string {
	s := &tr.Sums[n]
	var products, accumulators []int
	hasC := false
	for i := range s.Terms {
		switch t := &s.Terms[i]; t.From {
		case sim.FromProduct:
			products = append(products, t.K)
		case sim.FromLane:
			accumulators = append(accumulators, t.K)
		case sim.FromC:
			hasC = true
		}
	}
	step := 0 // as pictures count them
	for i := range tr.Sums[:n] {
		if tr.Sums[i].Place >= sim.Join {
			step++
		}
	}
	place := fmt.Sprintf(" (step %d", step)
	if lanes > 1 && s.Lane < lanes && s.Place == sim.Join {
		nth := 1
		for i := range tr.Sums[:n] {
			if tr.Sums[i].Lane == s.Lane && tr.Sums[i].Exec == s.Exec {
				nth++
			}
		}
		place += fmt.Sprintf("; the %s of accumulator %d", readable.Ordinal(nth), s.Lane)
	}
	place += ")"
	switch {
	case products != nil:
		return "the sum that adds " + readable.Numbers("product", products) + place
	case hasC:
		return "the sum that adds c" + place
	case accumulators != nil:
		return "the sum of " + readable.Numbers("accumulator", accumulators) + place
	}
	return fmt.Sprintf("sum %d", n) + place
}

// ofSumNumber are the features that are the number of a sum.
var ofSumNumber = map[string]bool{"step": true, "t.sum": true, "t.sum.at": true}

// setSums gives the sums that a rule numbers their names, as a model has them in a dot product.
func (r *Rule) setSums(m *sim.Model, d *mma.Dot) {
	var tr sim.Trace
	m.Dot(d, &tr)
	p := m.Params()
	name := func(n int64) string {
		if n < 0 || n >= int64(len(tr.Sums)) {
			return ""
		}
		return sumName(&tr, int(n), int(p.Lanes))
	}
	for ; r != nil; r = r.Before {
		switch _, which := roundedSums(r.Effect.N); {
		case r.Effect.choosesSums() && which >= oneSum:
			r.Effect.Sum = name(which - oneSum)
		case r.Effect.choosesSums() && p.Lanes > 1:
			r.Effect.Sum = " accumulator by accumulator"
		}
		for i := range r.When {
			if c := &r.When[i]; ofSumNumber[c.Feature] && c.Is != HasBits {
				c.Sum = name(c.Value)
			}
		}
	}
}
