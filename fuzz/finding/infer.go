package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// Where nothing is known of either side, so that no program could be changed to explain the other,
// both are inferred. Their programs are then compared as those of two models are.

// The limits of the inferences of a comparison, which depend on no clock: the same seed finds the
// same programs.
const (
	inferEffort = 8    // millions of dot products of models, for each side
	inferChecks = 1000 // inputs of each generator on which a program is validated
	inferRounds = 3    // rounds of inputs among which the sides must differ
)

// Inferred is what inference has found of a side.
type Inferred struct {
	Target     string        `json:"target"`
	Verdict    infer.Verdict `json:"verdict"`
	Arithmetic string        `json:"arithmetic,omitempty"` // the program in words, if it was found
	Tested     int           `json:"tested,omitempty"`     // inputs on which it was compared with the unit: none differs
}

// InferSides looks for the programs of both sides of a pair of which nothing is known, and puts what
// it finds into the pair. It does nothing if the sides agree on a few inputs. doing, if not nil, is
// told whose program is looked for.
func InferSides(ctx context.Context, p *devices.Pair, policy oracle.Policy, seed uint64, workers int, doing func(target string)) ([]Inferred, error) {
	unknown := func(u devices.Unit) bool {
		return Believed(u) == nil && !devices.IsRecording(u) && u.Instruction().K <= mma.MaxK
	}
	if !unknown(p.A) || !unknown(p.B) || p.Formats().Validate() != nil {
		return nil, nil
	}
	if differ, err := differSoon(ctx, p, policy, seed); !differ || err != nil {
		return nil, err
	}
	var all []Inferred
	for _, side := range []struct {
		target string
		unit   devices.Unit
		found  **mma.Params
	}{{p.TargetA, p.A, &p.ProgramA}, {p.TargetB, p.B, &p.ProgramB}} {
		if doing != nil {
			doing(side.target)
		}
		r, err := infer.Infer(ctx, side.unit, infer.Options{Seed: seed, Checks: inferChecks, Effort: inferEffort, Policy: policy, Workers: workers})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // a unit that has stopped answering, which the campaign will say, too
			return all, nil
		}
		x := Inferred{Target: side.target, Verdict: r.Verdict}
		if r.Verdict == infer.Found {
			*side.found, x.Arithmetic = &r.Params, inWords(&r.Params)
			for _, c := range r.Classes {
				x.Tested += c.Asked
			}
		}
		all = append(all, x)
	}
	return all, nil
}

// inWords names a program: as an arithmetic with changes, or by all parameters that are not the
// default.
func inWords(p *mma.Params) string {
	if s := p.String(); s != "custom" {
		return s
	}
	return "a program with " + mma.Brief(mma.Diff(&mma.Params{}, p))
}

// differSoon reports whether two units differ on one of a few inputs of every generator. A unit
// that fails on them is left to the campaign.
func differSoon(ctx context.Context, p *devices.Pair, policy oracle.Policy, seed uint64) (bool, error) {
	f := p.Formats()
	sides := together(dotRunner(p.A, f), dotRunner(p.B, f))
	for round := range inferRounds {
		dots := gen.Probe(gen.Spec{Formats: f, K: p.K}, seed, round)
		if len(dots) == 0 {
			break
		}
		results, err := sides(ctx, dots)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			return false, nil
		}
		for _, r := range results {
			if oracle.Compare(f.D, policy, r[0], r[1]) != oracle.Same {
				return true, nil
			}
		}
	}
	return false, nil
}
