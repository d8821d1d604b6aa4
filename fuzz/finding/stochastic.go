package finding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
)

// A unit that rounds stochastically is not compared with one answer of another unit, but judged by
// many of its own. Cases in which both sides give neighbours of the exact value are counted as
// rounded: they are no differences unless the unit has a defect. All others are examined, but a few
// answers that are the same by chance explain nothing: what explains the unit has to round as the other
// side does, as if the unit did so too, and no cause is claimed that is about rounding.

// Stochastic is what was found of a side whose answers change.
type Stochastic struct {
	Side     int                   `json:"side"`               // 0: A
	Answers  int                   `json:"answers"`            // that the judgement may take
	Found    *stochastic.Judgement `json:"found,omitempty"`    // nil: the side does not round stochastically, or Unjudged
	Unjudged stochastic.Unjudged   `json:"unjudged,omitempty"` // why it is not known whether it does
}

// judgements are how many answers a judgement may take, after so many dot products.
var judgements = []struct {
	after   uint64
	answers int
}{{1 << 15, stochastic.Most}, {1 << 14, stochastic.Most / 8}, {0, stochastic.Least}}

// judged is how many answers a judgement may take after so many dot products. The first judgement
// is made before anything is explained.
func judged(dots uint64) int {
	for _, j := range judgements {
		if dots >= j.after {
			return j.answers
		}
	}
	return 0
}

// addStochastic replaces what was found of a side before. A defect stays.
func (s *Sum) addStochastic(r Stochastic) {
	for i := range s.Stochastic {
		if s.Stochastic[i].Side == r.Side {
			if s.Stochastic[i].defect() == "" {
				s.Stochastic[i] = r
			}
			return
		}
	}
	s.Stochastic = append(s.Stochastic, r)
}

func (r Stochastic) defect() stochastic.Defect {
	if r.Found == nil {
		return ""
	}
	return r.Found.Defect
}

// RoundsStochastically reports whether a side (0: A) does.
func (s *Sum) RoundsStochastically(side int) bool {
	return slices.ContainsFunc(s.Stochastic, func(r Stochastic) bool { return r.Side == side && r.Found != nil })
}

// stochastic reports whether either side rounds so.
func (s *Sum) stochastic() bool { return s.RoundsStochastically(0) || s.RoundsStochastically(1) }

// Differences is the number of mismatches without those that come from sound stochastic rounding.
func (s *Sum) Differences() uint64 {
	if s.defective() {
		return s.Mismatches()
	}
	return s.Mismatches() - s.Rounded
}

// defective reports whether a side that rounds stochastically has a defect.
func (s *Sum) defective() bool {
	return slices.ContainsFunc(s.Stochastic, func(r Stochastic) bool { return r.defect() != "" })
}

// StochasticText says what was found of a side that rounds stochastically, or of which it is not
// known whether it does; "" of one that does not, that has repeated all of its answers, or whose answers
// depend on what was asked before.
func (st *PairState) StochasticText(r Stochastic) string {
	name := []string{st.TargetA, st.TargetB}[r.Side]
	switch {
	case r.Unjudged != "" && (st.repeats(r.Side) || st.HasHistory(r.Side)):
		return ""
	case r.Unjudged != "":
		return r.Unjudged.Text(name)
	case r.Found != nil:
		return r.Found.Text(name)
	}
	return ""
}

// repeats reports whether a side has repeated its answers wherever it is known which side has not.
func (st *PairState) repeats(side int) bool {
	changed := [2]bool{}
	for _, f := range st.Findings {
		for s, changes := range f.Sides {
			changed[s] = changed[s] || changes && f.Bucket == Unstable
		}
	}
	return !changed[side] && (st.Unstable == 0 || changed[1-side])
}

// judgeRounding judges the sides of an unstable pair by so many answers, and marks the cases that
// come from stochastic rounding.
func (x *pairTriage) judgeRounding(ctx context.Context, answers int, cases ...*Case) error {
	if !x.isUnstable() {
		return nil
	}
	x.rounding.Stochastic = append(x.rounding.Stochastic, x.st.Stochastic...)
	for side, u := range []devices.Unit{x.p.A, x.p.B} {
		if u.Model() != nil || devices.IsRecording(u) || x.judgedBefore(side, answers) {
			continue
		}
		found, err := stochastic.Judge(ctx, u, stochastic.Options{K: x.p.K, Seed: x.t.Seed, Answers: answers, Looks: len(judgements)})
		var unjudged stochastic.Unjudged
		if err != nil && !errors.As(err, &unjudged) && !devices.IsFault(err) {
			return err
		}
		r := Stochastic{side, answers, found, unjudged}
		x.d.Stochastic = append(x.d.Stochastic, r)
		x.rounding.addStochastic(r)
	}
	if !x.rounding.stochastic() {
		return nil
	}
	for _, f := range cases {
		if x.rounded(f.Start, f.sample()) {
			f.Bucket = Unstable
		}
	}
	return nil
}

func (x *pairTriage) judgedBefore(side, answers int) bool {
	for _, r := range x.rounding.Stochastic {
		if r.Side == side {
			return r.Answers >= answers || r.defect() != "" || r.Unjudged != ""
		}
	}
	return false
}

// rounded reports whether a case of sides of which one rounds stochastically differs by that alone.
func (x *pairTriage) rounded(dot *mma.Dot, s Sample) bool {
	return s.Class != oracle.Fault && stochastic.Neighbours(x.p.Spec.Formats, x.p.Policy, dot, s.A, s.B)
}

// independent are the causes that do not depend on how a finite value within the range is rounded.
var independent = []triage.Label{triage.InputFTZ, triage.Overflow, triage.LostInfinity, triage.OutputFTZ, triage.SignedZero, triage.NaNEncoding}

// distrust takes a verdict back that claims any other cause of a unit that rounds stochastically:
// it is fitted to answers that were the same by chance.
func (x *pairTriage) distrust() {
	v := x.verdict
	if v == nil || !x.rounding.stochastic() || !v.Found() && v.Defect == nil {
		return
	}
	if v.Defect == nil && !slices.ContainsFunc(v.Labels, func(l triage.Label) bool { return !slices.Contains(independent, l) }) {
		kept := *v
		kept.Alike = nil // they round otherwise
		x.verdict, x.d.Verdict = &kept, &kept
		return
	}
	x.verdict = &triage.Verdict{Program: x.p.base, K: v.K, Labels: []triage.Label{triage.Unexplained}, Differ: v.Differ, Agree: v.Agree, Kept: v.Agree, Asked: v.Asked, Spent: v.Spent, Sought: v.Sought}
	x.d.Verdict, x.defect = x.verdict, nil
}

// inRange reports whether the neighbours of a value are both numbers, so that how it is rounded says
// nothing about overflows.
func (x *pairTriage) inRange(dot *mma.Dot) bool {
	_, far, _, between := oracle.ExactDot(x.p.Spec.Formats, dot).Neighbours()
	return between && x.p.Spec.D.Get().Decode(far).Class == fp.Finite
}

// withoutChance is a runner of a unit that rounds as the base does: the base answers where the unit's
// answer is decided by its rounding. Where the two neighbours of a value are not both numbers, the
// input is replaced as harmless does.
func (x *pairTriage) withoutChance(run runner) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		base, err := sim.New(x.p.Spec.Formats, x.k, x.p.base)
		if err != nil {
			return nil, err
		}
		codes, err := run(ctx, dots)
		chance := make([]bool, len(codes))
		for i, code := range codes {
			if !x.rounded(dots[i], Sample{A: code, B: code}) {
				continue
			}
			if chance[i] = !x.inRange(dots[i]); !chance[i] {
				codes[i] = base.Dot(dots[i], nil)
			}
		}
		if good := slices.Index(chance, false); good >= 0 {
			replace(dots, codes, chance, good)
		}
		return codes, err
	}
}

// checkStochastic returns an error if a journal cannot have this of a pair.
func (p *Pair) checkStochastic(r *Stochastic) error {
	if r.Side&^1 != 0 || r.Answers < 0 {
		return fmt.Errorf("a judgement of side %d with %d answers", r.Side, r.Answers)
	}
	j := r.Found
	switch {
	case j == nil && slices.Contains([]stochastic.Unjudged{"", stochastic.Integers, stochastic.Scales, stochastic.NoInputs}, r.Unjudged):
		return nil
	case r.Unjudged != "":
		return fmt.Errorf("a side that is not judged since %q, with the judgement %v", r.Unjudged, j)
	}
	if j.Formats != p.Spec.Formats {
		return fmt.Errorf("a judgement of other formats, %+v", j.Formats)
	}
	switch j.Defect {
	case "", stochastic.Bias:
	case stochastic.Third, stochastic.Share:
		if j.Case == nil {
			return fmt.Errorf("a defect %s without an input", j.Defect)
		}
	default:
		return fmt.Errorf("there is no defect %q", j.Defect)
	}
	if !slices.Contains([]stochastic.Subnormal{"", stochastic.SubnormalSound, stochastic.SubnormalZero, stochastic.SubnormalFixed, stochastic.SubnormalDefect}, j.Low) {
		return fmt.Errorf("nothing of subnormal results is called %q", j.Low)
	}
	if c := j.Case; c != nil {
		if c.Times < 0 || c.Of < c.Times || c.Result > mask(p.Spec.D) {
			return fmt.Errorf("a result %x %d times of %d", c.Result, c.Times, c.Of)
		}
		return p.checkDot("input", c.Dot)
	}
	return nil
}
