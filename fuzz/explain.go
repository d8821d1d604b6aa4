package fuzz

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// triageAll puts the new differing cases of every pair into buckets, looks for
// explanations where there is none yet that holds, and shrinks a case of each
// new bucket.
func (c *Campaign) triageAll(ctx context.Context, e *epoch) error {
	c.triaging.Store(true)
	defer c.triaging.Store(false)
	for _, b := range c.boxes {
		b.begin()
	}
	errs := make([]error, len(c.pairs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range c.worker {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(c.pairs) || ctx.Err() != nil {
					return
				}
				errs[i] = c.triagePart(ctx, e, i)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(append(errs, c.saving.failed())...)
}

// triagePart does the triage of a pair, unless an earlier run has.
func (c *Campaign) triagePart(ctx context.Context, e *epoch, i int) error {
	d := &e.d.Pairs[i]
	if have := c.saving.done(i, d); have != nil {
		*d = *have
		e.triaged[i], e.resumed[i] = true, true
		return nil
	}
	if len(d.differ) > 0 {
		if err := c.triagePair(ctx, i, d, e.pairs[i].chunks); err != nil {
			return err
		}
		c.saving.addDone(i, d)
	}
	e.triaged[i] = true
	return nil
}

// examiner is the triage of one pair in one epoch.
type examiner struct {
	c     *Campaign
	index int
	p     *pairRun
	st    *PairState
	d     *pairDelta

	chunks       []*chunk // of the epoch; none in Examine
	batchMatters bool     // a case repeats itself in its batch and not in its tile

	k int // of the instruction, for hypotheses

	verdict *triage.Verdict
	namer   *triage.Namer
	labels  labeller
}

// example is a sample with its operands.
type example struct {
	Sample
	dot   *mma.Dot
	label string // layout or unstable, if it is that
	place string // what of its tile a layout finding needs

	same, of int // repetitions that gave the same, of how many
}

func (c *Campaign) triagePair(ctx context.Context, i int, d *pairDelta, chunks []*chunk) error {
	x := &examiner{c: c, index: i, p: c.pairs[i], st: c.state.Pairs[i], d: d, chunks: chunks, verdict: c.state.Pairs[i].Verdict}
	fresh := x.examples(d.differ)
	if err := x.repeat(ctx, fresh); err != nil {
		return err
	}
	if err := x.checkAgree(ctx); err != nil {
		return err
	}
	x.keepEvidence(fresh)
	if err := x.explain(ctx); err != nil {
		return err
	}
	return x.bucket(ctx, fresh)
}

// chooseSides decides which side's program hypotheses start from: a simulator's,
// A's if both are, or what is believed of a black box.
func (p *pairRun) chooseSides() {
	a, b := believed(p.A), believed(p.B)
	switch {
	case p.A.Known() != nil || a != nil && p.B.Known() == nil:
		p.base, p.baseUnit, p.box, p.boxIsB = *a, p.A, p.B, true
	case b != nil:
		p.base, p.baseUnit, p.box = *b, p.B, p.A
	}
}

// newNamer returns the namer of a verdict, nil if there is none that was found.
func (p *pairRun) newNamer(v *triage.Verdict) *triage.Namer {
	if v == nil || !v.Found() {
		return nil
	}
	return triage.NewNamer(&triage.Problem{Formats: p.spec.Formats, K: v.K, Base: p.base, Policy: p.policy}, v)
}

// rename makes the namer that of a verdict.
func (p *pairRun) rename(v *triage.Verdict) {
	if p.namer != nil && v != nil && v.Program == p.named {
		return
	}
	if p.namer = p.newNamer(v); p.namer != nil {
		p.named = v.Program
	}
}

// want returns the result of the side that is to be explained, and the other's.
func (p *pairRun) want(s *Sample) (box, base uint64) {
	if p.boxIsB {
		return s.B, s.A
	}
	return s.A, s.B
}

// examples fetches the operands of samples.
func (x *examiner) examples(samples []Sample) []example {
	out := make([]example, len(samples))
	for i, s := range samples {
		out[i] = example{Sample: s, dot: x.c.dot(x.p, s.CaseRef)}
	}
	return out
}

// dot returns the operands of a case.
func (c *Campaign) dot(p *pairRun, ref CaseRef) *mma.Dot {
	if ref.Source == recordedSource {
		b := mma.NewBatch(p.spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
		_ = p.recorder.Load(int(ref.Index), b, make([]byte, p.spec.D.Width())) // the operands are there in any case
		d := mma.NewDot(p.spec.Formats, p.K)
		b.Get(0, d)
		return d
	}
	src, err := gen.ParseSource(ref.Source)
	if err != nil {
		panic("fuzz: " + err.Error()) // the names are our own
	}
	return src.Dot(p.spec, c.cfg.Seed, ref.Index)
}

// place looks at a case that gives other results alone than in its tile. If its
// tile, or its position in one of zeros, is needed to show a difference, the
// layout matters; else the results that it gives alone are the ones to explain.
func (x *examiner) place(ctx context.Context, e *example, alone [2]uint64) error {
	src, err := gen.ParseSource(e.Source)
	if err != nil {
		return err
	}
	tile, output := src.Tile(x.p.spec, x.c.cfg.Seed, e.Index)
	where, err := minimize.Tile(ctx, tile, 0, output, x.differs)
	if err != nil {
		return err
	}
	if where <= minimize.Corner {
		e.A, e.B = alone[0], alone[1]
		e.Class = oracle.Compare(x.p.spec.D, x.p.policy, e.A, e.B)
		if e.Class != oracle.Same {
			return nil
		}
	}
	e.label, e.place = string(triage.Layout), where.String()
	return nil
}

// differs runs one tile and says whether the two sides differ in an output. They
// do not where one fails.
func (x *examiner) differs(ctx context.Context, b *mma.Batch, output int) (bool, error) {
	w := x.p.spec.D.Width()
	a, o := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
	err := x.p.A.Run(ctx, b, a)
	if err == nil {
		err = x.p.B.Run(ctx, b, o)
	}
	if devices.IsFault(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return oracle.Compare(x.p.spec.D, x.p.policy, mma.Load(a, w, output), mma.Load(o, w, output)) != oracle.Same, nil
}

// runDots runs dot products, each in a tile of its own.
func runDots(ctx context.Context, u devices.Unit, f mma.Formats, dots []*mma.Dot) ([]uint64, error) {
	b := triage.Batch(f, dots)
	w := f.D.Width()
	out := make([]byte, len(dots)*w)
	if err := u.Run(ctx, b, out); err != nil {
		return nil, err
	}
	codes := make([]uint64, len(dots))
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes, nil
}

// keepEvidence keeps new differing cases for later, up to a limit.
func (x *examiner) keepEvidence(fresh []example) {
	for _, e := range fresh {
		if e.label == "" && e.Class != oracle.Fault && len(x.st.Differ)+len(x.d.Differ) < evidenceKept {
			x.d.Differ = append(x.d.Differ, e.Sample)
		}
	}
}

// explain makes sure that there is a verdict and that it holds for the new
// cases.
func (x *examiner) explain(ctx context.Context) error {
	if x.verdict != nil && !x.verdict.Found() && x.c.state.Epochs > giveUpAfter {
		return nil // looked for often enough
	}
	if x.stillHolds(x.examples(slices.Concat(x.d.Differ, x.d.Agree))) {
		return nil
	}
	samples := slices.Concat(x.st.Differ, x.d.Differ, x.st.Agree, x.d.Agree)
	return x.explainExamples(ctx, x.examples(samples))
}

// stillHolds says whether the verdict before the epoch, which holds for all evidence
// up to then, holds for the new evidence as well.
func (x *examiner) stillHolds(fresh []example) bool {
	if x.p.namer == nil || !x.baseHolds(x.verdict.K, fresh) {
		return false
	}
	x.k = x.verdict.K
	pr := x.problem(fresh)
	if !triage.Holds(pr, &x.verdict.Program) {
		return false
	}
	x.namer = x.p.namer
	if len(fresh) > 0 {
		x.holds(pr, x.verdict.Differ+len(pr.Differ), x.verdict.Agree+len(pr.Agree))
		x.d.Verdict = x.verdict
	}
	return true
}

// explainExamples does that with the given evidence.
func (x *examiner) explainExamples(ctx context.Context, ex []example) error {
	if x.p.baseUnit == nil {
		return nil
	}
	x.k = x.hypothesisK(ex)
	pr := x.problem(ex)
	if len(pr.Differ) == 0 {
		return nil
	}
	if x.k == 0 { // what is believed of the known side is wrong itself
		x.verdict = &triage.Verdict{Program: x.p.base, Labels: []triage.Label{triage.Unexplained}, Differ: len(pr.Differ), Agree: len(pr.Agree), BaseFails: true}
		x.d.Verdict = x.verdict
		return nil
	}
	if x.verdict != nil && x.verdict.Found() && triage.Holds(pr, &x.verdict.Program) {
		x.holds(pr, len(pr.Differ), len(pr.Agree))
	} else if v := x.recordedVerdict(pr); v != nil {
		x.verdict = v
	} else if v := x.c.saving.verdict(x.index, x.d.Chunks); v != nil {
		x.verdict = v
	} else {
		v, err := triage.Explain(ctx, pr)
		if err != nil {
			return err
		}
		x.c.saving.addVerdict(x.index, x.d.Chunks, v)
		x.verdict = v
	}
	x.d.Verdict = x.verdict
	if x.verdict.Found() {
		x.namer = triage.NewNamer(pr, x.verdict)
	}
	return nil
}

// holds says in the verdict for how many cases it holds, some of them those of a
// problem.
func (x *examiner) holds(pr *triage.Problem, differ, agree int) {
	v := *x.verdict
	v.Alike = triage.StillAlike(pr, &v)
	v.Differ, v.Explained, v.Agree, v.Kept = differ, differ, agree, agree
	x.verdict = &v
}

// recordedVerdict is that of a recording whose program is known: nothing is left to
// search for. nil if it is not, or does not run with the K of hypotheses.
func (x *examiner) recordedVerdict(pr *triage.Problem) *triage.Verdict {
	box, ok := x.p.box.(devices.Explained)
	if !ok || !box.Explained() {
		return nil
	}
	p := box.Instruction().Params
	if !triage.Holds(pr, &p) {
		return nil
	}
	return &triage.Verdict{Changes: mma.Diff(&x.p.base, &p), Program: p, K: x.k, Labels: triage.LabelsOf(&x.p.base, &p),
		Differ: len(pr.Differ), Explained: len(pr.Differ), Agree: len(pr.Agree), Kept: len(pr.Agree)}
}

// problem states the question for triage.
func (x *examiner) problem(ex []example) *triage.Problem {
	pr := &triage.Problem{Formats: x.p.spec.Formats, K: x.k, Base: x.p.base, Policy: x.p.policy}
	for i := range ex {
		box, _ := x.p.want(&ex[i].Sample)
		c := triage.Case{Dot: ex[i].dot, Want: box}
		if ex[i].Class == oracle.Same {
			pr.Agree = append(pr.Agree, c)
		} else {
			pr.Differ = append(pr.Differ, c)
		}
	}
	if !recorded(x.p.box) {
		pr.Ask = harmless(dotRunner(x.p.box, x.p.spec.Formats))
		if x.isOdd() {
			pr.Ask = steady(pr.Ask)
		}
	}
	pr.Inputs = func(round int, ps ...*mma.Params) []*mma.Dot {
		return gen.Probe(x.p.spec, x.c.cfg.Seed, round, ps...)
	}
	return pr
}

// giveUpAfter is the epoch after which an unexplained pair is not looked into
// again.
const giveUpAfter = 6

// hypothesisK returns the K with which hypotheses are run: that of the unit to
// be explained, if the known program gives the known side's results with it too,
// else the known side's own; 0 if that does not either.
func (x *examiner) hypothesisK(ex []example) int {
	for _, k := range []int{x.p.box.Instruction().K, x.p.baseUnit.Instruction().K} {
		if x.baseHolds(k, ex) {
			return k
		}
	}
	return 0
}

// baseHolds says whether the known program gives the known side's results with K = k.
func (x *examiner) baseHolds(k int, ex []example) bool {
	m, err := sim.New(x.p.spec.Formats, k, x.p.base)
	return err == nil && !slices.ContainsFunc(ex, func(e example) bool {
		_, base := x.p.want(&e.Sample)
		return oracle.Compare(x.p.spec.D, x.p.policy, m.Dot(e.dot, nil), base) != oracle.Same
	})
}

// bucket puts the cases that could not be named before into buckets, and shrinks
// one case of each bucket that is new.
func (x *examiner) bucket(ctx context.Context, fresh []example) error {
	if x.namer == nil {
		x.namer = x.p.newNamer(x.verdict)
	}
	again, err := x.countUnnamed(ctx, fresh)
	if err != nil {
		return err
	}
	kept := map[string]int{}
	for _, f := range x.st.Findings {
		kept[f.Bucket]++
	}
	if err := x.keepUnstable(ctx, fresh, again, kept); err != nil {
		return err
	}
	for i, name := range x.bucketsOf(fresh) {
		e := &fresh[i]
		if e.label == Unstable || again.labels[e.CaseRef] != e.label {
			continue // it changes, or it is counted as what its first result was
		}
		if err := x.keep(ctx, e, name, kept); err != nil {
			return err
		}
	}
	// Buckets of which the few cases above had none.
	for _, name := range x.d.named {
		s := x.d.first[name]
		if x.namer == nil || kept[name] > 0 {
			continue
		}
		e := x.examples([]Sample{s})
		if x.isOdd() {
			if err := x.repeat(ctx, e); err != nil {
				return err
			}
			if e[0].label != again.labels[s.CaseRef] {
				continue // another epoch has one that repeats itself
			}
		}
		if err := x.keep(ctx, &e[0], x.bucketsOf(e)[0], kept); err != nil {
			return err
		}
	}
	return nil
}

// countUnnamed puts the cases that no verdict before the epoch names into buckets, but
// for those that do not repeat themselves.
func (x *examiner) countUnnamed(ctx context.Context, fresh []example) (*settled, error) {
	dots := make([]*mma.Dot, len(x.d.unnamed))
	for i := range dots {
		dots[i] = x.c.dot(x.p, x.d.unnamed[i].CaseRef)
	}
	batch, labels := x.labelsOf(dots, x.d.unnamed)
	labels = slices.Clone(labels)
	var open []Sample
	for i, label := range labels {
		if unexplained(label) {
			open = append(open, x.d.unnamed[i])
		}
	}
	again, err := x.settle(ctx, open, fresh)
	if err != nil {
		return nil, err
	}
	var t tally
	for i, label := range labels {
		s := &x.d.unnamed[i]
		if unexplained(label) {
			switch other := again.labels[s.CaseRef]; other {
			case "":
			case Unstable:
				x.d.Unstable++
				again.unstable = append(again.unstable, *s)
				continue
			default:
				label = other
			}
		}
		t.add(x.p, label, s, x.labels.digest(x.p, label, batch, int32(i), s))
	}
	for i := range t.buckets {
		x.d.count(&t.buckets[i])
	}
	return again, nil
}

// keepUnstable makes a finding of the pair's first case that does not repeat itself.
func (x *examiner) keepUnstable(ctx context.Context, fresh []example, again *settled, kept map[string]int) error {
	if len(again.unstable) == 0 || kept[Unstable] > 0 {
		return nil
	}
	for i := range fresh {
		if fresh[i].label == Unstable && again.labels[fresh[i].CaseRef] == Unstable {
			return x.keep(ctx, &fresh[i], Unstable, kept)
		}
	}
	e := x.examples(again.unstable[:1])
	t, err := x.inTile(ctx, &e[0])
	if err != nil && !devices.IsFault(err) {
		return err
	}
	e[0].label, e[0].same, e[0].of = Unstable, t.same, t.of
	return x.keep(ctx, &e[0], Unstable, kept)
}

// labelsOf labels differing cases and returns them as a batch, too.
func (x *examiner) labelsOf(dots []*mma.Dot, ss []Sample) (*mma.Batch, []string) {
	if len(dots) == 0 {
		return nil, nil
	}
	at, want, class := make([]int32, len(ss)), make([]uint64, len(ss)), make([]oracle.Class, len(ss))
	for i := range ss {
		at[i], class[i] = int32(i), ss[i].Class
		want[i], _ = x.p.want(&ss[i])
	}
	b := triage.Batch(x.p.spec.Formats, dots)
	return b, x.labels.of(x.namer, b, at, want, class)
}

// keep makes a finding of a case, unless its bucket has enough of them.
func (x *examiner) keep(ctx context.Context, e *example, name string, kept map[string]int) error {
	if kept[name] >= x.c.cfg.PerBucket || x.c.cfg.Keep != nil && !x.c.cfg.Keep(x.index, name, x.verdict) {
		return nil
	}
	f, err := x.finding(ctx, e, name, kept[name]+1)
	if errors.Is(err, minimize.ErrStart) {
		x.d.Odd = true // asked again, it is another case
		return nil
	}
	if err == nil {
		kept[name]++
		x.d.Findings = append(x.d.Findings, f)
	}
	return err
}

// bucketsOf names the buckets of differing cases that were run again.
func (x *examiner) bucketsOf(ex []example) []string {
	dots, ss := make([]*mma.Dot, len(ex)), make([]Sample, len(ex))
	for i := range ex {
		dots[i], ss[i] = ex[i].dot, ex[i].Sample
	}
	names := x.namesOf(dots, ss)
	for i := range ex {
		if ex[i].label != "" {
			names[i] = bucketName(ex[i].label, ex[i].Class)
		}
	}
	return names
}

// namesOf names the buckets of differing cases.
func (x *examiner) namesOf(dots []*mma.Dot, ss []Sample) []string {
	names := make([]string, len(dots))
	_, labels := x.labelsOf(dots, ss)
	for i, label := range labels {
		names[i] = bucketName(label, ss[i].Class)
	}
	return names
}
