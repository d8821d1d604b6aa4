package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Some of the cases that a verdict does not explain become evidence for another one.
const (
	refutingPerRound = 8
	refutingRounds   = 3  // in an epoch
	RefutingKept     = 64 // of a pair, in addition to EvidenceKept
)

// refute tries a verdict on all cases of the epoch: some that it does not explain become
// evidence, and another verdict replaces it if that explains these too. It returns the
// rechecked cases, including those that it has rechecked itself.
func (x *pairTriage) refute(ctx context.Context, cases []*Case) ([]*Case, error) {
	for range refutingRounds {
		more := x.newCases(x.refuting(cases))
		if err := x.recheck(ctx, more); err != nil {
			return nil, err
		}
		cases = append(cases, more...)
		if !x.keepEvidence(more, EvidenceKept+RefutingKept) {
			break
		}
		verdict, attributor := x.verdict, x.attributor
		if err := x.explainCases(ctx, x.allEvidence()); err != nil {
			return nil, err
		}
		if !x.verdict.Settled() && verdict.Defect == nil { // but the verdict explains nearly all cases
			x.verdict, x.d.Verdict, x.attributor = verdict, verdict, attributor
			break
		}
	}
	x.dropDefect(cases)
	return cases, nil
}

// dropDefect takes a defect back that a case contradicts which repeats itself.
func (x *pairTriage) dropDefect(cases []*Case) {
	if x.defect == nil {
		return
	}
	if x.defect.sums != nil {
		return // what they do not explain is unexplained
	}
	for i, k := range x.kindsOf(cases) {
		if k.Primary.Open() && x.contradicts(cases[i].Class) {
			v := withoutDefect(*x.verdict, x.p.base)
			x.verdict, x.d.Verdict, x.defect = &v, &v, nil
			x.attributor = x.fullAttributor()
			return
		}
	}
}

// contradicts reports whether a case of a class that a verdict does not explain contradicts it. Two NaNs of
// different codes say nothing about a program that was inferred by class, nor about a defect that makes NaNs of
// numbers: see defectPolicy.
func (x *pairTriage) contradicts(c oracle.Class) bool {
	return c != oracle.Fault && (c != oracle.NaNCode || !x.p.byClass && (x.defect == nil || !slices.ContainsFunc(slices.Concat(x.st.Differ, x.d.Differ), func(s Sample) bool { return s.Class == oracle.NaN })))
}

// withoutDefect returns a verdict without its defect. A program that new inputs had contradicted but
// for the defect (triage.Verdict.Seldom), of which there is no witness, goes with it.
func withoutDefect(v triage.Verdict, base mma.Params) triage.Verdict {
	v.Refuted, v.Defect, v.Labels = v.Defect.String(), nil, []triage.Label{triage.Unexplained}
	if v.Nearest != nil && v.Nearest.Witness.Dot == nil {
		v.Program, v.Changes, v.Explained, v.Partial, v.Nearest = base, nil, 0, false, nil
	}
	return v
}

// refuting returns a few cases that a verdict or a defect which explains all evidence does not, other than some.
// Without them a program that is wrong in one case of a thousand would be kept, since the
// samples seldom have such a case.
func (x *pairTriage) refuting(but []*Case) []Sample {
	if x.defect == nil && (x.attributor == nil || x.verdict == nil || !x.verdict.Complete()) {
		return nil
	}
	byChance := func(s *Sample) bool {
		return x.rounding.stochastic() && x.rounded(x.p.Dot(x.t.Seed, s.CaseRef), *s)
	}
	var ss []Sample
	for i, cause := range x.unnamedCauses() {
		s := &x.d.Unnamed[i]
		known := func(f *Case) bool { return f.Origin == s.CaseRef }
		if cause.Primary == triage.Unexplained && x.contradicts(s.Class) && !slices.ContainsFunc(but, known) && !byChance(s) {
			if ss = append(ss, *s); len(ss) == refutingPerRound {
				break
			}
		}
	}
	return ss
}
