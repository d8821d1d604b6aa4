package finding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// Where no change of a program explains a unit, its results may be right but for an error under a
// condition. It is looked for before the long search for a program, which takes longer.

// Defect is the defect of one side of a pair, as a cause of cases, or the schedules of both.
type Defect struct {
	claim *defect.Claim
	unit  *defect.Predictor
	inB   bool // B has it
	codes bool // it says which codes NaNs have
	d     oracle.Comparer
	sums  *sums // not nil: there is no claim
}

// defectOf returns the defect of a verdict; nil: it has none.
func (p *Pair) defectOf(v *triage.Verdict) *Defect {
	if v != nil && v.Sums != nil {
		if p.Defect != nil && p.Defect.sums != nil && p.Defect.sums.Sums == v.Sums {
			return p.Defect
		}
		return &Defect{sums: p.newSums(v.Sums)}
	}
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
	return &Defect{claim: v.Defect, unit: unit, inB: p.unknownIsB, codes: !p.byClass && !v.Defect.Effect.AnyNaN(), d: oracle.NewComparer(p.Spec.D, p.Policy)}
}

// explains reports whether the defect is the cause of a case: the unit gives what the rule predicts,
// and the program something else.
func (x *Defect) explains(dot *mma.Dot, a, b uint64) bool {
	want, other := a, b
	if x.inB {
		want, other = b, a
	}
	got, program, known := x.unit.Predict(dot)
	return known && (x.codes || x.d.Compare(a, b) != oracle.NaNCode) && x.d.Explains(got, want, other) && x.d.Compare(got, program) != oracle.Same
}

// search looks for a verdict as long as searches may take. What is over then has found what it has found.
func (x *pairTriage) search(ctx context.Context, pr *triage.Unknown, quick bool) (*triage.Verdict, error) {
	if x.t.SearchTime == 0 {
		return x.searchFor(ctx, pr, quick)
	}
	within, cancel := context.WithDeadline(ctx, x.t.firstSearch().Add(x.t.SearchTime))
	defer cancel()
	v, err := x.searchFor(within, pr, quick)
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return v, err
	}
	if v == nil {
		v = &triage.Verdict{Program: pr.Base, K: pr.K, Differ: len(pr.Differ), Agree: len(pr.Agree), Kept: len(pr.Agree), Labels: []triage.Label{triage.Unexplained}}
	}
	v.Ended = true
	return v, nil
}

// searchFor looks for a verdict. A quick one is a change of the program, or else two schedules, or a change
// that explains a part with a defect beside it, or a defect alone. A long search is for two defects, and then for a
// change again, perhaps with a defect.
func (x *pairTriage) searchFor(ctx context.Context, pr *triage.Unknown, quick bool) (*triage.Verdict, error) {
	effort := pr.Effort
	first := quick && x.verdict == nil                                                            // also where inferences have taken all of the budget: it has a least one
	hunts := pr.Ask != nil && (effort >= 0 || first || x.defect != nil || x.due(x.usualEffort())) // one that was refuted is replaced
	budget := x.budget(quick)
	pr.Effort = -1
	var v *triage.Verdict
	var err error
	if !quick && hunts {
		v = &triage.Verdict{Program: pr.Base, K: pr.K, Differ: len(pr.Differ), Agree: len(pr.Agree)}
		if err = x.findDefect(ctx, pr, alone(v, pr), &defect.Unit{Double: true, Budget: budget}); err != nil {
			return nil, err
		}
	}
	if v == nil || !v.Settled() {
		pr.Effort = effort
		v, err = triage.Explain(ctx, pr)
	}
	if err == nil && hunts && quick && !v.Settled() {
		if sums, err := x.findSums(ctx); sums != nil || err != nil {
			return sums, err
		}
	}
	if err == nil && hunts && !v.Settled() {
		var more *triage.Verdict
		if more, err = x.besideOrAlone(ctx, pr, v, quick, budget); err == nil {
			v = more
		}
	}
	if v != nil {
		v.Sought, v.Ended = spentOf(budget), budget.Ended()
		if quick {
			v.Sought += x.perK(quickChanges)
		}
	}
	return v, err
}

// besideOrAlone looks for a defect beside a program that explains a part of the cases, or may, or quick:
// for one alone. The verdict is the one before if there is none.
func (x *pairTriage) besideOrAlone(ctx context.Context, pr *triage.Unknown, v *triage.Verdict, quick bool, budget *defect.Budget) (*triage.Verdict, error) {
	found := *v
	// Which way random bits round is right in half of the cases of many a program: what is wrong with
	// these bits is looked for before programs that explain a part.
	if quick && pr.Formats.B.RandomBits() != 0 {
		if err := x.findDefect(ctx, pr, alone(&found, pr), &defect.Unit{Random: true, Budget: budget}); err != nil || found.Settled() {
			return &found, err
		}
	}
	if quick && v.Partial {
		budget.Most += moreBeside * million * defect.PerDot
	}
	most := budget.Most
	if quick && !v.Partial { // such programs are guesses
		budget.Most -= (most - budget.Spent) / 2
	}
	both, err := x.beside(ctx, pr, v, budget)
	budget.Most = most
	if err != nil || !quick || both.Complete() {
		return both, err
	}
	// One defect that explains all cases is simpler than a program and a defect beside it, which
	// may be two halves of it. It is also found sooner.
	if both.Settled() {
		budget.Most = min(budget.Most, 2*budget.Spent)
	}
	if err := x.findDefect(ctx, pr, alone(&found, pr), &defect.Unit{Single: true, Budget: budget}); err != nil || found.Settled() {
		return &found, err
	}
	return both, nil
}

// The limits of searches for defects, in millions of dot products of models.
const (
	million      = 1_000_000
	quickChanges = 2 // about what it takes to try all single changes of a program
	quickDefects = 4 // the most of a quick search: nearly all that are found take less than three
	leastDefects = 3 // and the least, with many products
	moreDefects  = 2 // what is added to that if neither side had a model, and one was inferred
	moreBeside   = 6 // and where a change explains a part of the cases
	twoDefects   = 7 // those of a long one
	tellRounds   = 4 // of gen.Probe, to tell verdicts apart
)

// budget returns the limit of a search for defects, which depends on the campaign and on no clock: of
// what is left for all searches, a quick one leaves what the quick inference behind it needs.
func (x *pairTriage) budget(quick bool) *defect.Budget {
	most := min(twoDefects, max(1, x.left()))
	if quick {
		most = min(quickDefects, max(leastDefects, x.left()-x.perK(quickChanges+x.quickly()+inferBriefly)))
		if x.oneInferred() {
			most += moreDefects
		}
	}
	b := &defect.Budget{Most: int64(max(1, x.t.withinTime(most))) * million * defect.PerDot}
	b.Show = func(b *defect.Budget) {
		x.say(fmt.Sprintf("looking for a defect of %s: %d %% of the effort", x.p.Name(), min(100, 100*b.Spent/b.Most)))
	}
	return b
}

// spentOf is what a search for a defect has spent, in millions of dot products of models: how far beyond its
// budget it ends depends on the workers.
func spentOf(b *defect.Budget) int { return int(min(b.Spent, b.Most) / (defect.PerDot * million)) }

// alone makes a verdict one of a defect of the base.
func alone(v *triage.Verdict, pr *triage.Unknown) *triage.Verdict {
	v.Changes, v.Program, v.Partial, v.Explained, v.Kept = nil, pr.Base, false, 0, v.Agree
	v.Labels = []triage.Label{triage.Defect}
	return v
}

// beside looks for a defect beside a program that explains a part of the cases, or beside one that may.
// The verdict is the one before if there is none. Of several such programs, each with its defect, those
// are left that give the unit's results on inputs on which they differ, and of these the smallest change.
func (x *pairTriage) beside(ctx context.Context, pr *triage.Unknown, v *triage.Verdict, budget *defect.Budget) (*triage.Verdict, error) {
	parts := v.Seldom
	if v.Partial {
		parts = []*triage.Verdict{v}
	} else if zeros, err := signsOfZeros(ctx, pr); err != nil {
		return v, err
	} else if zeros != nil {
		parts = append(slices.Clip(parts), zeros)
	}
	var settled []*triage.Verdict
	for _, part := range parts {
		if withSignsOfZeros(pr, part) {
			settled = append(settled, part)
			continue
		}
		if err := x.findDefect(ctx, pr, part, &defect.Unit{Single: true, Budget: budget}); err != nil {
			return part, err
		}
		if part.Settled() {
			settled = append(settled, part)
		}
	}
	settled, err := x.stillRight(ctx, pr, settled)
	if len(settled) == 0 || err != nil {
		return v, err
	}
	return slices.MinFunc(settled, func(a, b *triage.Verdict) int { return len(a.Changes) - len(b.Changes) }), nil
}

// stillRight returns those of several verdicts that predict the unit's results on new inputs, which are
// aimed at where their programs differ.
func (x *pairTriage) stillRight(ctx context.Context, pr *triage.Unknown, all []*triage.Verdict) ([]*triage.Verdict, error) {
	if len(all) < 2 {
		return all, nil
	}
	programs := []*mma.Params{&pr.Base}
	for _, v := range all {
		programs = append(programs, &v.Program)
	}
	for round := range tellRounds {
		dots := gen.Probe(gen.Spec{Formats: pr.Formats, K: pr.Length}, pr.Seed+2, round, programs...)
		got, err := pr.Ask(ctx, dots)
		if err != nil {
			return nil, err
		}
		u := &defect.Unit{Formats: pr.Formats, K: pr.K, Policy: defectPolicy(pr)}
		var cases []triage.Case
		for i, d := range dots {
			cases = append(cases, triage.Case{Dot: d, Want: got[i]})
			u.Cases = append(u.Cases, defect.Case(cases[i]))
		}
		all = slices.DeleteFunc(all, func(v *triage.Verdict) bool {
			if v.Defect == nil {
				return triage.Right(pr, &v.Program, cases) < len(cases)
			}
			return !predicts(u, v.Program, &v.Defect.Rule)
		})
	}
	return all, nil
}

// defectPolicy returns how results are compared with what a defect predicts: NaNs by class if some
// stand against numbers of the base. A program has one code for the NaNs that an operation makes, and
// what it does not say of their signs is no defect of a unit.
func defectPolicy(pr *triage.Unknown) oracle.Policy {
	policy := pr.Policy
	base, err := sim.New(pr.Formats, pr.K, pr.Base)
	if err == nil && policy.NaN == oracle.Bits && slices.ContainsFunc(pr.Differ, func(c triage.Case) bool {
		return oracle.Compare(pr.Formats.D, policy, base.Dot(c.Dot, nil), c.Want) == oracle.NaN
	}) {
		policy.NaN = oracle.ByClass
	}
	return policy
}

// findDefect looks for a defect beside the program of a verdict, of the kind and within the budget of
// u. A change of the program without a condition is no defect but another program.
func (x *pairTriage) findDefect(ctx context.Context, pr *triage.Unknown, v *triage.Verdict, u *defect.Unit) error {
	program, err := x.asOverflows(ctx, pr, v.Program)
	if err != nil {
		return err
	}
	u.Formats, u.K, u.Program, u.Policy, u.Seed, u.Workers = pr.Formats, pr.K, program, defectPolicy(pr), pr.Seed, x.t.Workers
	u.Ask = func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) { return pr.Ask(ctx, dots) }
	for _, c := range slices.Concat(pr.Differ, pr.Agree) {
		u.Cases = append(u.Cases, defect.Case(c))
	}
	claim, err := defect.Find(ctx, u)
	if err != nil || claim == nil {
		return err
	}
	v.Program = program
	if claim.Effect.On != defect.OnProgram || len(claim.When) > 0 {
		v.Defect = claim
		return nil
	}
	if err := program.Apply(claim.Effect.Changes); err != nil {
		return err
	}
	if claim.Before != nil { // what the other program computes of the operands that a defect leaves
		rule := *claim
		rule.Rule = *claim.Before
		if !predicts(u, program, &rule.Rule) {
			v.Defect = claim
			return nil
		}
		v.Defect = &rule
	}
	with := *v
	setProgram(&with, pr, &program)
	if with.Partial = with.Defect != nil; !with.Partial && (with.Explained < with.Differ || with.Kept < with.Agree) {
		return nil // a case of which a rule says nothing contradicts the program
	}
	*v = with
	return nil
}

// setProgram makes a program that of a verdict, with its changes and what it explains.
func setProgram(v *triage.Verdict, pr *triage.Unknown, p *mma.Params) {
	v.Program, v.Changes, v.Labels = *p, mma.Diff(&pr.Base, p), triage.LabelsOf(&pr.Base, p)
	v.Explained, v.Kept = triage.Right(pr, p, pr.Differ), triage.Right(pr, p, pr.Agree)
}

// predicts reports whether a rule about a program predicts all cases of a unit.
func predicts(u *defect.Unit, program mma.Params, r *defect.Rule) bool {
	p, err := defect.NewPredictor(u.Formats, u.K, program, *r)
	return err == nil && !slices.ContainsFunc(u.Cases, func(c defect.Case) bool {
		got, _, known := p.Predict(c.Dot)
		return known && oracle.Compare(u.Formats.D, u.Policy, got, c.Want) != oracle.Same
	})
}

// keepsDefect reports whether the defect of the verdict so far predicts all evidence, but agreeing
// cases of which it says nothing.
func (x *pairTriage) keepsDefect(pr *triage.Unknown) bool {
	if x.defect == nil {
		return false
	}
	policy := defectPolicy(pr)
	for i, c := range slices.Concat(pr.Differ, pr.Agree) {
		got, _, known := x.defect.unit.Predict(c.Dot)
		if known && oracle.Compare(pr.Formats.D, policy, got, c.Want) != oracle.Same || !known && i < len(pr.Differ) {
			return false
		}
	}
	return true
}

// Rule returns by what the cases of a bucket are recognised in every run, where it is a rule: that of
// a defect, of schedules or of what surrounds a case; else "".
func (st *PairState) Rule(bucket string) string {
	if d := st.Defect(); d != nil && bucket == string(triage.Defect) {
		return d.Identity
	}
	if s := st.Sums(); s != nil && bucket == string(triage.Schedule) {
		return s.String()
	}
	for _, f := range st.Findings {
		if f.Bucket == bucket && f.Spots != nil { // of the first alone
			return f.Spots.Identity
		}
	}
	return ""
}

// Defect describes the defect of a pair's verdict for people and programs; nil: it has none.
func (st *PairState) Defect() *corpus.Defect {
	return describe(st.Verdict, map[bool]string{false: st.TargetA, true: st.TargetB}[st.BaseA])
}

func describe(v *triage.Verdict, target string) *corpus.Defect {
	if v == nil || v.Defect == nil {
		return nil
	}
	return &corpus.Defect{Target: target, Rule: v.Defect.String(),
		Identity: target + ": " + v.Defect.Certain(), Confirmed: v.Defect.Confirmed, Beside: v.Defect.Beside, Both: v.Defect.Both, Tested: v.Defect.Tested}
}
