// Package study measures the generators and the triage: which generator tells
// which pair of arithmetics and which mutants apart, and whether triage names
// the change that was made. Its results are the tables of the documentation.
package study

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Outcome is what triage made of one mutant.
type Outcome struct {
	Mutant  []mma.Change
	Labels  []triage.Label // of the change that was made
	Verdict *triage.Verdict
	Result  Result
	Differ  int // differing cases in the evidence
}

// Result scores an outcome.
type Result string

// The results.
const (
	Exact      Result = "exact"       // the change that was made, or one that no input tells from it
	Wrong      Result = "wrong"       // another change
	NotFound   Result = "unexplained" // an honest answer
	NoEvidence Result = "equal"       // no input shows a difference from the base
)

// evidencePerGenerator is how many inputs of each generator make the evidence.
const evidencePerGenerator = 512

// Mutant presents a mutant of an instruction's arithmetic to triage as an
// anonymous unit.
func Mutant(ctx context.Context, i *mma.Instruction, mutant mma.Params) (*Outcome, error) {
	o := &Outcome{Mutant: mma.Diff(&i.Params, &mutant), Labels: triage.LabelsOf(&i.Params, &mutant)}
	unit, err := sim.New(i.Formats, i.K, mutant)
	if err != nil {
		return nil, err
	}
	base, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		return nil, err
	}
	policy := oracle.Policy{}
	sp := fuzz.Spec{Formats: i.Formats, K: i.K}
	pr := &triage.Problem{Formats: i.Formats, K: i.K, Base: i.Params, Policy: policy,
		Ask: func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
			out := make([]uint64, len(dots))
			for n, d := range dots {
				out[n] = unit.Dot(d, nil)
			}
			return out, nil
		},
		Inputs: func(round int, ps ...*mma.Params) []*mma.Dot { return fuzz.Probe(sp, 2, round, ps...) },
	}
	for round := range 6 {
		for _, d := range fuzz.Probe(sp, 1, round, &i.Params) {
			want := unit.Dot(d, nil)
			c := triage.Case{Dot: d, Want: want}
			if oracle.Compare(i.D, policy, base.Dot(d, nil), want) == oracle.Same {
				if len(pr.Agree) < 256 {
					pr.Agree = append(pr.Agree, c)
				}
			} else if len(pr.Differ) < 256 {
				pr.Differ = append(pr.Differ, c)
			}
		}
	}
	o.Differ = len(pr.Differ)
	if o.Differ == 0 {
		o.Result = NoEvidence
		return o, nil
	}
	if o.Verdict, err = triage.Explain(ctx, pr); err != nil {
		return nil, err
	}
	switch {
	case !o.Verdict.Found():
		o.Result = NotFound
	case o.Verdict.Program == mutant:
		o.Result = Exact
	default:
		o.Result = Wrong
	}
	return o, nil
}
