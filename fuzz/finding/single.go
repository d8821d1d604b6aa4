package finding

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
)

// ErrAgree reports that two units do not differ on a case.
var ErrAgree = errors.New("the two sides agree on this case")

// TriageRuns is how often TriageCase runs a case of units that may change their answers.
const TriageRuns = trials

// evidenceRounds is the number of rounds of Probe that TriageCase asks for: 1,008 inputs of
// each generator. At most EvidenceKept cases that agree and as many that differ are evidence.
const evidenceRounds = 6

// given is the source of cases that are asked about alone.
const given = "given"

// Single explains and minimizes one case of the first pair: see fuzz.TriageCase.
func (t *Finder) Single(ctx context.Context, dot *mma.Dot) (*Case, error) {
	st := &PairState{}
	x := &pairTriage{t: t, p: t.pairs[0], st: st, d: &Gathered{Before: st}}
	if x.p.Recorder != nil {
		return nil, errors.New("a recording cannot be asked about new inputs; mmafuzz run compares it and keeps its findings")
	}
	sides := together(dotRunner(x.p.A, x.p.Spec.Formats), dotRunner(x.p.B, x.p.Spec.Formats))
	f, err := x.repeated(ctx, sides, dot)
	if err != nil {
		return nil, err
	}
	if f.Class == oracle.Same {
		return nil, ErrAgree
	}
	f.Number = 1
	if f.Stable == f.Of {
		err = x.explainOne(ctx, sides, f)
	}
	if errors.Is(err, minimize.ErrStart) { // it has changed after all
		f.Of++
		f.Bucket = ""
	} else if err != nil {
		return nil, err
	}
	if f.Bucket == "" {
		f.Bucket = Unstable
		x.offer(f, &x.kindsOf([]*Case{f})[0])
	}
	f.Mismatch = t.mismatch(f)
	return f, nil
}

// explainOne explains and minimizes a case that repeats itself.
func (x *pairTriage) explainOne(ctx context.Context, sides bothSides, f *Case) error {
	evidence, err := x.evidence(ctx, sides)
	if err != nil {
		return err
	}
	if err := x.judgeRounding(ctx, stochastic.Least, f); err != nil || f.Bucket == Unstable {
		f.Bucket = ""
		return err // its results were the same by chance
	}
	if err := x.explainCases(ctx, append(evidence, f)); err != nil {
		return err
	}
	x.offer(f, &x.kindsOf([]*Case{f})[0])
	return x.minimize(ctx, f)
}

// repeated runs a dot product, several times unless the results are certain. The case has the
// results of the first run in which the sides differ, and how often they were the same.
func (x *pairTriage) repeated(ctx context.Context, sides bothSides, dot *mma.Dot) (*Case, error) {
	times := TriageRuns
	if x.p.certain() {
		times = 1
	}
	runs := make([]*Case, times)
	for i := range runs {
		one, err := x.run(ctx, sides, []*mma.Dot{dot}, CaseRef{Source: given})
		if err != nil {
			return nil, err
		}
		runs[i] = one[0]
	}
	f := runs[0]
	for _, r := range runs {
		if r.Class == oracle.Same {
			continue
		}
		if f.Class == oracle.Same {
			f = r
		}
		f.Differed++
	}
	for _, r := range runs {
		if f.Of++; x.p.Equal(r.A, f.A) && x.p.Equal(r.B, f.B) {
			f.Stable++
		}
	}
	return f, nil
}

// run runs both sides on dot products; origin says where they come from.
func (x *pairTriage) run(ctx context.Context, sides bothSides, dots []*mma.Dot, origin CaseRef) ([]*Case, error) {
	results, err := sides(ctx, dots)
	cases := make([]*Case, len(results))
	for i, r := range results {
		cases[i] = &Case{Pair: x.index, Seed: x.t.Seed, Origin: origin, Start: dots[i], Dot: dots[i], A: r[0], B: r[1],
			Class: oracle.Compare(x.p.Spec.D, x.p.Policy, r[0], r[1])}
	}
	return cases, err
}

// evidence runs inputs of every generator. Those whose results change are not evidence.
func (x *pairTriage) evidence(ctx context.Context, sides bothSides) ([]*Case, error) {
	var evidence []*Case
	kept := map[bool]int{}
	for round := range evidenceRounds {
		dots := gen.Probe(x.p.Spec, x.t.Seed, round, x.p.Known...)
		if len(dots) == 0 {
			break // they are very long
		}
		cases, err := x.run(ctx, sides, dots, CaseRef{Source: given})
		if devices.IsFault(err) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, f := range cases {
			if same := f.Class == oracle.Same; kept[same] < EvidenceKept {
				kept[same]++
				evidence = append(evidence, f)
			}
		}
	}
	return x.repeating(ctx, evidence)
}

// repeating returns the cases that repeat themselves. If some do not, the pair is unstable.
func (x *pairTriage) repeating(ctx context.Context, cases []*Case) ([]*Case, error) {
	if x.p.certain() {
		return cases, nil
	}
	ts, err := x.alone(ctx, repetitions, cases)
	if ts == nil || err != nil {
		return cases, err
	}
	var kept []*Case
	for i, f := range cases {
		if ts[i].repeats() {
			kept = append(kept, f)
		} else {
			x.changes(&ts[i])
		}
	}
	return kept, nil
}
