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
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// Outcome is what triage made of one mutant that was presented to it as an
// anonymous unit.
type Outcome struct {
	Base   string         // ARCH/INSTRUCTION
	Mutant string         // name of the change that made the mutant: a row of package change's table
	Change []mma.Change   // the parameters that the mutant changes
	Labels []triage.Label // labels of these changes
	Result Result
	Got    []mma.Change   // the changes that triage found
	GotBy  []triage.Label // labels of the changes that triage found
	Equals int            // other changes that triage reports as equal
	Differ int            // differing cases in the evidence
	Asked  int            // inputs asked for by triage
}

// Result scores an outcome.
type Result string

// The results.
const (
	// Exact: the verdict is the change that was made, or a set of changes that contains
	// it and whose members agree on sameMost inputs of every generator.
	Exact Result = "exact"
	// Ambiguous: the verdict is a set that contains the change, but some input, which
	// triage did not find, distinguishes its members.
	Ambiguous Result = "ambiguous"
	// Wrong: the verdict is another change.
	Wrong Result = "wrong"
	// Unexplained: triage has no explanation.
	Unexplained Result = "unexplained"
	// Equal: an argument (Equivalent) shows that the mutant computes the same as its base,
	// or no input showed a difference.
	Equal Result = "equal"
	// Undecided: no difference was seen, and it is not proved that there is none.
	Undecided Result = "undecided"
)

// sameMost: two programs count as the same function if this many inputs of each
// generator do not distinguish them.
const sameMost = 10_000

// evidenceRounds is the number of rounds of gen.Probe that make the evidence, and
// evidenceMost the maximum number of cases kept of each kind (differing, agreeing).
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
	parallel(ctx, len(mutants), func(n int) { outs[n], errs[n] = confuse(ctx, i, mutants[n]) })
	return outs, errors.Join(append(errs, ctx.Err())...)
}

// confuse presents one mutant. There is nothing to explain if an argument shows that no
// input distinguishes it from its base.
func confuse(ctx context.Context, i *mma.Instruction, s change.Mutant) (*Outcome, error) {
	o := &Outcome{Base: i.FullName(), Mutant: s.Change, Change: mma.Diff(&i.Params, &s.Params), Labels: triage.LabelsOf(&i.Params, &s.Params)}
	if argued.Equivalent(i, &s.Params) != "" {
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
	o.Result, err = score(ctx, i, s.Params, v)
	return o, err
}

// anonymous returns the triage problem for a hidden unit that runs mutant.
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
func score(ctx context.Context, i *mma.Instruction, mutant mma.Params, v *triage.Verdict) (Result, error) {
	if !v.Found() {
		return Unexplained, nil
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
		equal, err := sameFunction(ctx, i, mutant, p)
		if err != nil {
			return "", err
		}
		if !equal {
			return Ambiguous, nil
		}
	}
	return Exact, nil
}

// sameFunction reports whether p and q compute the same function, either by an argument
// (Equivalent) or because a long search finds no input that distinguishes them.
func sameFunction(ctx context.Context, i *mma.Instruction, p, q mma.Params) (bool, error) {
	j := *i
	j.Params = p
	if argued.Equivalent(&j, &q) != "" {
		return true, nil
	}
	m, err := sim.New(i.Formats, i.K, q)
	if err != nil {
		return false, err
	}
	sep := &Separation{}
	err = separateWithin(ctx, &j, []other{{sep, m}}, Generators(), sameMost, sameMost)
	return !sep.Separated(), err
}
