package selfcheck

import (
	"context"
	"errors"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// Outcome is what triage made of one mutant that was presented to it as an
// anonymous unit.
type Outcome struct {
	Base   string         // ARCH/INSTRUCTION
	Mutant string         // the change that made it
	Change []mma.Change   // that was made
	Labels []triage.Label // of that change
	Result Result
	Got    []mma.Change   // of the verdict
	GotBy  []triage.Label // its labels
	Equals int            // other changes that triage reports as equal
	Differ int            // differing cases in the evidence
	Asked  int            // inputs asked for by triage
}

// Result scores an outcome.
type Result string

// The results.
const (
	// Exact: the verdict is the change that was made, or a set of changes with it
	// among them that sameMost inputs of each generator do not tell apart.
	Exact Result = "exact"
	// Ambiguous: such a set, but some input does tell its members apart, which
	// triage did not find.
	Ambiguous Result = "ambiguous"
	// Wrong: the verdict is another change.
	Wrong Result = "wrong"
	// NotFound: triage has no explanation.
	NotFound Result = "unexplained"
	// Equal: no input showed a difference between the mutant and its base.
	Equal Result = "equal"
)

// sameMost is the number of inputs of each generator that must not tell two
// programs apart that count as the same function.
const sameMost = 10_000

// evidenceRounds is the number of rounds of gen.Probe that make the evidence,
// evidenceMost how many cases of each kind are kept.
const (
	evidenceRounds = 7
	evidenceMost   = 256
)

// confuseAll presents every mutant of an instruction's arithmetic to
// triage, on all processors.
func confuseAll(ctx context.Context, i *mma.Instruction) ([]*Outcome, error) {
	mutants := change.SpaceOf(i).Mutants(&i.Params, change.Decisions)
	outs := make([]*Outcome, len(mutants))
	errs := make([]error, len(mutants))
	parallel(len(mutants), func(n int) { outs[n], errs[n] = confuse(ctx, i, mutants[n]) })
	return outs, errors.Join(errs...)
}

// confuse presents one mutant. Where it is argued that no input tells it from its
// base there is nothing to explain.
func confuse(ctx context.Context, i *mma.Instruction, s change.Mutant) (*Outcome, error) {
	o := &Outcome{Base: i.FullName(), Mutant: s.Change, Change: mma.Diff(&i.Params, &s.Params), Labels: triage.LabelsOf(&i.Params, &s.Params)}
	if Equivalent(i, &s.Params) != "" {
		o.Result = Equal
		return o, nil
	}
	pr, err := anonymous(i, s.Params)
	if err != nil {
		return nil, err
	}
	if o.Differ = len(pr.Differ); o.Differ == 0 {
		o.Result = Equal
		return o, nil
	}
	v, err := triage.Explain(ctx, pr)
	if err != nil {
		return nil, err
	}
	o.Got, o.GotBy, o.Equals, o.Asked = v.Changes, v.Labels, len(v.Equivalent), v.Asked
	o.Result, err = score(i, s.Params, v)
	return o, err
}

// anonymous states the problem of an unknown unit that computes by mutant.
func anonymous(i *mma.Instruction, mutant mma.Params) (*triage.Unknown, error) {
	unit, err := sim.New(i.Formats, i.K, mutant)
	if err != nil {
		return nil, err
	}
	base, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		return nil, err
	}
	sp := gen.Spec{Formats: i.Formats, K: i.K}
	pr := &triage.Unknown{Formats: i.Formats, K: i.K, Base: i.Params,
		Ask: func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
			out := make([]uint64, len(dots))
			for n, d := range dots {
				out[n] = unit.Dot(d, nil)
			}
			return out, nil
		},
		Seed: 2, Questions: infer.Questions,
	}
	for round := 0; round < evidenceRounds && len(pr.Differ) < evidenceMost; round++ {
		for _, d := range gen.Probe(sp, 1, round, &i.Params) {
			c := triage.Case{Dot: d, Want: unit.Dot(d, nil)}
			same := oracle.Compare(i.D, oracle.Policy{}, base.Dot(d, nil), c.Want) == oracle.Same
			switch {
			case same && len(pr.Agree) < evidenceMost:
				pr.Agree = append(pr.Agree, c)
			case !same && len(pr.Differ) < evidenceMost:
				pr.Differ = append(pr.Differ, c)
			}
		}
	}
	return pr, nil
}

// score compares a verdict with the mutant.
func score(i *mma.Instruction, mutant mma.Params, v *triage.Verdict) (Result, error) {
	if !v.Found() {
		return NotFound, nil
	}
	class := []mma.Params{v.Program}
	for _, changes := range v.Equivalent {
		p := i.Params
		if err := p.Apply(changes); err != nil {
			return "", err
		}
		class = append(class, p)
	}
	if !slices.Contains(class, mutant) {
		return Wrong, nil
	}
	for _, p := range class {
		if p == mutant {
			continue
		}
		equal, err := sameFunction(i, mutant, p)
		if err != nil {
			return "", err
		}
		if !equal {
			return Ambiguous, nil
		}
	}
	return Exact, nil
}

// sameFunction reports whether an argument or a long search finds two programs to
// be the same function.
func sameFunction(i *mma.Instruction, p, q mma.Params) (bool, error) {
	j := *i
	j.Params = p
	if Equivalent(&j, &q) != "" {
		return true, nil
	}
	m, err := sim.New(i.Formats, i.K, q)
	if err != nil {
		return false, err
	}
	sep := &Separation{}
	err = separateWithin(&j, []other{{sep, m}}, Generators(), sameMost, sameMost)
	return !sep.Separated(), err
}
