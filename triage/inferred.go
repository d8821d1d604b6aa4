package triage

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// An inference of a unit that has a defect finds no program that explains it. The one that comes nearest
// may be right but for the defect, however many parts of the base it changes.

// ExplainNear returns the verdict with a program that comes near to the unit, as Explain does where nothing
// explains all cases: that it explains a part and breaks none, or what is left of it with one of its parts
// as in the base, is claimed only if new inputs confirm it.
func ExplainNear(ctx context.Context, pr *Unknown, near mma.Params) (*Verdict, error) {
	near, _ = closestTo(pr, near)
	s := newExplainer(pr)
	v := s.verdict(nil)
	if err := s.explainPart(ctx, v, s.leavingOut(near)); err != nil {
		return nil, err
	}
	if v.Nearest == nil {
		cases := s.ev.First(1).All()
		v.Nearest = count(near, s.ev.Hits(&near, cases), s.ev.Hits(&pr.Base, cases))
		v.Nearest.Changes = mma.Diff(&pr.Base, &near)
	}
	err := s.withWitness(ctx, v)
	v.Asked = s.asked
	return v, err
}

// closestTo is Closest to the base of a unit.
func closestTo(pr *Unknown, p mma.Params) (mma.Params, int) {
	to, labels := Closest(pr.Formats, pr.spec().K, pr.Policy, Program{pr.Base, pr.K}, Program{p, pr.K})
	return to.Params, labels
}

// leavingOut returns a program, and those in which one of the parts that it changes is as in the base: what a
// search has fitted to a defect is right where the program without it is wrong, and the other way round.
func (s *explainer) leavingOut(p mma.Params) []mma.Params {
	all := []mma.Params{p}
	x := s.pr.between(p)
	for i := range x.parts {
		if q, ok := x.program(x.all() &^ (1 << i)); ok && q.Params.Validate(s.pr.Formats, s.pr.K) == nil && !slices.Contains(all, q.Params) {
			all = append(all, q.Params)
		}
	}
	return all
}
