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
// explanations where there is none yet that holds, and shrinks some cases of what is new.
func (c *Campaign) triageAll(ctx context.Context, e *epoch) error {
	c.triaging.Store(true)
	defer c.triaging.Store(false)
	for _, b := range c.boxes {
		b.begin()
	}
	xs := make([]*examiner, len(c.pairs))
	err := c.parallel(ctx, len(c.pairs), func(i int) (err error) {
		if d := &e.d.Pairs[i]; len(d.differ) > 0 {
			xs[i], err = c.triagePair(ctx, i, d, e.pairs[i].chunks)
		}
		e.triaged[i] = err == nil
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(c.shrinkChosen(ctx, e, c.choose(xs)), c.saving.failed())
}

// shrinkChosen makes findings of candidates. One that is no longer the case that it was
// when it is asked again makes its pair odd.
func (c *Campaign) shrinkChosen(ctx context.Context, e *epoch, chosen []*candidate) error {
	findings := make([]*Finding, len(chosen))
	resumed := make([]bool, len(chosen))
	err := c.parallel(ctx, len(chosen), func(i int) (err error) {
		cd := chosen[i]
		if findings[i] = c.saving.finding(cd); findings[i] != nil {
			resumed[i] = true
			return nil
		}
		f, err := cd.x.finding(ctx, &cd.example, cd.detail, cd.number)
		if errors.Is(err, minimize.ErrStart) {
			return nil
		}
		if err == nil {
			findings[i] = f
			c.saving.addFinding(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range findings {
		if d := chosen[i].x.d; f == nil {
			d.Odd = true
		} else {
			d.Findings = append(d.Findings, f)
			e.resumed[f] = resumed[i]
		}
	}
	return nil
}

// parallel calls do for 0..n-1 on the campaign's workers, in any order, and returns the
// errors.
func (c *Campaign) parallel(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range c.worker {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// examiner is the triage of one pair in one epoch. Cases are shrunk by several goroutines,
// everything else is for one.
type examiner struct {
	c     *Campaign
	index int
	p     *pairRun
	st    *PairState
	d     *pairDelta

	chunks       []*chunk // of the epoch; none in Examine
	batchMatters bool     // a case repeats itself in its batch and not in its tile

	k int // of the instruction, for hypotheses

	verdict    *triage.Verdict
	namer      *triage.Namer
	candidates []candidate // of which findings may be made
}

// example is a sample with its operands.
type example struct {
	Sample
	dot   *mma.Dot
	label string // layout or unstable, if it is that
	place string // what of its tile a layout finding needs

	same, of int // repetitions that gave the same, of how many
}

func (c *Campaign) triagePair(ctx context.Context, i int, d *pairDelta, chunks []*chunk) (*examiner, error) {
	x := &examiner{c: c, index: i, p: c.pairs[i], st: c.state.Pairs[i], d: d, chunks: chunks, verdict: c.state.Pairs[i].Verdict}
	fresh := x.examples(d.differ)
	if err := x.repeat(ctx, fresh); err != nil {
		return nil, err
	}
	if err := x.checkAgree(ctx); err != nil {
		return nil, err
	}
	x.keepEvidence(fresh)
	if err := x.explain(ctx); err != nil {
		return nil, err
	}
	return x, x.bucket(ctx, fresh)
}

// chooseSides decides which side's program hypotheses start from: a simulator's,
// A's if both are, or what is believed of a black box.
func (p *pairRun) chooseSides() {
	a, b := believed(p.A), believed(p.B)
	switch {
	case p.A.Model() != nil || a != nil && p.B.Model() == nil:
		p.base, p.baseUnit, p.box, p.boxIsB = *a, p.A, p.B, true
	case b != nil:
		p.base, p.baseUnit, p.box = *b, p.B, p.A
	}
}

// given returns the program of a unit that is known: a simulator's, or the one that
// explains all of a recording.
func given(u devices.Unit) *mma.Params {
	if r, ok := u.(devices.Explained); ok && r.Explained() {
		return &u.Instruction().Params
	}
	return u.Model()
}

// chooseGiven makes the namer of two sides whose programs are known: it depends on
// nothing else. Where their K differ and both can be written with another one, they are.
func (p *pairRun) chooseGiven() {
	a, b := given(p.A), given(p.B)
	if a == nil || b == nil {
		return
	}
	from, to := triage.Program{Params: *a, K: p.A.Instruction().K}, triage.Program{Params: *b, K: p.B.Instruction().K}
	p.given = triage.NewNamer(p.spec.Formats, p.K, p.policy, from, to)
	p.given.ExactFrom, p.given.ExactTo = exact(p.A), exact(p.B)
	if from.K != to.K {
		if x, y := triage.Alike(p.spec.Formats, p.K, from, to); x.K == y.K {
			from, to = x, y
		}
	}
	if !p.boxIsB {
		from, to = to, from
	}
	p.base, p.baseK, p.other, p.otherK = from.Params, from.K, to.Params, to.K
}

// exact says whether a unit gives the results of its program in every case.
func exact(u devices.Unit) bool {
	_, ok := u.(interface{ Simulator() *sim.Model })
	return ok
}

// namerOf returns the namer that a verdict makes, nil if there is none. That of two
// programs which are known does not know labels that were not seen to make a difference;
// given knows all.
func (p *pairRun) namerOf(v *triage.Verdict) *triage.Namer {
	if p.given != nil && (v == nil || v.Given || !v.Found()) {
		if v == nil {
			return p.given
		}
		return p.given.Without(v.Idle)
	}
	if v == nil || !v.Found() {
		return nil
	}
	from, to := triage.Program{Params: p.base, K: v.K}, triage.Program{Params: v.Program, K: v.K}
	if !p.boxIsB {
		from, to = to, from
	}
	return triage.NewNamer(p.spec.Formats, p.K, p.policy, from, to)
}

// allNamer returns the namer for what the epoch's own one does not name, and for findings.
func (x *examiner) allNamer() *triage.Namer {
	if x.p.given != nil && (x.verdict == nil || x.verdict.Given || !x.verdict.Found()) {
		return x.p.given
	}
	return x.p.namerOf(x.verdict)
}

// rename makes the namer that of a verdict.
func (p *pairRun) rename(v *triage.Verdict) {
	if p.namer != nil && p.namer != p.given && v != nil && v.Program == p.named {
		return
	}
	if p.namer = p.namerOf(v); p.namer != nil && v != nil {
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
	b := mma.BatchOf(f, len(dots[0].A), dots)
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
	if x.p.namer == nil || x.verdict == nil || !x.verdict.Found() || !x.verdict.Given && !x.baseHolds(x.verdict.K, fresh) {
		return false
	}
	x.k = x.verdict.K
	pr := x.problem(fresh)
	if !triage.Holds(pr, &x.verdict.Program) {
		return false
	}
	if x.namer = x.p.namer; x.verdict.Given {
		x.namer = x.p.given
	}
	if len(fresh) > 0 {
		x.holds(pr, x.verdict.Differ+len(pr.Differ), x.verdict.Agree+len(pr.Agree))
		x.d.Verdict = x.verdict
	}
	return true
}

// explainExamples does that with the given evidence.
func (x *examiner) explainExamples(ctx context.Context, ex []example) error {
	if x.p.baseUnit == nil || x.explainGiven(ex) {
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
	x.namer = x.allNamer()
	return nil
}

// explainGiven takes the verdict from the programs of two sides that are known. It
// reports whether they explain the evidence.
func (x *examiner) explainGiven(ex []example) bool {
	if x.p.given == nil {
		return false
	}
	x.k = x.p.otherK
	pr := x.problem(ex)
	if len(pr.Differ) == 0 {
		return true
	}
	if recorded(x.p.baseUnit) && !x.baseHolds(x.p.baseK, ex) {
		return false
	}
	v := triage.Given(pr, x.p.other)
	if v == nil {
		return false
	}
	v.Idle = x.p.given.Idle(pr.Seed)
	x.verdict, x.d.Verdict, x.namer = v, v, x.p.given
	return true
}

// holds says in the verdict for how many cases it holds, some of them those of a
// problem.
func (x *examiner) holds(pr *triage.Problem, differ, agree int) {
	v := *x.verdict
	v.Alike = triage.StillAlike(pr, &v)
	v.Differ, v.Explained, v.Agree, v.Kept = differ, differ, agree, agree
	x.verdict = &v
}

// problem states the question for triage.
func (x *examiner) problem(ex []example) *triage.Problem {
	pr := &triage.Problem{Formats: x.p.spec.Formats, K: x.k, Base: x.p.base, Policy: x.p.policy, Seed: x.c.cfg.Seed, Length: x.p.K}
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

// bucket puts the cases that could not be named before into buckets, and lists what
// findings may be made of.
func (x *examiner) bucket(ctx context.Context, fresh []example) error {
	if x.namer == nil {
		x.namer = x.allNamer()
	}
	again, err := x.countUnnamed(ctx, fresh)
	if err != nil {
		return err
	}
	if err := x.offerUnstable(ctx, fresh, again); err != nil {
		return err
	}
	for i, k := range x.kindsOf(fresh) {
		// Else it changes, or it is counted as what its first result was.
		if e := &fresh[i]; e.label != Unstable && again.labels[e.CaseRef] == e.label {
			x.offer(e, &k)
		}
	}
	// Kinds of which the few cases above had none. What is not explained may be a
	// matter of chance or of the position, if it was not run again.
	for i := range x.d.kinds {
		k := &x.d.kinds[i]
		if k.cause.Primary == triage.Unexplained || k.cause == faulty {
			continue
		}
		e := x.examples([]Sample{k.first})
		if x.isOdd() {
			if err := x.repeat(ctx, e); err != nil {
				return err
			}
			if e[0].label != again.labels[k.first.CaseRef] {
				continue // another epoch has one that repeats itself
			}
		}
		x.offer(&e[0], &x.kindsOf(e)[0])
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
	var l labeller
	batch, causes := x.causesOf(&l, dots, x.d.unnamed)
	var open []Sample
	for i, cause := range causes {
		if cause.Primary == triage.Unexplained {
			open = append(open, x.d.unnamed[i])
		}
	}
	again, err := x.settle(ctx, open, fresh)
	if err != nil {
		return nil, err
	}
	var t tally
	for i, cause := range causes {
		s := &x.d.unnamed[i]
		if cause.Primary == triage.Unexplained {
			switch again.labels[s.CaseRef] {
			case Unstable:
				x.d.Unstable++
				again.unstable = append(again.unstable, *s)
				continue
			case string(triage.Layout):
				cause = placed
			}
		}
		t.add(x.p, cause, s, l.digest(x.p, cause, batch, int32(i), s))
	}
	for i := range t.kinds {
		x.d.count(x.st, &t.kinds[i])
	}
	return again, nil
}

// offer makes a case a candidate for a finding.
func (x *examiner) offer(e *example, k *kind) {
	x.candidates = append(x.candidates, candidate{x: x, example: *e, bucket: string(k.cause.Primary), detail: k.name(), pure: k.pure()})
}

// offerUnstable makes a candidate of the pair's first case that does not repeat itself.
func (x *examiner) offerUnstable(ctx context.Context, fresh []example, again *settled) error {
	has := func(f *Finding) bool { return f.Bucket == Unstable }
	if len(again.unstable) == 0 || slices.ContainsFunc(x.st.Findings, has) {
		return nil
	}
	for i := range fresh {
		if fresh[i].label == Unstable && again.labels[fresh[i].CaseRef] == Unstable {
			x.offer(&fresh[i], &x.kindsOf(fresh[i : i+1])[0])
			return nil
		}
	}
	e := x.examples(again.unstable[:1])
	t, err := x.inTile(ctx, &e[0])
	if err != nil && !devices.IsFault(err) {
		return err
	}
	e[0].label, e[0].same, e[0].of = Unstable, t.same, t.of
	x.offer(&e[0], &x.kindsOf(e)[0])
	return nil
}

// causesOf returns the causes of differing cases, and these as a batch.
func (x *examiner) causesOf(l *labeller, dots []*mma.Dot, ss []Sample) (*mma.Batch, []*triage.Cause) {
	if len(dots) == 0 {
		return nil, nil
	}
	at, a, b, class := make([]int32, len(ss)), make([]uint64, len(ss)), make([]uint64, len(ss)), make([]oracle.Class, len(ss))
	for i := range ss {
		at[i], a[i], b[i], class[i] = int32(i), ss[i].A, ss[i].B, ss[i].Class
	}
	batch := mma.BatchOf(x.p.spec.Formats, len(dots[0].A), dots)
	return batch, l.of(x.namer, batch, at, a, b, class)
}

// kindsOf returns the kinds of differing cases that were run again, one case each.
func (x *examiner) kindsOf(ex []example) []kind {
	dots, ss := make([]*mma.Dot, len(ex)), make([]Sample, len(ex))
	for i := range ex {
		dots[i], ss[i] = ex[i].dot, ex[i].Sample
	}
	var l labeller
	_, causes := x.causesOf(&l, dots, ss)
	kinds := make([]kind, len(ex))
	for i, cause := range causes {
		if label := ex[i].label; label != "" {
			cause = &triage.Cause{Primary: triage.Label(label), Detail: label}
		}
		kinds[i] = kind{kindKey: kindKey{cause, ss[i].Class}, cases: 1, first: ss[i]}
	}
	return kinds
}
