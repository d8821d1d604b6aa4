package engine

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/internal/simd"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// worker is the scratch space of one goroutine.
type worker struct {
	gen.Filler
	batch  mma.Batch
	a, b   []byte
	at     []int32        // the differing cases of a chunk
	class  []oracle.Class // their classes
	same   []int32        // the others
	resA   []uint64       // the results of either
	resB   []uint64
	labels finding.Labeller
	dot    *mma.Dot
	trace  sim.Trace
	shown  []uint32               // the features of an input
	models map[*pair][]*sim.Model // what is traced in this epoch

	// Of the unit in progress:
	kept   [oracle.Fault + 1]int // differing cases of each class
	seen   map[uint32]bool       // features
	traced uint64                // dot products whose features were taken

	first          uint64 // of a source, of which many are traced
	kinds, unnamed int    // the most that the result of a unit may have
}

func newWorker() *worker {
	return &worker{models: map[*pair][]*sim.Model{}, seen: map[uint32]bool{}, first: traceFirst, kinds: math.MaxInt, unnamed: math.MaxInt}
}

// run computes a unit, chunk by chunk, and adds to its result.
func (w *worker) run(ctx context.Context, c *Campaign, u *Unit, r *Result) error {
	w.kept = [oracle.Fault + 1]int{}
	clear(w.seen)
	for at := uint64(0); at < u.Dots; {
		ch, ok := u.chunk(at, c.state.Pairs[u.Pair].Corpus)
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.chunk(ctx, c, &ch, r); err != nil {
			return err
		}
		at += uint64(ch.Dots)
	}
	return nil
}

// chunk computes a chunk.
func (w *worker) chunk(ctx context.Context, c *Campaign, ch *finding.Chunk, r *Result) error {
	p := c.pairs[ch.Pair]
	err := w.compute(ctx, p, c.cfg.Seed, ch, r)
	if devices.IsFault(err) {
		err = w.blame(ctx, p, ch, r)
	}
	if err != nil {
		return err
	}
	r.Dots += uint64(ch.Dots)
	w.distances(p, r)
	w.against(p, c.state.Pairs[ch.Pair], ch, r)
	if c.cfg.Examine > 0 {
		w.examine(c.cfg.Examine, p, c.state.Pairs[ch.Pair], r)
	}
	w.name(c, p, ch, r)
	return nil
}

// compute makes a chunk's inputs, runs both units, compares, and takes features.
// The differing cases are w.at and w.class.
func (w *worker) compute(ctx context.Context, p *pair, seed uint64, ch *finding.Chunk, r *Result) error {
	w.inputs(p, seed, ch)
	n := w.batch.Dots() * p.Spec.D.Width()
	w.a, w.b = resize(w.a, n), resize(w.b, n)
	if err := w.both(ctx, p, ch); err != nil {
		return err
	}
	w.compare(p, ch, r)
	if !ch.Recorded {
		w.features(p, ch, r)
	}
	return nil
}

func resize(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// inputs makes the chunk's inputs.
func (w *worker) inputs(p *pair, seed uint64, ch *finding.Chunk) {
	shape := mma.Shape{M: 1, N: 1, K: p.K, Tiles: ch.Dots}
	if !ch.Recorded {
		g := ch.Source.Generator
		shape.M, shape.N = g.M, g.N
		shape.Tiles = (ch.Dots + g.M*g.N - 1) / (g.M * g.N)
	}
	w.batch.Reset(p.Spec.Formats, shape)
	if ch.Recorded {
		return // w.both loads them from the recording
	}
	w.Fill(ch.Source, ch.Name, &w.batch, seed, ch.First)
}

// both runs the two units. A recorder's results come with its inputs.
func (w *worker) both(ctx context.Context, p *pair, ch *finding.Chunk) error {
	if !ch.Recorded {
		if err := p.A.Run(ctx, &w.batch, w.a); err != nil {
			return err
		}
		return p.B.Run(ctx, &w.batch, w.b)
	}
	own, other, out := w.a, p.B, w.b
	if p.Swapped {
		own, other, out = w.b, p.A, w.a
	}
	if err := p.Recorder.Load(int(ch.First), &w.batch, own); err != nil {
		return err
	}
	return other.Run(ctx, &w.batch, out)
}

// compare counts a chunk's results by class and keeps a few of each.
func (w *worker) compare(p *pair, ch *finding.Chunk, r *Result) {
	width := p.Spec.D.Width()
	differ := oracle.NewComparer(p.Spec.D, p.Policy)
	w.at = simd.Differing(w.at[:0], w.a[:ch.Dots*width], w.b[:ch.Dots*width], width)
	w.class = w.class[:0]
	for _, i := range w.at {
		class := differ.Compare(mma.Load(w.a, width, int(i)), mma.Load(w.b, width, int(i)))
		if class != oracle.Same {
			r.Classes[class]++
			w.at[len(w.class)] = i
			w.class = append(w.class, class)
		} else {
			r.Codes++
		}
	}
	w.at = w.at[:len(w.class)]
	r.Classes[oracle.Same] += uint64(ch.Dots - len(w.at))
	w.keep(ch, r, width)
}

// keep keeps a few differing cases of each class and a few that agree.
func (w *worker) keep(ch *finding.Chunk, r *Result, width int) {
	left, chunk := 0, [oracle.Fault + 1]int{}
	for _, c := range w.class {
		chunk[c]++
	}
	for c, n := range chunk {
		left += min(n, differPerUnit-w.kept[c])
	}
	for j := 0; left > 0; j++ {
		if c := w.class[j]; w.kept[c] < differPerUnit {
			w.kept[c]++
			r.Differ = append(r.Differ, w.sample(ch, w.at[j], c, width))
			left--
		}
	}
	for i := range w.agreeing(ch) {
		if len(r.Agree) == agreePerUnit {
			return
		}
		r.Agree = append(r.Agree, w.sample(ch, i, oracle.Same, width))
	}
}

// sample is a case of a chunk.
func (w *worker) sample(ch *finding.Chunk, i int32, class oracle.Class, width int) finding.Sample {
	return finding.Sample{CaseRef: ch.Ref(int(i)), A: mma.Load(w.a, width, int(i)), B: mma.Load(w.b, width, int(i)), Class: class}
}

// blame runs a chunk again, one dot product at a time, after a target failed on it: the
// failure is counted for the dot products that cause it, and all others are compared.
func (w *worker) blame(ctx context.Context, p *pair, ch *finding.Chunk, r *Result) error {
	width := p.Spec.D.Width()
	one := mma.NewBatch(p.Spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
	w.at, w.class = w.at[:0], w.class[:0]
	for i := range ch.Dots {
		one.Take(0, &w.batch, i)
		var class oracle.Class
		for _, side := range []struct {
			u   devices.Unit
			out []byte
		}{{p.A, w.a}, {p.B, w.b}} {
			out := side.out[i*width : (i+1)*width]
			err := side.u.Run(ctx, one, out)
			if devices.IsFault(err) {
				class = oracle.Fault
				clear(out)
			} else if err != nil {
				return err
			}
		}
		if class != oracle.Fault {
			a, b := mma.Load(w.a, width, i), mma.Load(w.b, width, i)
			if class = oracle.Compare(p.Spec.D, p.Policy, a, b); class == oracle.Same && a != b {
				r.Codes++
			}
		}
		r.Classes[class]++
		if class != oracle.Same {
			w.at, w.class = append(w.at, int32(i)), append(w.class, class)
		}
	}
	w.keep(ch, r, width)
	return nil
}

// name counts a chunk's differing cases in their buckets. Where the pair has no verdict yet,
// or one that does not explain the case, cases are kept until the epoch's triage. After
// giveUpAfter epochs without a verdict they count as unexplained, unless the pair is unstable.
func (w *worker) name(c *Campaign, p *pair, ch *finding.Chunk, r *Result) {
	width := p.Spec.D.Width()
	gaveUp := p.Attributor == nil && p.Defect == nil && c.state.Epochs > finding.GiveUpAfter && !c.state.Pairs[ch.Pair].UnstablePair
	if p.Attributor == nil && p.Defect == nil && !gaveUp && p.Spec.D.Flags() == 0 {
		for j, i := range w.at {
			w.keepUnnamed(r, w.sample(ch, i, w.class[j], width))
		}
		return
	}
	w.loadResults(p, w.at)
	for j, cause := range w.labels.Causes(p.Attributor, p.Defect, &w.batch, w.at, w.resA, w.resB, w.class) {
		s := w.sample(ch, w.at[j], w.class[j], width)
		if !gaveUp && cause.Primary == triage.Unexplained {
			w.keepUnnamed(r, s)
			continue
		}
		cause = finding.Left(cause, s.Class)
		sum, mark := w.labels.Digest(p.Pair, cause, &w.batch, w.at[j], &s)
		r.Kinds = p.AddCase(r.Kinds, cause, &s, sum, mark, w.kinds)
	}
}

// examineEvery is of how many later mismatches one is examined.
const examineEvery = 64

// examine leaves out, once so many mismatches of a pair were examined, most of a chunk's differing cases:
// they stay unexamined. One in examineEvery is kept, and so are the first that do not differ in value and,
// while nothing is unexplained, those that the programs of the two sides do not reproduce. If a side
// rounds stochastically all are kept, because they may be no mismatches.
func (w *worker) examine(after uint64, p *pair, st *finding.PairState, r *Result) {
	if st.Differences()-st.Unexamined < after || st.RoundsStochastically(0) || st.RoundsStochastically(1) || p.Spec.D.Flags() != 0 {
		return
	}
	inPart := st.Buckets[string(triage.Unexplained)] != nil || st.Buckets[string(triage.NaNCode)] != nil || st.Buckets[string(triage.Defect)] != nil
	var shown []bool
	if p.Attributor != nil && !inPart {
		w.loadResults(p, w.at)
		shown = w.labels.Shown(p.Attributor, &w.batch, w.at, w.resA, w.resB)
	}
	kept := 0
	for j, class := range w.class {
		few := class != oracle.Value && st.Classes[class] < after
		if j%examineEvery != 0 && !few && (inPart || shown != nil && shown[j]) {
			r.Unexamined++
			continue
		}
		w.at[kept], w.class[kept] = w.at[j], class
		kept++
	}
	w.at, w.class = w.at[:kept], w.class[:kept]
}

// loadResults loads the results of some of a chunk's cases.
func (w *worker) loadResults(p *pair, at []int32) {
	width := p.Spec.D.Width()
	w.resA, w.resB = w.resA[:0], w.resB[:0]
	for _, i := range at {
		w.resA, w.resB = append(w.resA, mma.Load(w.a, width, int(i))), append(w.resB, mma.Load(w.b, width, int(i)))
	}
}

// keepUnnamed keeps a case without a cause, if there is room.
func (w *worker) keepUnnamed(r *Result, s finding.Sample) {
	if len(r.Unnamed) < w.unnamed {
		r.Unnamed = append(r.Unnamed, s)
	} else {
		r.Unexamined++
	}
}

// Features are taken from one in traceEvery of the first traceFirst dot products of a source, or as
// many as Config.Traced says, and from one in traceLater of the rest: a trace takes a thousand times as long as a
// result, and new features become rare.
const (
	traceEvery = 32
	traceFirst = 1 << 15
	traceLater = 1 << 14
)

// nextTraced returns the first index from i on whose dot product gives features.
func (w *worker) nextTraced(i uint64) uint64 {
	every := uint64(traceEvery)
	if i+traceEvery > w.first {
		every = traceLater
	}
	return (i + every - 1) / every * every
}

// features traces some of a chunk's inputs through the models of the pair.
func (w *worker) features(p *pair, ch *finding.Chunk, r *Result) {
	models := w.models[p]
	if models == nil {
		models = p.tracers()
		w.models[p] = models
	}
	if len(models) == 0 {
		return
	}
	end := ch.First + uint64(ch.Dots)
	for i := w.nextTraced(ch.First); i < end; i = w.nextTraced(i + 1) {
		w.dot = p.Fitting(w.dot)
		w.batch.Get(int(i-ch.First), w.dot)
		w.traced++
		w.shown = w.shown[:0]
		for n, m := range models {
			w.trace.Reset()
			m.Dot(w.dot, &w.trace)
			w.shown = FeaturesOf(w.shown, &w.trace, uint32(n))
			if spread, ok := finding.SpreadOf(&w.trace); ok && n == 0 {
				_, differs := slices.BinarySearch(w.at, int32(i-ch.First))
				r.Where.AddSpread(spread, finding.TallyOf(differs))
			}
		}
		w.keepFresh(r, ch.Ref(int(i-ch.First)))
	}
}

// keepFresh keeps an input that has features which none before it had.
func (w *worker) keepFresh(r *Result, ref finding.CaseRef) {
	before := len(r.features)
	for _, f := range w.shown {
		if !w.seen[f] {
			w.seen[f] = true
			r.features = append(r.features, f)
		}
	}
	if n := len(r.features); n > before {
		r.Fresh = append(r.Fresh, FreshInput{ref, r.features[before:n:n]})
	}
}

// tracers returns the models whose traces give features: one if both sides compute the same.
// Their order does not show which side is A.
func (p *pair) tracers() []*sim.Model {
	models := []*sim.Model{}
	byProgram := map[string]*sim.Model{}
	a, b := p.Believed()
	for _, side := range []struct {
		params *mma.Params
		u      devices.Unit
	}{{a, p.A}, {b, p.B}} {
		params := side.params
		if params == nil {
			continue
		}
		i := side.u.Instruction()
		if m, err := sim.New(i.Formats, i.K, *params); err == nil {
			byProgram[fmt.Sprintf("%03d %+v", i.K, *params)] = m
		}
	}
	for _, program := range slices.Sorted(maps.Keys(byProgram)) {
		models = append(models, byProgram[program])
	}
	return models
}

// distances counts how far the results of a chunk's differing cases are apart.
func (w *worker) distances(p *pair, r *Result) {
	width := p.Spec.D.Width()
	f := p.Spec.D.Get()
	for j, i := range w.at {
		if w.class[j] == oracle.Value && p.Spec.D.Flags() == 0 {
			r.Where.AddUlps(bits.Len64(finding.StepsApart(f, mma.Load(w.a, width, int(i)), mma.Load(w.b, width, int(i)))), 1)
		}
	}
}
