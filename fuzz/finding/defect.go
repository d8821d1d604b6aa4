package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// Where no change of a program explains a unit, its results may be right but for an error under a
// condition. It is looked for before the long search for a program, which takes longer.

// Defect is the defect of one side of a pair, as a cause of cases.
type Defect struct {
	claim *defect.Claim
	unit  *defect.Predictor
	inB   bool // B has it
	d     oracle.Comparer
}

// defectOf returns the defect of a verdict; nil: it has none.
func (p *Pair) defectOf(v *triage.Verdict) *Defect {
	if v == nil || v.Defect == nil {
		return nil
	}
	if p.Defect != nil && p.Defect.claim == v.Defect {
		return p.Defect
	}
	unit, err := defect.NewPredictor(p.Spec.Formats, v.K, v.Program, v.Defect.Rule)
	if err != nil {
		return nil // CheckVerdict has said so
	}
	return &Defect{v.Defect, unit, p.unknownIsB, oracle.NewComparer(p.Spec.D, p.Policy)}
}

// explains reports whether the defect is the cause of a case: the unit gives what the rule predicts,
// and the program something else.
func (x *Defect) explains(dot *mma.Dot, a, b uint64) bool {
	want := a
	if x.inB {
		want = b
	}
	got, program, known := x.unit.Predict(dot)
	return known && x.d.Compare(got, want) == oracle.Same && x.d.Compare(got, program) != oracle.Same
}

// search looks for a verdict: a change of the program, or else a change that explains a part with a
// defect beside it, or a defect alone; after a long search a change again, perhaps with a defect.
func (x *pairTriage) search(ctx context.Context, pr *triage.Unknown) (*triage.Verdict, error) {
	effort := pr.Effort
	if effort < 0 && x.defect == nil || pr.Ask == nil { // but one that was refuted is replaced
		return triage.Explain(ctx, pr)
	}
	pr.Effort = -1
	v, err := triage.Explain(ctx, pr)
	if err != nil || v.Complete() {
		return v, err
	}
	both, err := x.beside(ctx, pr, v)
	if err != nil || both.Settled() {
		return both, err
	}
	found := *v
	found.Changes, found.Program, found.Partial, found.Explained, found.Kept = nil, pr.Base, false, 0, found.Agree
	found.Labels = []triage.Label{triage.Defect}
	if err := x.findDefect(ctx, pr, &found); err != nil || found.Settled() {
		return &found, err
	}
	if effort < 0 {
		return v, nil
	}
	pr.Effort = effort
	if v, err = triage.Explain(ctx, pr); err != nil {
		return v, err
	}
	return x.beside(ctx, pr, v)
}

// beside looks for a defect beside a program that explains a part of the cases. The verdict is the
// one before if there is none.
func (x *pairTriage) beside(ctx context.Context, pr *triage.Unknown, v *triage.Verdict) (*triage.Verdict, error) {
	part := v
	if !v.Partial {
		part = v.Seldom
	}
	if part == nil {
		return v, nil
	}
	if err := x.findDefect(ctx, pr, part); err != nil || part.Settled() {
		return part, err
	}
	return v, nil
}

// findDefect looks for a defect beside the program of a verdict. A change of the program without a
// condition is no defect but another program.
func (x *pairTriage) findDefect(ctx context.Context, pr *triage.Unknown, v *triage.Verdict) error {
	u := &defect.Unit{Formats: pr.Formats, K: pr.K, Program: v.Program, Policy: pr.Policy, Seed: pr.Seed,
		Ask: func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) { return pr.Ask(ctx, dots) }}
	for _, c := range slices.Concat(pr.Differ, pr.Agree) {
		u.Cases = append(u.Cases, defect.Case(c))
	}
	claim, err := defect.Find(ctx, u)
	if err != nil || claim == nil {
		return err
	}
	if claim.Effect.On != defect.OnProgram || len(claim.When) > 0 || claim.Before != nil {
		v.Defect = claim
		return nil
	}
	if err := v.Program.Apply(claim.Effect.Changes); err != nil {
		return err
	}
	v.Changes, v.Labels = mma.Diff(&pr.Base, &v.Program), triage.LabelsOf(&pr.Base, &v.Program)
	v.Explained, v.Kept, v.Partial = v.Differ, v.Agree, false
	return nil
}

// keepsDefect reports whether the defect of the verdict so far predicts all evidence, but agreeing
// cases of which it says nothing.
func (x *pairTriage) keepsDefect(pr *triage.Unknown) bool {
	if x.defect == nil {
		return false
	}
	for i, c := range slices.Concat(pr.Differ, pr.Agree) {
		got, _, known := x.defect.unit.Predict(c.Dot)
		if known && oracle.Compare(pr.Formats.D, pr.Policy, got, c.Want) != oracle.Same || !known && i < len(pr.Differ) {
			return false
		}
	}
	return true
}

// Defect describes the defect of a pair's verdict for people and programs; nil: it has none.
func (st *PairState) Defect() *corpus.Defect {
	return describe(st.Verdict, map[bool]string{false: st.TargetA, true: st.TargetB}[st.BaseA])
}

func describe(v *triage.Verdict, target string) *corpus.Defect {
	if v == nil || v.Defect == nil {
		return nil
	}
	return &corpus.Defect{Target: target, Rule: v.Defect.String(), Confirmed: v.Defect.Confirmed, Beside: v.Defect.Beside, Tested: v.Defect.Tested}
}
