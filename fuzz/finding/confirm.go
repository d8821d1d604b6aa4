package finding

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Cases of an unstable pair that the verdict does not explain are rechecked too, many at a time,
// before they are counted: they may be unstable, or depend on the tiles around them.
//
// A unit with random answers sometimes gives the same answer in several runs by chance, and there
// are many cases. So a case is counted as unexplained or layout only after so many equal runs that
// probably none of all the cases repeats itself so often by chance. This number follows from how
// many cases changed in the first runs (persistence.enough). Of earlier epochs only the number of
// unstable cases is used, which is in the journal, so that a resumed campaign does the same.

const (
	byChance  = 1e-3 // at most so many cases are expected to repeat themselves by chance
	mostRuns  = 128  // of a case, in its tile
	manyRuns  = 32   // more only if most of a sample change in them
	rareRuns  = 16   // if most of the sample do not
	tilesDots = 1024 // dot products of a batch of tiles, at most
	aloneRuns = 8    // at most: of a case that is stable in its tile
)

// confirmed is the outcome of rechecking unexplained cases.
type confirmed struct {
	labels   map[CaseRef]string // layout or unstable; cases without a label are unexplained
	rounded  map[CaseRef]bool   // unstable cases that come from stochastic rounding
	trials   map[CaseRef]trial  // of unstable cases: those in which they changed
	unstable []Sample           // cases that are counted as unstable
}

// confirm rechecks the cases that the verdict does not explain: all of an unstable pair, and a few
// of any other pair that has a unit other than a model or a recording. rechecked are cases that
// have been rechecked already.
func (x *pairTriage) confirm(ctx context.Context, ss []Sample, rechecked []*Case) (*confirmed, error) {
	s := &confirmed{labels: map[CaseRef]string{}, rounded: map[CaseRef]bool{}, trials: map[CaseRef]trial{}}
	if x.rounding.stochastic() {
		ss = slices.DeleteFunc(slices.Clone(ss), func(c Sample) bool {
			s.rounded[c.CaseRef] = x.rounded(x.p.Dot(x.t.Seed, c.CaseRef), c)
			return s.rounded[c.CaseRef]
		})
	}
	if x.p.certain() || len(ss) == 0 {
		return s, nil
	}
	if !x.isUnstable() && x.attributor != nil {
		few := x.newPersistence(ss[:min(len(ss), stableSample)])
		if err := few.inTiles(ctx, repetitions); err != nil {
			return nil, err
		}
		for i, stable := range few.stable {
			if !stable {
				x.changes(&few.trials[i])
			}
		}
	}
	if !x.isUnstable() {
		return s, nil
	}
	from, err := x.fromKept(ctx, ss)
	if err != nil {
		return nil, err
	}
	for ref := range from {
		if from[ref] {
			s.labels[ref] = string(triage.Layout)
		}
	}
	ss = slices.DeleteFunc(slices.Clone(ss), func(c Sample) bool { return from[c.CaseRef] })
	if len(ss) == 0 {
		return s, nil
	}
	p := x.newPersistence(ss)
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	known := map[CaseRef]string{}
	for _, f := range rechecked {
		known[f.Origin] = f.Bucket
	}
	var open []Sample
	for i := range ss {
		ref := ss[i].CaseRef
		if label := p.label(i, known[ref]); label != "" {
			s.labels[ref] = label
		} else if p.answered(i) {
			open = append(open, ss[i])
		}
		if s.labels[ref] == Unstable {
			s.trials[ref] = p.trials[i]
		}
	}
	return s, x.beforeMatters(ctx, open, s.labels)
}

// persistence is how well unexplained cases repeat themselves.
type persistence struct {
	x       *pairTriage
	ss      []Sample
	trials  []trial // of each case, where it changed or else where it was last run
	stable  []bool  // the cases that never changed where they were found: in their tiles, or in their batches
	around  []bool  // those of them that never give the same alone
	changed []int   // in each run: cases that changed in it for the first time
}

func (x *pairTriage) newPersistence(ss []Sample) *persistence {
	n := len(ss)
	return &persistence{x: x, ss: ss, trials: make([]trial, n), stable: slices.Repeat([]bool{true}, n), around: make([]bool, n)}
}

// run runs the cases in their tiles, if need be in their batches, and alone.
func (p *persistence) run(ctx context.Context) error {
	if err := p.inTiles(ctx, repetitions); err != nil {
		return err
	}
	runs, err := p.runs(ctx)
	if err != nil {
		return err
	}
	if err := p.inTiles(ctx, runs-repetitions); err != nil {
		return err
	}
	// With most cases unstable, three runs say too little about chance: all runs say it again.
	for more := p.enough(); manyRuns < runs && runs < more; more = p.enough() {
		if err := p.inTiles(ctx, more-runs); err != nil {
			return err
		}
		runs = more
	}
	if p.x.batchMatters {
		if err := p.inBatches(ctx, runs); err != nil {
			return err
		}
	}
	return p.alone(ctx, min(runs, aloneRuns))
}

// runs returns how often the cases have to be run in their tiles, after the first few runs. Many
// runs of all cases are worth their time only if most cases are unstable. If most of a sample are
// not, the unit changes an answer only seldom.
func (p *persistence) runs(ctx context.Context) (int, error) {
	runs := p.enough()
	if runs <= manyRuns {
		return runs, nil
	}
	var left []Sample
	for i := range p.ss {
		if p.answered(i) && p.stable[i] {
			left = append(left, p.ss[i])
		}
	}
	sample := p.x.newPersistence(spread(left, stableSample))
	err := sample.inTiles(ctx, runs)
	changed := 0
	for _, n := range sample.changed {
		changed += n
	}
	if 2*changed < len(sample.ss) {
		runs = rareRuns
	}
	return runs, err
}

// spread returns at most so many of some cases, from all over them.
func spread(ss []Sample, most int) []Sample {
	if len(ss) <= most {
		return ss
	}
	some := make([]Sample, most)
	for i := range some {
		some[i] = ss[i*len(ss)/most]
	}
	return some
}

// label returns the label of case i; known is that of an earlier recheck. "": it is unexplained.
func (p *persistence) label(i int, known string) string {
	switch {
	case p.ss[i].Class == oracle.Fault:
		return ""
	case !p.stable[i]: // whatever a shorter check found
		return Unstable
	case known != "":
		return known
	case p.around[i]:
		return string(triage.Layout)
	}
	return ""
}

// enough returns how often the cases have to be run in all, after the first few runs. Of the
// cases that change, those that changed in a run but in none before it passed the earlier ones by
// chance: their number against that of the run before says how probable this is. The summands 2
// and 4, and the standard deviation, keep small numbers from proving too much.
func (p *persistence) enough() int {
	changed := p.changed
	if p.x.st.Unstable == 0 && !slices.ContainsFunc(changed, func(n int) bool { return n > 0 }) {
		return repetitions
	}
	passed, of := 2, 4
	for i, n := range changed[1:] {
		passed, of = passed+n, of+changed[i]
	}
	chance := float64(passed) / float64(of)
	if chance < 1 {
		chance += math.Sqrt(chance * (1 - chance) / float64(of))
	}
	if chance >= 1 {
		return mostRuns
	}
	runs := math.Ceil(math.Log(byChance/float64(len(p.ss))) / math.Log(chance))
	return int(min(max(runs, repetitions), mostRuns))
}

// answered reports whether both sides answered a case: a failure is not rechecked.
func (p *persistence) answered(i int) bool { return p.ss[i].Class != oracle.Fault }

// inTiles runs the cases in their tiles so many times. A case that has changed once is not run
// again.
func (p *persistence) inTiles(ctx context.Context, times int) error {
	var left []int
	for i := range p.ss {
		if p.answered(i) && p.stable[i] {
			left = append(left, i)
		}
	}
	for range times {
		for _, t := range p.x.tilesOf(p.ss, left) {
			got, err := p.x.bothOf(ctx, t.batch)
			if devices.IsFault(err) {
				continue
			}
			if err != nil {
				return err
			}
			for j, i := range t.cases {
				p.trials[i].add(p.x.p, [2]uint64{p.ss[i].A, p.ss[i].B}, got(t.outputs[j]))
				p.stable[i] = p.trials[i].repeats()
			}
		}
		before := len(left)
		left = slices.DeleteFunc(left, func(i int) bool { return !p.stable[i] })
		p.changed = append(p.changed, before-len(left))
	}
	return nil
}

// tiles is a batch of tiles, of which some cases are outputs.
type tiles struct {
	batch   *mma.Batch
	cases   []int
	outputs []int // of the cases, in the batch
}

// tileRef names a tile.
type tileRef struct {
	source string
	first  uint64 // index of its first output
}

// tilesOf returns the tiles of some cases, those of a shape together, in batches of at
// most tilesDots dot products; first those of a single dot product.
func (x *pairTriage) tilesOf(ss []Sample, some []int) []*tiles {
	refs, cases := map[mma.Shape][]tileRef{}, map[tileRef][]int{}
	for _, i := range some {
		sh := x.tileShape(ss[i].Source)
		ref := tileRef{ss[i].Source, ss[i].Index - ss[i].Index%uint64(sh.M*sh.N)}
		if cases[ref] == nil {
			refs[sh] = append(refs[sh], ref)
		}
		cases[ref] = append(cases[ref], i)
	}
	var all []*tiles
	for _, sh := range slices.SortedFunc(maps.Keys(refs), func(x, y mma.Shape) int { return cmp.Or(x.M*x.N-y.M*y.N, x.M-y.M) }) {
		for part := range slices.Chunk(refs[sh], tilesDots/(sh.M*sh.N)) {
			sh.Tiles = len(part)
			all = append(all, x.fill(sh, part, cases, ss))
		}
	}
	return all
}

// tileShape returns the shape of a tile of a source. Recorded inputs are compared one by one.
func (x *pairTriage) tileShape(source string) mma.Shape {
	if source == Recorded {
		return mma.Shape{M: 1, N: 1, K: x.p.K}
	}
	g := SourceOf(source).Generator
	return mma.Shape{M: g.M, N: g.N, K: x.p.K}
}

// fill makes a batch of tiles.
func (x *pairTriage) fill(shape mma.Shape, refs []tileRef, cases map[tileRef][]int, ss []Sample) *tiles {
	t := &tiles{batch: mma.NewBatch(x.p.Spec.Formats, shape)}
	for n, ref := range refs {
		if ref.source == Recorded {
			t.batch.Set(n, x.p.Dot(x.t.Seed, CaseRef{ref.source, ref.first}))
		} else {
			SourceOf(ref.source).Fill(t.batch.Part(n, 1), x.t.Seed, ref.first)
		}
		for _, i := range cases[ref] {
			t.cases = append(t.cases, i)
			t.outputs = append(t.outputs, n*shape.M*shape.N+int(ss[i].Index-ref.first))
		}
	}
	return t
}

// alone runs the cases that repeat themselves in their tiles alone, so many times. A case that
// never gives the same result alone depends on what is around it. One that gives it in at least 4
// of 5 runs does not: in the other runs a unit that seldom changes its answers has changed one. The
// others are unstable.
func (p *persistence) alone(ctx context.Context, times int) error {
	var some []int
	var picked []*Case
	for i := range p.ss {
		if !p.stable[i] || p.around[i] || !p.answered(i) {
			continue
		}
		if sh := p.x.tileShape(p.ss[i].Source); sh.M*sh.N > 1 {
			some, picked = append(some, i), append(picked, p.x.newCase(p.ss[i]))
		}
	}
	ts, err := p.x.alone(ctx, times, picked)
	for j, t := range ts {
		i := some[j]
		switch {
		case t.of > 0 && t.same == 0:
			p.around[i] = true
		case 5*t.same < 4*t.of:
			p.stable[i], p.trials[i] = false, t
		}
	}
	return err
}

// inBatches runs complete batches of cases whose results change when only their tiles are run.
// Cases that keep their results in the batches depend on the tiles around them.
func (p *persistence) inBatches(ctx context.Context, times int) error {
	for c := range p.x.d.Chunks {
		ch := &p.x.d.Chunks[c]
		var at []int
		for i := range p.ss {
			if !p.stable[i] && ch.Has(p.ss[i].CaseRef) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		b, err := p.x.batchOf(ch)
		if err != nil {
			return err
		}
		for n := 0; n < times && len(at) > 0; n++ {
			got, err := p.x.bothOf(ctx, b)
			if devices.IsFault(err) {
				break
			}
			if err != nil {
				return err
			}
			at = slices.DeleteFunc(at, func(i int) bool {
				return !p.x.p.alike(got(int(p.ss[i].Index-ch.First)), [2]uint64{p.ss[i].A, p.ss[i].B})
			})
		}
		for _, i := range at {
			p.stable[i], p.around[i] = true, true
		}
	}
	return nil
}
