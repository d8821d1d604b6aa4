package report

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// view is a side's trace taken apart into steps.
type view struct {
	in       *Input
	side     *Side
	p        *mma.Params
	sums     []sim.SumTrace
	steps    []step
	stepOf   []int                     // of each sum
	products map[int]*sim.ProductTrace // by index of the elements
	enters   map[source]*sim.TermTrace // products and c as they enter their first sum

	other  *view // nil: none
	paired bool  // the other has the same sums of the same terms
}

// step is the sums up to one that takes in an accumulator: a step of the
// program, or one of the additions after the last step.
type step struct {
	first, end int // sums
	exec, lane int
	late       bool
	products   []sim.ProductTrace
}

// source is an operand that both sides have, whatever their structure.
type source struct {
	from sim.From
	k    int
}

func newView(in *Input, s *Side) *view {
	v := &view{in: in, side: s, p: s.Params, products: map[int]*sim.ProductTrace{}, enters: map[source]*sim.TermTrace{}}
	if v.p == nil {
		v.p = &mma.Params{}
	}
	if s.Trace == nil {
		return v
	}
	v.sums = s.Trace.Sums
	for i := range s.Trace.Products {
		v.products[s.Trace.Products[i].K] = &s.Trace.Products[i]
	}
	v.takeSteps()
	v.takeTerms()
	return v
}

func (v *view) takeSteps() {
	first, formed := 0, 0
	for i := range v.sums {
		s := &v.sums[i]
		v.stepOf = append(v.stepOf, len(v.steps))
		if s.Place < sim.Join {
			continue
		}
		st := step{first: first, end: i + 1, exec: s.Exec, lane: s.Lane, late: s.Place == sim.Late}
		if !st.late {
			st.products = v.side.Trace.Products[formed:s.Formed]
			formed = s.Formed
		}
		v.steps = append(v.steps, st)
		first = i + 1
	}
}

func (v *view) takeTerms() {
	for i := range v.sums {
		for j := range v.sums[i].Terms {
			t := &v.sums[i].Terms[j]
			src, ok := sourceOf(&v.sums[i], t)
			if _, seen := v.enters[src]; ok && !seen {
				v.enters[src] = t
			}
		}
	}
}

func sourceOf(s *sim.SumTrace, t *sim.TermTrace) (source, bool) {
	switch {
	case t.From == sim.FromProduct:
		return source{t.From, t.K}, true
	case t.From == sim.FromC && s.Exec == 0:
		return source{sim.FromC, 0}, true
	}
	return source{}, false
}

// result returns what a sum's roundings leave.
func (v *view) result(sum int) *sim.TermTrace {
	s := &v.sums[sum]
	if n := len(s.Rounds); n > 0 {
		return &s.Rounds[n-1].After
	}
	return &s.Sum
}

// stepResult returns the accumulator that a step leaves.
func (v *view) stepResult(i int) *sim.TermTrace { return v.result(v.steps[i].end - 1) }

// origin returns the sum whose result a term is, or -1.
func (v *view) origin(sum, term int) int {
	s := &v.sums[sum]
	t := &s.Terms[term]
	at := v.stepOf[sum]
	switch t.From {
	case sim.FromPartial:
		return t.K
	case sim.FromGroup:
		return v.groupSum(at, s.Place, t.K)
	case sim.FromC:
		return v.endOf(v.lastStep(func(st *step) bool { return st.exec == s.Exec-1 }))
	case sim.FromLane:
		return v.endOf(v.laneStep(s.Exec, t.K))
	case sim.FromAcc:
		return v.endOf(at - 1)
	}
	return -1
}

// groupSum returns the sum that a stage before place made of group k, or -1: a
// group of one term is not summed.
func (v *view) groupSum(step int, place sim.Place, k int) int {
	stage := sim.Stage0
	if place == sim.Join && v.hasStage1() {
		stage = sim.Stage1
	}
	for i := v.steps[step].end - 1; i >= v.steps[step].first; i-- {
		if s := &v.sums[i]; s.Place == stage && s.Group == k {
			return i
		}
	}
	return -1
}

func (v *view) hasStage1() bool { return v.p.Stage1.Sum != mma.Off }

// endOf returns the last sum of a step; -1 if step is -1.
func (v *view) endOf(step int) int {
	if step < 0 {
		return -1
	}
	return v.steps[step].end - 1
}

// lastStep returns the last step with a property, or -1.
func (v *view) lastStep(ok func(*step) bool) int {
	for i := len(v.steps) - 1; i >= 0; i-- {
		if ok(&v.steps[i]) {
			return i
		}
	}
	return -1
}

func (v *view) laneStep(exec, lane int) int {
	return v.lastStep(func(st *step) bool { return !st.late && st.exec == exec && st.lane == lane })
}

// exact returns the value of a term before anything was done to it: for a
// product, before it was rounded, unless it was above the largest number.
func (v *view) exact(t *sim.TermTrace) fp.Dyadic {
	r := &v.p.Prod.Round
	if t.From != sim.FromProduct || r.Frac == 0 || t.Kind != sim.Finite {
		return t.Value
	}
	x := exactProduct(v.in, v.p, t.K)
	if _, differ := distance(x.Round(roundingPoint(x, r), r.Mode), t.Value); differ {
		return t.Value
	}
	return x
}

// sameStructure reports whether two traces have the same sums of the same terms.
func sameStructure(a, b *view) bool {
	if len(a.sums) != len(b.sums) {
		return false
	}
	for i := range a.sums {
		if !sameSum(&a.sums[i], &b.sums[i]) {
			return false
		}
	}
	return true
}

func sameSum(x, y *sim.SumTrace) bool {
	if x.Place != y.Place || x.Exec != y.Exec || x.Lane != y.Lane || x.Step != y.Step || x.Group != y.Group || len(x.Terms) != len(y.Terms) {
		return false
	}
	for j := range x.Terms {
		if x.Terms[j].From != y.Terms[j].From || x.Terms[j].K != y.Terms[j].K {
			return false
		}
	}
	return true
}

// compare makes two views compare their bits with each other.
func compare(a, b *view) {
	a.other, b.other = b, a
	a.paired = sameStructure(a, b)
	b.paired = a.paired
}

// there returns what the other side keeps of the same term, if it has it.
func (v *view) there(sum, term int) (fp.Dyadic, bool) {
	if v.other == nil {
		return fp.Dyadic{}, false
	}
	s := &v.sums[sum]
	var t *sim.TermTrace
	if src, ok := sourceOf(s, &s.Terms[term]); ok {
		t = v.other.enters[src]
	} else if v.paired {
		t = &v.other.sums[sum].Terms[term]
	}
	if t == nil || !isFinite(t) {
		return fp.Dyadic{}, false
	}
	return t.Cut, true
}
