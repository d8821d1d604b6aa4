package finding

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// The verdict on a pair: a change of the program of the known side that explains the other
// one on all evidence.

// EvidenceKept is the number of cases that differ, and of such that agree, which are kept as
// evidence for the verdict on a pair.
const EvidenceKept = 384

// fullAttributor returns the attributor for cases that the epoch's own one leaves unnamed,
// and for findings.
func (x *pairTriage) fullAttributor() *triage.Attributor {
	if x.p.Programs != nil && (x.verdict == nil || x.verdict.Known || !x.verdict.Found()) {
		return x.p.Programs
	}
	return x.p.attributorOf(x.verdict)
}

// keepEvidence keeps new differing cases for later, up to a limit, and reports whether it
// has kept one.
func (x *pairTriage) keepEvidence(cases []*Case, most int) bool {
	before := len(x.d.Differ)
	for _, f := range cases {
		if f.Bucket == "" && f.Class != oracle.Fault && len(x.st.Differ)+len(x.d.Differ) < most {
			x.d.Differ = append(x.d.Differ, f.sample())
		}
	}
	return len(x.d.Differ) > before
}

// explain looks for a verdict, unless there is one that holds for the new cases too.
func (x *pairTriage) explain(ctx context.Context) error {
	x.distrust()
	if x.verdict != nil && !x.verdict.Complete() && x.t.Epoch > GiveUpAfter {
		x.k = x.verdict.K
		return nil // looked for often enough
	}
	fresh := x.newCases(slices.Concat(x.d.Differ, x.d.Agree))
	if x.stillHolds(fresh) || x.stillInPart(fresh) {
		return nil
	}
	return x.explainCases(ctx, x.allEvidence())
}

// allEvidence returns all cases that a verdict has to explain, up to this epoch.
func (x *pairTriage) allEvidence() []*Case {
	return x.newCases(slices.Concat(x.st.Differ, x.d.Differ, x.st.Agree, x.d.Agree))
}

// stillHolds reports whether the verdict before the epoch, which holds for all evidence
// up to then, holds for the new evidence as well.
func (x *pairTriage) stillHolds(fresh []*Case) bool {
	if x.p.Attributor == nil || x.verdict == nil || !x.verdict.Found() || !x.verdict.Known && !x.baseHolds(x.verdict.K, fresh) {
		return false
	}
	x.k = x.verdict.K
	pr := x.unknownUnit(fresh)
	if !triage.Holds(pr, &x.verdict.Program) {
		return false
	}
	if x.attributor = x.p.Attributor; x.verdict.Known {
		x.attributor = x.p.Programs
	}
	if len(fresh) > 0 {
		x.holds(pr, x.verdict.Differ+len(pr.Differ), x.verdict.Agree+len(pr.Agree))
		x.d.Verdict = x.verdict
	}
	return true
}

// stillInPart reports whether a search that has not explained all cases need not be made again
// with new evidence: it may not take longer than before, and what has explained a part of the
// cases breaks none of the new ones.
func (x *pairTriage) stillInPart(fresh []*Case) bool {
	if x.verdict == nil || x.verdict.Complete() || x.verdict.Defect != nil || x.verdict.Sums != nil || x.due(x.usualEffort()) {
		return false
	}
	x.k = x.verdict.K
	if !x.verdict.Found() {
		return true
	}
	pr := x.unknownUnit(x.withBase(fresh))
	right := func(cases []triage.Case) int { return triage.Right(pr, &x.verdict.Program, cases) }
	if right(pr.Agree) < len(pr.Agree) {
		return false
	}
	x.verdict = withMore(*x.verdict, len(pr.Differ), right(pr.Differ), len(pr.Agree))
	x.d.Verdict = x.verdict
	return true
}

// withMore returns a verdict that explains a part of the cases with the counts of new ones, of which it breaks
// none. The nearest program is its own.
func withMore(v triage.Verdict, differ, explained, agree int) *triage.Verdict {
	v.Differ, v.Explained = v.Differ+differ, v.Explained+explained
	v.Agree, v.Kept = v.Agree+agree, v.Kept+agree
	if v.Nearest != nil {
		n := *v.Nearest
		n.Differ, n.Explained, n.Agree, n.Kept = v.Differ, v.Explained, v.Agree, v.Kept
		v.Nearest = &n
	}
	return &v
}

// explainCases looks for the verdict on some evidence.
func (x *pairTriage) explainCases(ctx context.Context, evidence []*Case) error {
	if x.verdict != nil && x.verdict.Sums != nil {
		if kept, err := x.keepSums(evidence); kept || err != nil {
			return err
		}
	}
	if x.p.baseUnit == nil && x.t.Effort >= 0 {
		if x.p.K >= longSum {
			if done, err := x.explainBySums(ctx, true); done || err != nil {
				return err
			}
		}
		if learned, err := x.inferSome(ctx); err != nil {
			return err
		} else if !learned {
			_, err := x.explainBySums(ctx, false)
			return err
		}
	}
	if done, err := x.explainByPrograms(ctx, evidence); done || err != nil || x.t.Effort < 0 {
		return err
	}
	for _, quick := range []bool{true, false} {
		if !quick && (x.searched || !x.due(x.usualEffort())) {
			break
		}
		if err := x.explainByChange(ctx, x.withBase(evidence), quick); err != nil || !x.wantsProgram() {
			return err
		}
		if onlyNaNCodes(evidence) {
			continue
		}
		learned, err := x.inferUnknown(ctx, quick)
		if err != nil {
			return err
		}
		if !learned {
			if err := x.explainBesideNearest(ctx, evidence); err != nil || !x.wantsProgram() {
				return err
			}
			continue
		}
		if done, err := x.explainByPrograms(ctx, evidence); done || err != nil {
			return err
		}
		x.attributor = x.p.Programs // which explain all but a few cases
		break
	}
	return nil
}

// onlyNaNCodes reports whether all cases that differ are two NaNs of different codes. The rest of the
// arithmetic is the known one then, and which NaN results is a single change of it, or a defect.
func onlyNaNCodes(evidence []*Case) bool {
	return !slices.ContainsFunc(evidence, func(f *Case) bool { return f.Class != oracle.Same && f.Class != oracle.NaNCode })
}

// wantsProgram reports whether neither a change of the known side's program nor a defect explains
// the other side, whose program may.
func (x *pairTriage) wantsProgram() bool {
	v := x.verdict
	return v != nil && !v.Settled() && !v.BaseFails
}

// explainByChange looks for a change of the known side's program that explains the evidence, or a
// defect. quick: what takes long is left out, since inference may find it sooner.
func (x *pairTriage) explainByChange(ctx context.Context, evidence []*Case, quick bool) error {
	x.k = x.hypothesisK(evidence)
	pr := x.unknownUnit(evidence)
	if len(pr.Differ) == 0 {
		return nil
	}
	if x.k == 0 { // the known side does not compute what its model does
		x.verdict = &triage.Verdict{Program: x.p.base, Labels: []triage.Label{triage.Unexplained}, Differ: len(pr.Differ), Agree: len(pr.Agree), BaseFails: true}
		x.d.Verdict = x.verdict
		return nil
	}
	old := x.verdict
	if x.keepsDefect(pr) {
		v := *old
		v.Differ, v.Agree, v.Kept = len(pr.Differ), len(pr.Agree), len(pr.Agree)
		x.verdict = &v
	} else if old != nil && old.Found() && triage.Holds(pr, &old.Program) {
		x.holds(pr, len(pr.Differ), len(pr.Agree))
	} else if v := x.t.Memory.Verdict(x.index, x.d.Units, len(pr.Differ)); v != nil && (quick || !v.Quick) {
		x.verdict = v
	} else {
		if pr.Effort = -1; !quick {
			pr.Effort = x.effort()
		}
		if pr.Before = x.nearestOf(x.p.unknownIsB); old != nil && old.Found() {
			pr.Before = &old.Program
		}
		v, err := x.search(ctx, pr, quick)
		if err != nil {
			return err
		}
		if v, err = x.unlessTilesRefute(ctx, evidence, v); err != nil {
			return err
		}
		if v.Quick = quick && (old == nil || old.Quick); old != nil {
			v.Sought += old.Sought
			if !v.Settled() {
				v.Refuted = cmp.Or(v.Refuted, old.Refuted)
			}
			if quick && !v.Complete() {
				v.Spent, v.Ended = old.Spent, v.Ended || old.Ended // by the last search that was wide
			}
		}
		x.t.Memory.KeepVerdict(x.index, x.d.Units, v)
		x.verdict = v
	}
	if old != nil && old.Complete() && !x.verdict.Complete() && len(x.st.Differ) >= EvidenceKept && triage.Right(pr, &old.Program, pr.Agree) == len(pr.Agree) {
		x.verdict = old // it explains all but a few cases, which nothing explains
	}
	x.d.Verdict, x.defect = x.verdict, x.p.defectOf(x.verdict)
	x.distrust()
	x.attributor = x.fullAttributor()
	return nil
}

// The limits of the searches of a pair together, in millions of dot products of models.
const (
	freeEffort   = 10 // with what is not counted about ten seconds, in which one processor is busy and often two
	effortPerDot = 2  // the same for a million dot products compared: no unit in another process answers more in the time
	longerEffort = 4  // how many times the effort of a search that found nothing another one must have
	searchAlways = 4  // about what a long search for a verdict takes beside its effort
	inferAlways  = 4  // about what an inference that finds nothing takes beside its effort
	inferBriefly = 1  // the same of a brief one
	twoUnknown   = 3  // what a pair may take in addition if neither side had a model, and one was inferred
)

// effort returns how long a search for a verdict may take: the longer the more has been
// compared, so that a short campaign is not held up. It is made at most once in an epoch, and
// after a search that found nothing only if it may take much longer.
func (x *pairTriage) effort() int {
	e := x.usualEffort()
	if x.searched || !x.due(e) {
		return -1
	}
	x.searched = true
	return e
}

// due reports whether a search of an effort is worth while.
func (x *pairTriage) due(e int) bool {
	old := x.verdict
	return e > 0 && (old == nil || old.Quick || old.Complete() || old.Spent > 0 && e >= longerEffort*old.Spent)
}

// usualEffort is the effort of a search, in millions of dot products, which grows with the campaign
// and is limited by what searches have spent before.
func (x *pairTriage) usualEffort() int {
	const dotsPerMillion = 2048
	return min(triage.DefaultEffort, 1+int((x.st.Dots+x.d.Dots)/dotsPerMillion), x.left()-x.always(searchAlways))
}

// always is what a search takes beside its effort, if the limit is not somebody's own, who means the
// effort alone.
func (x *pairTriage) always(n int) int {
	if x.t.Effort > 0 {
		return 0
	}
	return n
}

// left is the effort that is left for all searches of the pair.
func (x *pairTriage) left() int {
	most := cmp.Or(x.t.Effort, freeEffort)
	if x.t.Effort == 0 && x.oneInferred() {
		most += twoUnknown // the inferences have taken a part of the rest
	}
	return most + int(effortPerDot*(x.st.Dots+x.d.Dots)/million) - x.spent()
}

// oneInferred reports whether the program of a side was inferred.
func (x *pairTriage) oneInferred() bool {
	return slices.ContainsFunc(slices.Concat(x.st.Inferred, x.d.Inferred), func(r Inferred) bool { return r.Params != nil })
}

// perK is the effort that an inference of a number of dot products of 16 products of FP16 is, if they
// have as many as those of the pair, and are as wide: programs of wide operands multiply parts of them.
func (x *pairTriage) perK(dots int) int { return max(1, dots*(16+x.p.K)/32*x.wide()) }

// wide is how many times as long programs for the operands of the pair take as those for 16 bits.
func (x *pairTriage) wide() int {
	switch w := x.p.Spec.A.Get().Bits(); {
	case w > 32:
		return 4
	case w > 19: // the bits of TF32
		return 2
	}
	return 1
}

// spent is about what the searches of the pair have taken. Each search for a verdict took several
// times as long as the one before.
func (x *pairTriage) spent() int {
	n := 0
	if x.verdict != nil {
		n = x.verdict.Spent*(longerEffort+1)/longerEffort + x.verdict.Sought
	}
	for _, r := range slices.Concat(x.st.Inferred, x.d.Inferred) {
		switch {
		case r.Params != nil:
		case r.Brief:
			n += x.perK(r.Effort + inferBriefly)
		default:
			n += x.perK(r.Effort + inferAlways)
		}
	}
	return n
}

// explainByPrograms takes the verdict from the programs of two sides that are known. It
// reports whether they explain the evidence.
func (x *pairTriage) explainByPrograms(ctx context.Context, evidence []*Case) (bool, error) {
	if x.p.Programs == nil {
		return false, nil
	}
	x.k = x.p.otherK
	pr := x.unknownUnit(evidence)
	if len(pr.Differ) == 0 {
		return true, nil
	}
	if devices.IsRecording(x.p.baseUnit) && !x.baseHolds(x.p.baseK, evidence) {
		return false, nil
	}
	v := triage.ExplainKnown(pr, x.p.other)
	if v == nil {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err // with long dot products the next step takes seconds
	}
	v.Idle = x.p.Programs.Idle(pr.Seed)
	if x.p.unknown.Model() == nil { // its program was found, and may not be the only one
		triage.FindEquivalent(pr, v)
	}
	x.verdict, x.d.Verdict, x.attributor = v, v, x.p.Programs
	return true, nil
}

// holds updates the numbers of cases in a verdict that holds for all new ones.
func (x *pairTriage) holds(pr *triage.Unknown, differ, agree int) {
	v := *x.verdict
	v.K = pr.K
	v.Alike = triage.StillAlike(pr, &v)
	triage.StillEquivalent(pr, &v)
	v.Explained += differ - v.Differ
	v.Differ, v.Agree, v.Kept = differ, agree, agree
	x.verdict = &v
}

// unknownUnit returns the unit that is to be explained, with the evidence.
func (x *pairTriage) unknownUnit(evidence []*Case) *triage.Unknown {
	pr := &triage.Unknown{Formats: x.p.Spec.Formats, K: x.k, Base: x.p.base, Policy: x.p.policy(), Seed: x.t.Seed, Length: x.p.K, Questions: infer.Questions}
	pr.Brief = x.t.Effort > 0 && x.t.Effort < freeEffort
	for _, f := range evidence {
		if f.Class == oracle.NaNCode && x.p.byClass {
			continue // nothing is known of the codes
		}
		want, base := x.p.want(f)
		c := triage.Case{Dot: f.Start, Want: want}
		byChance := x.rounding.stochastic() && x.rounded(f.Start, f.sample())
		if byChance {
			if !x.inRange(f.Start) {
				continue
			}
			c.Want = base
		}
		if f.Class == oracle.Same || byChance {
			pr.Agree = append(pr.Agree, c)
		} else {
			pr.Differ = append(pr.Differ, c)
		}
	}
	if x.t.Searching != nil {
		pr.Progress = func(p triage.Progress) {
			if p.Most > 0 {
				x.say(fmt.Sprintf("looking for what explains %s: %d %% of the effort", x.p.Name(), 100*p.Computed/p.Most))
			}
		}
	}
	if !devices.IsRecording(x.p.unknown) {
		pr.Ask = harmless(dotRunner(x.p.unknown, x.p.Spec.Formats))
		if x.isUnstable() {
			pr.Ask = steady(pr.Ask, x.p.Equal)
		}
		if x.rounding.stochastic() {
			pr.Ask = x.withoutChance(pr.Ask)
		}
	}
	return pr
}

// GiveUpAfter is the epoch after which no verdict is looked for any more.
const GiveUpAfter = 6

// hypothesisK returns the K with which hypotheses are run: that of the unknown unit if the
// known program gives the known side's results with that K too, else the known side's K; 0
// if it gives them with neither.
func (x *pairTriage) hypothesisK(evidence []*Case) int {
	for _, k := range []int{x.p.unknown.Instruction().K, x.p.baseUnit.Instruction().K} {
		if x.baseHolds(k, evidence) {
			return k
		}
	}
	return 0
}

// baseHolds reports whether the known program gives the known side's results with K = k.
func (x *pairTriage) baseHolds(k int, evidence []*Case) bool {
	m, err := sim.New(x.p.Spec.Formats, k, x.p.base)
	return err == nil && !slices.ContainsFunc(evidence, func(f *Case) bool {
		_, base := x.p.want(f)
		return oracle.Compare(x.p.Spec.D, x.p.policy(), m.Dot(f.Start, nil), base) != oracle.Same
	})
}
