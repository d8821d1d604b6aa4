package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// Two black boxes may compute the same in another order, and one of them with a defect beside it. The
// inference of that side finds no program that explains it. The nearest one may be right but for the
// defect, which is looked for beside it.

// nearestOf returns the program that an inference of a side has found to come nearest; nil: there is none.
func (x *pairTriage) nearestOf(isB bool) (near *mma.Params) {
	for _, r := range slices.Concat(x.st.Inferred, x.d.Inferred) {
		if r.Nearest != nil && (r.Side == sideNames[1]) == isB {
			near = r.Nearest
		}
	}
	return near
}

// explainBesideNearest looks for a defect beside the nearest program of the side that was inferred in vain.
// That program alone becomes the verdict if it explains more cases than the change before and breaks none:
// the others remain unexplained.
func (x *pairTriage) explainBesideNearest(ctx context.Context, evidence []*Case) error {
	near, old := x.nearestOf(x.p.unknownIsB), x.verdict
	if near == nil || *near == x.p.base {
		return nil
	}
	pr := x.unknownUnit(x.withBase(evidence))
	if len(pr.Differ) == 0 || pr.Ask == nil {
		return nil
	}
	v, err := triage.ExplainNear(ctx, pr, *near)
	if err != nil {
		return err
	}
	budget := x.budget(true)
	if v.Partial || len(v.Seldom) > 0 {
		if v.Partial {
			budget.Most += moreBeside * million * defect.PerDot
		}
		if v, err = x.beside(ctx, pr, v, budget); err != nil {
			return err
		}
		if v, err = x.unlessTilesRefute(ctx, evidence, v); err != nil {
			return err
		}
	}
	if !v.Settled() && (!v.Partial || v.Explained <= old.Explained) {
		kept := *old
		if n := old.Nearest; !old.Found() && v.Nearest != nil && (n == nil || v.Nearest.Nearer(n)) {
			kept.Nearest = v.Nearest
		}
		v = &kept
	}
	v.Quick, v.Spent = old.Quick, old.Spent
	v.Sought, v.Ended = old.Sought+spentOf(budget), old.Ended || budget.Ended()
	x.verdict, x.d.Verdict, x.defect = v, v, x.p.defectOf(v)
	x.distrust()
	x.attributor = x.fullAttributor()
	return nil
}
