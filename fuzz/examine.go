package fuzz

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ErrAgree says that two units do not differ on a case.
var ErrAgree = errors.New("the two sides agree on this case")

// examineRounds is the number of rounds of Probe that make the evidence of
// Examine: about 16,000 inputs.
const examineRounds = 6

// Examine explains and shrinks one case of a pair outside of a campaign. The
// evidence is fresh: inputs of every generator, and the case itself. cfg has the
// pair as its only one.
func Examine(ctx context.Context, cfg Config, dot *mma.Dot) (*Finding, error) {
	cfg.Journal, cfg.Bundles, cfg.Observe = "", "", nil
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	d := &pairDelta{}
	x := &examiner{c: c, p: c.pairs[0], st: c.state.Pairs[0], d: d}
	sides, err := x.examineSides()
	if err != nil {
		return nil, err
	}
	e, err := x.exampleOf(ctx, sides, dot)
	if err != nil {
		return nil, err
	}
	evidence, err := x.evidence(ctx, sides)
	if err != nil {
		return nil, err
	}
	if err := x.explainExamples(ctx, append(evidence, *e)); err != nil {
		return nil, err
	}
	f, err := x.finding(ctx, e, x.kindsOf([]example{*e})[0].name(), 1)
	if err != nil {
		return nil, err
	}
	f.Mismatch = c.mismatch(f)
	return f, nil
}

// examineSides returns the two units as they answer.
func (x *examiner) examineSides() (bothSides, error) {
	if x.p.recorder != nil {
		return nil, errors.New("a recording cannot answer new inputs: run compares it, and keeps what it finds")
	}
	return together(dotRunner(x.p.A, x.p.spec.Formats), dotRunner(x.p.B, x.p.spec.Formats)), nil
}

// exampleOf runs a case.
func (x *examiner) exampleOf(ctx context.Context, sides bothSides, dot *mma.Dot) (*example, error) {
	r, err := sides(ctx, []*mma.Dot{dot})
	if err != nil {
		return nil, err
	}
	e := &example{dot: dot, Sample: Sample{CaseRef: CaseRef{Source: "given"}, A: r[0][0], B: r[0][1]}}
	if e.Class = oracle.Compare(x.p.spec.D, x.p.policy, e.A, e.B); e.Class == oracle.Same {
		return nil, ErrAgree
	}
	return e, nil
}

// evidence runs inputs of every generator.
func (x *examiner) evidence(ctx context.Context, sides bothSides) ([]example, error) {
	var ex []example
	kept := map[bool]int{}
	for round := range examineRounds {
		dots := gen.Probe(x.p.spec, x.c.cfg.Seed, round, x.p.known...)
		rs, err := sides(ctx, dots)
		if devices.IsFault(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, r := range rs {
			class := oracle.Compare(x.p.spec.D, x.p.policy, r[0], r[1])
			if same := class == oracle.Same; kept[same] < evidenceKept {
				kept[same]++
				ex = append(ex, example{dot: dots[i], Sample: Sample{A: r[0], B: r[1], Class: class}})
			}
		}
	}
	return ex, nil
}
