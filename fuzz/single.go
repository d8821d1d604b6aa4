package fuzz

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ErrAgree reports that two units do not differ on a case.
var ErrAgree = errors.New("the two sides agree on this case")

// evidenceRounds is the number of rounds of Probe that TriageCase asks for: 1,008 inputs of
// each generator. At most evidenceKept cases that agree and as many that differ are evidence.
const evidenceRounds = 6

// TriageCase explains and minimizes one case of a pair outside of a campaign. The evidence is
// fresh: inputs of every generator, and the case itself. cfg.Pairs holds just this pair.
// The error is ErrAgree if the two sides do not differ on it.
func TriageCase(ctx context.Context, cfg Config, dot *mma.Dot) (*Case, error) {
	cfg.Journal, cfg.Bundles, cfg.Observe = "", "", nil
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	x := &pairTriage{c: c, p: c.pairs[0], st: c.state.Pairs[0], d: &pairDelta{}}
	if x.p.recorder != nil {
		return nil, errors.New("a recording cannot be asked about new inputs; mmafuzz run compares it and keeps its findings")
	}
	sides := together(dotRunner(x.p.A, x.p.spec.Formats), dotRunner(x.p.B, x.p.spec.Formats))
	cases, err := x.run(ctx, sides, []*mma.Dot{dot}, CaseRef{Source: "given"})
	if err != nil {
		return nil, err
	}
	f := cases[0]
	if f.Class == oracle.Same {
		return nil, ErrAgree
	}
	evidence, err := x.evidence(ctx, sides)
	if err != nil {
		return nil, err
	}
	if err := x.explainCases(ctx, append(evidence, f)); err != nil {
		return nil, err
	}
	x.offer(f, &x.kindsOf(cases)[0])
	f.Number = 1
	if err := x.minimize(ctx, f); err != nil {
		return nil, err
	}
	f.Mismatch = c.mismatch(f)
	return f, nil
}

// run runs both sides on dot products; origin says where they come from.
func (x *pairTriage) run(ctx context.Context, sides bothSides, dots []*mma.Dot, origin CaseRef) ([]*Case, error) {
	results, err := sides(ctx, dots)
	cases := make([]*Case, len(results))
	for i, r := range results {
		cases[i] = &Case{Pair: x.index, Seed: x.c.cfg.Seed, Origin: origin, Start: dots[i], Dot: dots[i], A: r[0], B: r[1],
			Class: oracle.Compare(x.p.spec.D, x.p.policy, r[0], r[1])}
	}
	return cases, err
}

// evidence runs inputs of every generator.
func (x *pairTriage) evidence(ctx context.Context, sides bothSides) ([]*Case, error) {
	var evidence []*Case
	kept := map[bool]int{}
	for round := range evidenceRounds {
		dots := gen.Probe(x.p.spec, x.c.cfg.Seed, round, x.p.known...)
		if len(dots) == 0 {
			break // they are very long
		}
		cases, err := x.run(ctx, sides, dots, CaseRef{})
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
			if same := f.Class == oracle.Same; kept[same] < evidenceKept {
				kept[same]++
				evidence = append(evidence, f)
			}
		}
	}
	return evidence, nil
}
