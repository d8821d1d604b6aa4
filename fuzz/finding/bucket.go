package finding

import (
	"context"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The causes that are not differences between two programs.
var (
	unexplained = &triage.Cause{Primary: triage.Unexplained, Detail: string(triage.Unexplained)}
	nanCodes    = &triage.Cause{Primary: triage.NaNCode, Detail: string(triage.NaNCode)}
	placed      = &triage.Cause{Primary: triage.Layout, Detail: string(triage.Layout)}
	defective   = &triage.Cause{Primary: triage.Defect, Detail: string(triage.Defect)}
	faulty      = &triage.Cause{Primary: triage.Label(oracle.Fault.String()), Detail: oracle.Fault.String()}
)

// Labeller finds the causes of differing cases, many at a time. It is for one goroutine
// at a time.
type Labeller struct {
	attribution triage.Attribution
	causes      []*triage.Cause
	dot         *mma.Dot

	// Of causesOf:
	batch mma.Batch
	at    []int32
	a, b  []uint64
	class []oracle.Class
}

// Causes returns the causes that an attributor gives for cases; without one (nil) they are
// unexplained, unless there is a defect that does explain them. Differences in flags are causes by
// themselves. at lists the cases, as outputs of
// the batch; a and b are their results, class how these differ. A failure is always faulty. The
// causes are valid until the next call.
func (l *Labeller) Causes(attributor *triage.Attributor, d *Defect, in *mma.Batch, at []int32, a, b []uint64, class []oracle.Class) []*triage.Cause {
	l.causes = l.causes[:0]
	if attributor != nil {
		l.causes = append(l.causes, l.attribution.Causes(attributor, in, at, a, b)...)
	}
	for i, c := range class {
		if attributor == nil {
			l.causes = append(l.causes, unexplained)
		}
		switch {
		case c == oracle.Fault:
			l.causes[i] = faulty
		case in.D.Flags() != 0:
			l.causes[i] = triage.CauseOfFlags(fp.Flags(a[i]), fp.Flags(b[i]))
		case d != nil && d.sums == nil && l.causes[i].Primary == triage.Unexplained:
			if l.dot == nil || len(l.dot.A) != in.K {
				l.dot = mma.NewDot(in.Formats, in.K)
			}
			if in.Get(int(at[i]), l.dot); d.explains(l.dot, a[i], b[i]) {
				l.causes[i] = defective
			}
		}
	}
	if d != nil && d.sums != nil {
		d.sums.name(l.causes, in, at, a, b)
	}
	return l.causes
}

// Left is the cause with which a case is counted: where nothing else explains two NaNs, that their codes differ.
func Left(cause *triage.Cause, class oracle.Class) *triage.Cause {
	if cause.Primary == triage.Unexplained && class == oracle.NaNCode {
		return nanCodes
	}
	return cause
}

// Shown reports of each case, as Causes has them, whether the attributor's two programs reproduce it.
func (l *Labeller) Shown(attributor *triage.Attributor, in *mma.Batch, at []int32, a, b []uint64) []bool {
	return l.attribution.Shown(attributor, in, at, a, b)
}

// Digest returns a digest of output i of a batch and its results. It is 0 for cases that are
// identified well enough by their cause: all but recorded and failing ones and those without an
// explanation or that depend on what is around them.
// mark is a recorded case as one of a sample, and else nil.
func (l *Labeller) Digest(p *Pair, cause *triage.Cause, b *mma.Batch, i int32, s *Sample) (sum uint64, mark *corpus.Mark) {
	if p.Recorder == nil && s.Class != oracle.Fault && !cause.Primary.Open() && cause.Primary != triage.Layout {
		return 0, nil
	}
	l.dot = p.Fitting(l.dot)
	b.Get(int(i), l.dot)
	sum = digest(l.dot, gen.Mix(s.A^gen.Mix(s.B^gen.Mix(uint64(s.Class)))))
	if p.Recorder != nil {
		mark = &corpus.Mark{Input: uint32(digest(l.dot, 0)), Results: uint32(sum)}
	}
	return sum, mark
}

// digest returns a digest of an input that goes on from h.
func digest(d *mma.Dot, h uint64) uint64 {
	for _, codes := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range codes {
			h = gen.Mix(h + code + 0x9e3779b97f4a7c15)
		}
	}
	return h
}

// bucket puts the cases that could not be named before into buckets, and lists the
// candidates for findings.
func (x *pairTriage) bucket(ctx context.Context, rechecked []*Case) error {
	if x.attributor == nil {
		x.attributor = x.fullAttributor()
	}
	outcome, err := x.countUnnamed(ctx, rechecked)
	if err != nil {
		return err
	}
	x.offerUnstable(rechecked, outcome)
	for i, k := range x.kindsOf(rechecked) {
		// A case that does not pass this is unstable, or it was counted by its first result.
		if f := rechecked[i]; f.Bucket != Unstable && outcome.labels[f.Origin] == f.Bucket {
			x.offer(f, &k)
		}
	}
	// The first case of every new kind, which may have no case above. Unexplained cases that
	// were not rechecked are no candidates: they may be unstable or depend on their position.
	for i := range x.d.Kinds {
		k := &x.d.Kinds[i]
		offered := func(f *Case) bool { return f.Origin == k.First.CaseRef }
		if k.Primary.Open() || k.Class == oracle.Fault || slices.ContainsFunc(x.candidates, offered) {
			continue
		}
		one := x.newCases([]Sample{k.First})
		if x.isUnstable() {
			if err := x.recheck(ctx, one); err != nil {
				return err
			}
			if one[0].Bucket != outcome.labels[k.First.CaseRef] {
				continue // a later epoch may have a case that can be repeated
			}
		}
		x.offer(one[0], &x.kindsOf(one)[0])
	}
	if err := x.askKept(ctx); err != nil {
		return err
	}
	if err := x.askHistory(ctx); err != nil {
		return err
	}
	if err := x.askThere(ctx); err != nil {
		return err
	}
	return x.askPast(ctx)
}

// countUnnamed puts into buckets the cases that could not be named before the epoch had a
// verdict, except unstable ones.
func (x *pairTriage) countUnnamed(ctx context.Context, rechecked []*Case) (*confirmed, error) {
	causes := x.unnamedCauses()
	var open []Sample
	for i, cause := range causes {
		if cause.Primary == triage.Unexplained {
			open = append(open, x.d.Unnamed[i])
		}
	}
	outcome, err := x.confirm(ctx, open, rechecked)
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for i, cause := range causes {
		s := &x.d.Unnamed[i]
		if cause.Primary == triage.Unexplained {
			if outcome.rounded[s.CaseRef] {
				x.d.Unstable++
				x.d.Rounded++
				continue
			}
			switch outcome.labels[s.CaseRef] {
			case Unstable:
				x.d.Unstable++
				outcome.unstable = append(outcome.unstable, *s)
				continue
			case string(triage.Layout):
				cause = placed
			}
		}
		cause = Left(cause, s.Class)
		sum, mark := x.unnamed.Digest(x.p, cause, x.unnamed.batch, int32(i), s)
		kinds = x.p.AddCase(kinds, cause, s, sum, mark, math.MaxInt)
	}
	for i := range kinds {
		x.d.Count(&kinds[i])
	}
	return outcome, nil
}

// offer puts a case into the bucket of a kind and makes it a candidate for a finding.
func (x *pairTriage) offer(f *Case, k *Kind) {
	f.Bucket, f.Detail = string(k.Primary), k.name()
	x.candidates = append(x.candidates, f)
}

// offerUnstable makes a candidate of the pair's first case that cannot be repeated.
func (x *pairTriage) offerUnstable(rechecked []*Case, outcome *confirmed) {
	has := func(f *Case) bool { return f.Bucket == Unstable }
	if len(outcome.unstable) == 0 || slices.ContainsFunc(x.st.Findings, has) {
		return
	}
	for i, f := range rechecked {
		if f.Bucket == Unstable && outcome.labels[f.Origin] == Unstable {
			x.offer(f, &x.kindsOf(rechecked[i : i+1])[0])
			return
		}
	}
	f := x.newCase(outcome.unstable[0])
	t := outcome.trials[f.Origin] // not others, in which it may repeat itself
	f.Bucket, f.Stable, f.Of, f.Sides = Unstable, t.same, t.of, t.sides
	x.offer(f, &x.kindsOf([]*Case{f})[0])
}

// unnamed are the differing cases of the epoch that the verdict known before it does not
// name, as a batch, and what the last attributor says about them.
type unnamed struct {
	Labeller
	batch *mma.Batch
	by    *triage.Attributor // whose causes the labeller has
	with  *Defect
}

// unnamedCauses returns the causes of the differing cases of the epoch that the verdict known
// before it does not name. They are kept, because every round of refuting and the counting
// ask for them, mostly with the same attributor.
func (x *pairTriage) unnamedCauses() []*triage.Cause {
	u := &x.unnamed
	if u.batch != nil && u.by == x.attributor && u.with == x.defect {
		return u.causes
	}
	u.by, u.with = x.attributor, x.defect
	var causes []*triage.Cause
	u.batch, causes = x.causesOf(&u.Labeller, x.p.dots(x.t.Seed, x.d.Unnamed), x.d.Unnamed)
	return causes
}

// causesOf returns the causes of differing cases, and these as a batch.
func (x *pairTriage) causesOf(l *Labeller, dots []*mma.Dot, ss []Sample) (*mma.Batch, []*triage.Cause) {
	if len(dots) == 0 {
		return nil, nil
	}
	l.batch.Reset(x.p.Spec.Formats, mma.Shape{M: 1, N: 1, K: x.p.K, Tiles: len(dots)})
	l.at, l.a, l.b, l.class = l.at[:0], l.a[:0], l.b[:0], l.class[:0]
	for i := range ss {
		l.batch.Set(i, dots[i])
		l.at, l.a, l.b, l.class = append(l.at, int32(i)), append(l.a, ss[i].A), append(l.b, ss[i].B), append(l.class, ss[i].Class)
	}
	return &l.batch, l.Causes(x.attributor, x.defect, &l.batch, l.at, l.a, l.b, l.class)
}

// kindsOf returns the kind of each of some cases.
func (x *pairTriage) kindsOf(cases []*Case) []Kind {
	dots, ss := make([]*mma.Dot, len(cases)), make([]Sample, len(cases))
	for i, f := range cases {
		dots[i], ss[i] = f.Start, f.sample()
	}
	var l Labeller
	_, causes := x.causesOf(&l, dots, ss)
	kinds := make([]Kind, len(cases))
	for i, cause := range causes {
		cause = Left(cause, ss[i].Class)
		kinds[i] = Kind{Primary: cause.Primary, Detail: cause.Detail, Class: ss[i].Class}
		if label := cases[i].Bucket; label != "" {
			kinds[i].Primary, kinds[i].Detail = triage.Label(label), label
		}
	}
	return kinds
}
