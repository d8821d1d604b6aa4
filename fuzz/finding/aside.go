package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// What a unit keeps of a question is no difference of its arithmetic. Where it is known what that is before
// a verdict is looked for, the cases that come from it are set aside, so that no search tries to explain
// them, and no change of a program that explains some of them by chance is a cause.

// keeper is a side of which it is known what it keeps.
type keeper struct {
	side int
	a    *asker
	prediction
}

// learnKept looks for what a side keeps that changes its answers. If it is not found here, the program that
// was taken for right may be another one: it is looked for again when there is a verdict.
func (x *pairTriage) learnKept(ctx context.Context) error {
	if !x.isUnstable() || x.t.Effort < 0 || x.p.baseUnit == nil {
		return nil
	}
	for side := range sideNames {
		h := x.st.historyOf(side)
		if h != nil && (h.Every > 0 || h.Kept == "") || !x.mayKeep(side) {
			continue
		}
		a, err := x.newAsker(ctx, side)
		if a == nil || len(a.pool) < 4 || err != nil {
			return err
		}
		p, err := a.prediction(ctx, 0)
		if err != nil {
			return harmlessFault(err)
		}
		if p == nil {
			continue
		}
		if x.keeper = &(keeper{side, a, p}); h == nil {
			h = &History{Side: side}
			h.shownBy(p, a)
			x.d.History = append(x.d.History, *h)
		}
		return nil
	}
	return nil
}

// setAside gives the cases that come from what a side keeps to Layout.
func (x *pairTriage) setAside(ctx context.Context, cases []*Case) error {
	var open []*Case
	var ss []Sample
	for _, f := range cases {
		if f.Bucket == "" {
			open, ss = append(open, f), append(ss, f.sample())
		}
	}
	from, err := x.fromKept(ctx, ss)
	for _, f := range open {
		if from[f.Origin] {
			f.Bucket = string(triage.Layout)
			if f.Origin.Source != Recorded {
				f.Place = minimize.Nowhere.String()
			}
		}
	}
	return err
}

const (
	warmUp     = 64 // questions after which it is known what is kept
	askedAfter = 3  // questions
)

// fromKept returns which cases come from what a side keeps: asked after several questions, its answers are
// those that the prediction says, some of which are others than the right one, which the other side gives.
func (x *pairTriage) fromKept(ctx context.Context, ss []Sample) (map[CaseRef]bool, error) {
	from := map[CaseRef]bool{}
	if x.keeper == nil || len(ss) == 0 {
		return from, nil
	}
	a := x.keeper.a
	dots, questions := a.varied(warmUp, 0), a.varied(askedAfter*len(ss), 1)
	for i := range ss {
		d := x.p.Dot(x.t.Seed, ss[i].CaseRef)
		for n, before := range questions[askedAfter*i:][:askedAfter] {
			if n == 0 && ss[i].Source != Recorded && ss[i].Index > 0 {
				before = x.p.Dot(x.t.Seed, CaseRef{ss[i].Source, ss[i].Index - 1})
			}
			dots = append(dots, before, d)
		}
	}
	s, err := a.ask(ctx, dots)
	if err != nil {
		return from, harmlessFault(err)
	}
	want, other := append([]uint64{}, s.right...), make([]bool, len(dots))
	for i, code := range x.keeper.answers(a, s) {
		want[i], other[i] = code, !a.equal(code, s.right[i])
	}
	for i := range ss {
		first := warmUp + 2*askedAfter*i + 1
		all, some := a.equal(s.right[first], [2]uint64{ss[i].A, ss[i].B}[1-x.keeper.side]), false
		for n := first; n < first+2*askedAfter; n += 2 {
			all, some = all && a.equal(s.codes[n], want[n]), some || other[n]
		}
		from[ss[i].CaseRef] = all && some && ss[i].Class != oracle.Fault
	}
	return from, nil
}
