package fuzz

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/internal/simd"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// chunkResult is what a worker finds in a chunk.
type chunkResult struct {
	classes [oracle.Fault + 1]uint64
	tally            // differing cases by cause
	unnamed []Sample // differing cases that cannot be named yet
	differ  []Sample
	agree   []Sample
	traced  []tracedCase
	where   Where
	err     error
}

// reset empties r and keeps its memory.
func (r *chunkResult) reset() {
	r.tally.reset()
	r.where.reset()
	*r = chunkResult{where: r.where, tally: r.tally, unnamed: r.unnamed[:0], differ: r.differ[:0], agree: r.agree[:0], traced: r.traced[:0]}
}

// worker is the scratch space of one goroutine.
type worker struct {
	gen.Filler
	batch  mma.Batch
	a, b   []byte
	at     []int32        // the differing cases of a chunk
	class  []oracle.Class // their classes
	resA   []uint64       // their results
	resB   []uint64
	labels labeller
	dot    *mma.Dot
	trace  sim.Trace
	models map[*pairRun][]*sim.Model
}

func newWorker() *worker { return &worker{models: map[*pairRun][]*sim.Model{}} }

// run executes a chunk.
func (w *worker) run(ctx context.Context, c *Campaign, ch *chunk, r *chunkResult) {
	p := c.pairs[ch.pair]
	if r.err = w.compute(ctx, p, c.cfg.Seed, ch, r); devices.IsFault(r.err) {
		r.err = w.blame(ctx, p, ch, r)
	}
	if r.err == nil {
		w.distances(p, r)
		w.name(c, p, ch, r)
	}
}

// compute makes a chunk's inputs, runs both units, compares, and takes features.
// The differing cases are w.at and w.class.
func (w *worker) compute(ctx context.Context, p *pairRun, seed uint64, ch *chunk, r *chunkResult) error {
	w.inputs(p, seed, ch)
	n := w.batch.Dots() * p.spec.D.Width()
	w.a, w.b = resize(w.a, n), resize(w.b, n)
	if err := w.both(ctx, p, ch); err != nil {
		return err
	}
	w.compare(p, ch, r)
	if !ch.play {
		w.features(p, ch, r)
	}
	return nil
}

func resize(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// inputs makes the chunk's inputs.
func (w *worker) inputs(p *pairRun, seed uint64, ch *chunk) {
	shape := mma.Shape{M: 1, N: 1, K: p.K, Tiles: ch.n}
	if !ch.play {
		g := ch.source.Generator
		shape.M, shape.N = g.M, g.N
		shape.Tiles = (ch.n + g.M*g.N - 1) / (g.M * g.N)
	}
	w.batch.Reset(p.spec.Formats, shape)
	if ch.play {
		return // w.both loads them from the recording
	}
	w.Fill(ch.source, ch.name, &w.batch, seed, ch.index)
}

// both runs the two units. A recorder's results come with its inputs.
func (w *worker) both(ctx context.Context, p *pairRun, ch *chunk) error {
	if !ch.play {
		if err := p.A.Run(ctx, &w.batch, w.a); err != nil {
			return err
		}
		return p.B.Run(ctx, &w.batch, w.b)
	}
	own, other, out := w.a, p.B, w.b
	if p.swapped {
		own, other, out = w.b, p.A, w.a
	}
	if err := p.recorder.Load(int(ch.index), &w.batch, own); err != nil {
		return err
	}
	return other.Run(ctx, &w.batch, out)
}

// compare counts a chunk's results by class and keeps a few of each.
func (w *worker) compare(p *pairRun, ch *chunk, r *chunkResult) {
	width := p.spec.D.Width()
	differ := oracle.NewComparer(p.spec.D, p.policy)
	w.at = simd.Differing(w.at[:0], w.a[:ch.n*width], w.b[:ch.n*width], width)
	w.class = w.class[:0]
	for _, i := range w.at {
		class := differ.Compare(mma.Load(w.a, width, int(i)), mma.Load(w.b, width, int(i)))
		r.classes[class]++
		if class != oracle.Same {
			w.at[len(w.class)] = i
			w.class = append(w.class, class)
		}
	}
	w.at = w.at[:len(w.class)]
	r.classes[oracle.Same] = uint64(ch.n - len(w.at))
	w.keep(ch, r, width)
}

// keep keeps a few differing cases of each class and a few that agree.
func (w *worker) keep(ch *chunk, r *chunkResult, width int) {
	var kept [oracle.Fault + 1]int
	all := 0
	for _, c := range r.classes[oracle.Same+1:] {
		all += int(min(c, differPerChunk))
	}
	for j := 0; len(r.differ) < all; j++ {
		c := w.class[j]
		if kept[c]++; kept[c] <= differPerChunk {
			r.differ = append(r.differ, w.sample(ch, w.at[j], c, width))
		}
	}
	j := 0
	for i := range int32(ch.n) {
		switch {
		case len(r.agree) == agreePerChunk:
			return
		case j < len(w.at) && w.at[j] == i:
			j++
		default:
			r.agree = append(r.agree, w.sample(ch, i, oracle.Same, width))
		}
	}
}

// sample is a case of a chunk.
func (w *worker) sample(ch *chunk, i int32, class oracle.Class, width int) Sample {
	return Sample{ch.ref(int(i)), mma.Load(w.a, width, int(i)), mma.Load(w.b, width, int(i)), class}
}

// blame runs a chunk again, one dot product at a time, after a target failed on it: the
// failure is counted for the dot products that cause it, and all others are compared.
func (w *worker) blame(ctx context.Context, p *pairRun, ch *chunk, r *chunkResult) error {
	width := p.spec.D.Width()
	one := mma.NewBatch(p.spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
	w.at, w.class = w.at[:0], w.class[:0]
	for i := range ch.n {
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
			class = oracle.Compare(p.spec.D, p.policy, mma.Load(w.a, width, i), mma.Load(w.b, width, i))
		}
		r.classes[class]++
		if class != oracle.Same {
			w.at, w.class = append(w.at, int32(i)), append(w.class, class)
		}
	}
	w.keep(ch, r, width)
	return nil
}

// name counts a chunk's differing cases in their buckets. Where the pair has no verdict yet,
// or one that does not explain the case, cases are kept until the epoch's triage. After
// giveUpAfter epochs without a verdict they count as unexplained, unless the pair is odd.
func (w *worker) name(c *Campaign, p *pairRun, ch *chunk, r *chunkResult) {
	width := p.spec.D.Width()
	gaveUp := p.attributor == nil && c.state.Epochs > giveUpAfter && !c.state.Pairs[ch.pair].Odd
	if p.attributor == nil && !gaveUp {
		for j, i := range w.at {
			r.unnamed = append(r.unnamed, w.sample(ch, i, w.class[j], width))
		}
		return
	}
	w.resA, w.resB = w.resA[:0], w.resB[:0]
	for _, i := range w.at {
		w.resA, w.resB = append(w.resA, mma.Load(w.a, width, int(i))), append(w.resB, mma.Load(w.b, width, int(i)))
	}
	for j, cause := range w.labels.of(p.attributor, &w.batch, w.at, w.resA, w.resB, w.class) {
		s := w.sample(ch, w.at[j], w.class[j], width)
		if !gaveUp && cause.Primary == triage.Unexplained {
			r.unnamed = append(r.unnamed, s)
			continue
		}
		r.add(p, cause, &s, w.labels.digest(p, cause, &w.batch, w.at[j], &s))
	}
}

// tracedCase is the features of one input.
type tracedCase struct {
	ref      CaseRef
	features []uint32
}

// Features are taken from one in traceEvery of the first traceFirst dot products of a source,
// and from one in traceLater of the rest: a trace takes a thousand times as long as a
// result, and new features become rare.
const (
	traceEvery = 32
	traceFirst = 1 << 15
	traceLater = 1 << 14
)

// nextTraced returns the first index from i on whose dot product gives features.
func nextTraced(i uint64) uint64 {
	every := uint64(traceEvery)
	if i > traceFirst-traceEvery {
		every = traceLater
	}
	return (i + every - 1) / every * every
}

// features traces some of a chunk's inputs through the models of the pair.
func (w *worker) features(p *pairRun, ch *chunk, r *chunkResult) {
	models := w.models[p]
	if models == nil {
		models = p.tracers()
		w.models[p] = models
	}
	if len(models) == 0 {
		return
	}
	end := ch.index + uint64(ch.n)
	for i := nextTraced(ch.index); i < end; i = nextTraced(i + 1) {
		w.dot = p.fitting(w.dot)
		w.batch.Get(int(i-ch.index), w.dot)
		t := r.newTrace()
		t.ref = CaseRef{ch.name, i}
		for n, m := range models {
			w.trace.Reset()
			m.Dot(w.dot, &w.trace)
			t.features = featuresOf(t.features, &w.trace, uint32(n))
			if spread, ok := spreadOf(&w.trace); ok && n == 0 {
				_, differs := slices.BinarySearch(w.at, int32(i-ch.index))
				r.where.spread(spread, tallyOf(differs))
			}
		}
	}
}

// newTrace appends an input without features, in the memory of an earlier one.
func (r *chunkResult) newTrace() *tracedCase {
	if n := len(r.traced); n < cap(r.traced) {
		r.traced = r.traced[:n+1]
	} else {
		r.traced = append(r.traced, tracedCase{})
	}
	t := &r.traced[len(r.traced)-1]
	t.features = t.features[:0]
	return t
}

// fitting returns a dot product of a pair's size: d, or a new one.
func (p *pairRun) fitting(d *mma.Dot) *mma.Dot {
	if d != nil && len(d.A) == p.K && len(d.SA) == p.spec.Blocks(p.K) {
		return d
	}
	return mma.NewDot(p.spec.Formats, p.K)
}

// tracers returns the models whose traces give features: one if both sides compute the same.
// Their order does not show which side is A.
func (p *pairRun) tracers() []*sim.Model {
	models := []*sim.Model{}
	byProgram := map[string]*sim.Model{}
	for _, u := range []devices.Unit{p.A, p.B} {
		params := believed(u)
		if params == nil {
			continue
		}
		i := u.Instruction()
		if m, err := sim.New(i.Formats, i.K, *params); err == nil {
			byProgram[fmt.Sprintf("%03d %+v", i.K, *params)] = m
		}
	}
	for _, program := range slices.Sorted(maps.Keys(byProgram)) {
		models = append(models, byProgram[program])
	}
	return models
}
