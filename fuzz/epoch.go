package fuzz

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The limits of what an epoch keeps. Counts are always complete; samples feed
// triage and feedback.
const (
	differPerChunk = 8    // of each class
	agreePerChunk  = 4    //
	differPerEpoch = 8    // of each class and generator, which are put into buckets
	evidenceKept   = 384  // cases of each kind kept for triage of a pair
	traceEvery     = 32   // one dot product in so many gives features
	corpusMost     = 4096 // inputs with new features kept for a pair
)

// chunkResult is what a worker finds in a chunk.
type chunkResult struct {
	classes [oracle.Fault + 1]uint64
	buckets []namedBucket // differing cases by cause, in order of appearance
	unnamed []Sample      // differing cases that cannot be named yet
	differ  []Sample
	agree   []Sample
	traced  []tracedCase
	err     error
}

// namedBucket counts the differing cases of a cause.
type namedBucket struct {
	Bucket
	first Sample
}

// count adds a differing case to its bucket.
func (r *chunkResult) count(one namedBucket) {
	for i := range r.buckets {
		if b := &r.buckets[i]; b.Name == one.Name {
			b.add(&one.Bucket)
			return
		}
	}
	r.buckets = append(r.buckets, one)
}

// bucketOfOne is the bucket of a differing case alone.
func (p *pairRun) bucketOfOne(name string, dot *mma.Dot, s Sample) namedBucket {
	return namedBucket{Bucket{name, s.Class, 1, ulpDistance(p.spec.D, s.A, s.B), digest(dot, &s)}, s}
}

// digest is a differing case in 64 bits.
func digest(d *mma.Dot, s *Sample) uint64 {
	h := mix(s.A ^ mix(s.B^mix(uint64(s.Class))))
	for _, codes := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range codes {
			h = mix(h + code + 0x9e3779b97f4a7c15)
		}
	}
	return h
}

// tracedCase is the features of one input.
type tracedCase struct {
	ref      CaseRef
	features []uint32
}

// worker is the scratch space of one goroutine.
type worker struct {
	batch  *mma.Batch
	a, b   []byte
	dot    *mma.Dot
	trace  sim.Trace
	models map[*pairRun][]*sim.Model
}

func newWorker() *worker {
	return &worker{batch: &mma.Batch{}, models: map[*pairRun][]*sim.Model{}}
}

// epoch executes a plan and returns what it adds to the state.
func (c *Campaign) epoch(ctx context.Context, plan []chunk) (*delta, error) {
	results := make([]chunkResult, len(plan))
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, w := range c.worker {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(plan) || ctx.Err() != nil {
					return
				}
				results[i] = w.run(ctx, c, &plan[i])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := &delta{Epoch: c.state.Epochs, Pairs: make([]pairDelta, len(c.pairs))}
	for i := range plan {
		if err := results[i].err; err != nil {
			return nil, err
		}
		c.merge(d, &plan[i], &results[i])
	}
	return d, c.triageAll(ctx, d)
}

// merge adds a chunk's results, in the order of the plan.
func (c *Campaign) merge(d *delta, ch *chunk, r *chunkResult) {
	p, st := &d.Pairs[ch.pair], c.state.Pairs[ch.pair]
	p.Dots += uint64(ch.n)
	p.Chunks++
	if !ch.play {
		if p.Next == nil {
			p.Next = map[string]uint64{}
		}
		p.Next[ch.source.String()] = ch.index + uint64(ch.n)
	}
	for class, n := range r.classes {
		p.Classes[class] += n
	}
	p.unnamed = append(p.unnamed, r.unnamed...)
	for i := range r.buckets {
		p.count(&r.buckets[i])
	}
	for _, s := range r.differ {
		if p.sampled == nil {
			p.sampled = map[string]int{}
		}
		kind := s.Class.String() + ch.name()
		if p.sampled[kind]++; p.sampled[kind] <= differPerEpoch {
			p.differ = append(p.differ, s)
		}
	}
	p.Agree = append(p.Agree, r.agree[:min(len(r.agree), max(0, evidenceKept-len(st.Agree)-len(p.Agree)))]...)
	for _, t := range r.traced {
		mergeFeatures(p, st, &t)
	}
}

// count adds a chunk's bucket.
func (p *pairDelta) count(b *namedBucket) {
	if p.Buckets == nil {
		p.Buckets, p.first = map[string]*Bucket{}, map[string]Sample{}
	}
	have := p.Buckets[b.Name]
	if have == nil {
		bucket := b.Bucket
		p.Buckets[b.Name], p.first[b.Name] = &bucket, b.first
		p.named = append(p.named, b.Name)
		return
	}
	have.add(&b.Bucket)
}

// mergeFeatures keeps an input that has a feature which none had before.
func mergeFeatures(p *pairDelta, st *PairState, t *tracedCase) {
	fresh := false
	for _, f := range t.features {
		if !st.Features[f] && !p.fresh[f] {
			if p.fresh == nil {
				p.fresh = map[uint32]bool{}
			}
			p.fresh[f] = true
			p.Features = append(p.Features, f)
			fresh = true
		}
	}
	if fresh && len(st.Corpus)+len(p.Corpus) < corpusMost {
		src, err := ParseSource(t.ref.Source)
		if err == nil && src.nesting() < maxNesting {
			p.Corpus = append(p.Corpus, t.ref)
		}
	}
}

// run executes a chunk.
func (w *worker) run(ctx context.Context, c *Campaign, ch *chunk) (r chunkResult) {
	p := c.pairs[ch.pair]
	w.fill(c, p, ch)
	width := p.spec.D.Width()
	n := w.batch.Dots()
	w.a, w.b = resize(w.a, n*width), resize(w.b, n*width)
	if r.err = w.both(ctx, p, ch); r.err != nil {
		if isFault(r.err) {
			return w.blame(ctx, c, p, ch)
		}
		return r
	}
	source := ch.ref(0).Source
	for i := range ch.n {
		a, b := mma.Load(w.a, width, i), mma.Load(w.b, width, i)
		class := oracle.Compare(p.spec.D, p.policy, a, b)
		r.classes[class]++
		s := Sample{CaseRef{source, ch.index + uint64(i)}, a, b, class}
		if class != oracle.Same {
			w.name(c, p, &r, s, i)
		}
		switch {
		case class != oracle.Same && r.classes[class] <= differPerChunk:
			r.differ = append(r.differ, s)
		case class == oracle.Same && len(r.agree) < agreePerChunk:
			r.agree = append(r.agree, s)
		}
	}
	if !ch.play {
		r.traced = w.features(p, ch)
	}
	return r
}

// name counts a differing case in its bucket, or keeps it until the epoch has a
// verdict to name it by: there is none yet, or it does not explain the case and
// is going to be replaced.
func (w *worker) name(c *Campaign, p *pairRun, r *chunkResult, s Sample, i int) {
	gaveUp := p.namer == nil && c.state.Epochs > giveUpAfter
	if p.namer == nil && !gaveUp {
		r.unnamed = append(r.unnamed, s)
		return
	}
	dot := w.dotFor(p)
	w.batch.Get(i, dot)
	name := p.bucketName(p.namer, dot, &s)
	if !gaveUp && strings.HasPrefix(name, string(triage.Unexplained)) {
		r.unnamed = append(r.unnamed, s)
		return
	}
	r.count(p.bucketOfOne(name, dot, s))
}

// dotFor returns the worker's dot product in the size of a pair's.
func (w *worker) dotFor(p *pairRun) *mma.Dot {
	if w.dot == nil || len(w.dot.A) != p.K || len(w.dot.SA) != p.spec.Blocks(p.K) {
		w.dot = mma.NewDot(p.spec.Formats, p.K)
	}
	return w.dot
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// name is the generator's name.
func (ch *chunk) name() string {
	if ch.play {
		return recordedSource
	}
	return ch.source.Generator.Name
}

// ref names a dot product of a chunk.
func (ch *chunk) ref(i int) CaseRef {
	if ch.play {
		return CaseRef{recordedSource, ch.index + uint64(i)}
	}
	return CaseRef{ch.source.String(), ch.index + uint64(i)}
}

// recordedSource is the source of cases that come from a recording.
const recordedSource = "recorded"

// fill makes the chunk's inputs.
func (w *worker) fill(c *Campaign, p *pairRun, ch *chunk) {
	shape := mma.Shape{M: 1, N: 1, K: p.K, Tiles: ch.n}
	if !ch.play {
		g := ch.source.Generator
		shape.M, shape.N = g.M, g.N
		shape.Tiles = (ch.n + g.M*g.N - 1) / (g.M * g.N)
	}
	w.batch.Reset(p.spec.Formats, shape)
	if ch.play {
		return // both loads it
	}
	ch.source.Fill(w.batch, c.cfg.Seed, ch.index)
}

// both runs the two units. A recorder's results come with its inputs.
func (w *worker) both(ctx context.Context, p *pairRun, ch *chunk) error {
	if !ch.play {
		if err := p.A.Run(ctx, w.batch, w.a); err != nil {
			return err
		}
		return p.B.Run(ctx, w.batch, w.b)
	}
	own, other, out := w.a, p.B, w.b
	if p.swapped {
		own, other, out = w.b, p.A, w.a
	}
	if err := p.recorder.Load(int(ch.index), w.batch, own); err != nil {
		return err
	}
	return other.Run(ctx, w.batch, out)
}

// blame runs a chunk in which a target failed one dot product at a time, so that
// the failure is counted for those that cause it and nothing else is lost.
func (w *worker) blame(ctx context.Context, c *Campaign, p *pairRun, ch *chunk) (r chunkResult) {
	width := p.spec.D.Width()
	one := mma.NewBatch(p.spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
	d := mma.NewDot(p.spec.Formats, p.K)
	a, b := make([]byte, width), make([]byte, width)
	for i := range ch.n {
		w.batch.Get(i, d)
		one.Set(0, d)
		s := Sample{CaseRef: ch.ref(i)}
		for _, side := range []struct {
			u    devices.Unit
			out  []byte
			code *uint64
		}{{p.A, a, &s.A}, {p.B, b, &s.B}} {
			err := side.u.Run(ctx, one, side.out)
			if isFault(err) {
				s.Class = oracle.Fault
			} else if err != nil {
				r.err = err
				return r
			}
			*side.code = mma.Load(side.out, width, 0)
		}
		if s.Class != oracle.Fault {
			s.Class = oracle.Compare(p.spec.D, p.policy, s.A, s.B)
		}
		r.classes[s.Class]++
		if s.Class != oracle.Same {
			w.name(c, p, &r, s, i)
		}
		if s.Class != oracle.Same && r.classes[s.Class] <= differPerChunk {
			r.differ = append(r.differ, s)
		}
	}
	return r
}

// features traces some of a chunk's inputs through the models of the pair.
func (w *worker) features(p *pairRun, ch *chunk) []tracedCase {
	models := w.models[p]
	if models == nil {
		models = p.tracers()
		w.models[p] = models
	}
	if len(models) == 0 {
		return nil
	}
	w.dotFor(p)
	var traced []tracedCase
	for i := 0; i < ch.n; i += traceEvery {
		w.batch.Get(i, w.dot)
		t := tracedCase{ref: ch.ref(i)}
		for n, m := range models {
			w.trace.Reset()
			m.Dot(w.dot, &w.trace)
			t.features = features(t.features, &w.trace, uint32(n))
		}
		traced = append(traced, t)
	}
	return traced
}

// tracers returns the models whose traces give features.
func (p *pairRun) tracers() []*sim.Model {
	models := []*sim.Model{}
	for _, u := range []devices.Unit{p.A, p.B} {
		params := believed(u)
		if params == nil {
			continue
		}
		if m, err := sim.New(u.Instruction().Formats, u.Instruction().K, *params); err == nil {
			models = append(models, m)
		}
	}
	return models
}
