package fuzz

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// The limits of what an epoch keeps. Counts are always complete; samples feed
// triage and feedback.
const (
	differPerChunk = 8    // differing cases of each class
	agreePerChunk  = 4    // cases that agree
	differPerEpoch = 8    // of each class and generator, which are put into buckets
	evidenceKept   = 384  // cases of each kind kept for triage of a pair
	corpusMost     = 4096 // inputs with new features kept for a pair
)

// epoch executes a plan and returns what it adds to the state.
func (c *Campaign) epoch(ctx context.Context, plan []chunk) (*delta, error) {
	results := c.resultsFor(plan)
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, w := range c.worker {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(plan) || ctx.Err() != nil {
					return
				}
				w.run(ctx, c, &plan[i], &results[i])
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

// resultsFor returns space for the results of a plan, in that of the epoch before.
func (c *Campaign) resultsFor(plan []chunk) []chunkResult {
	c.results = slices.Grow(c.results[:0], len(plan))[:len(plan)]
	for i := range c.results {
		c.results[i].reset()
	}
	return c.results
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
		p.Next[ch.name] = ch.index + uint64(ch.n)
	}
	for class, n := range r.classes {
		p.Classes[class] += n
	}
	p.unnamed = append(p.unnamed, r.unnamed...)
	for i := range r.kinds {
		p.count(st, &r.kinds[i])
	}
	for _, s := range r.differ {
		if p.sampled == nil {
			p.sampled = map[sampleKind]int{}
		}
		kind := sampleKind{s.Class, ch.generator()}
		if p.sampled[kind]++; p.sampled[kind] <= differPerEpoch {
			p.differ = append(p.differ, s)
		}
	}
	p.Agree = append(p.Agree, r.agree[:min(len(r.agree), max(0, evidenceKept-len(st.Agree)-len(p.Agree)))]...)
	for _, t := range r.traced {
		mergeFeatures(p, st, &t)
	}
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
		src, err := gen.ParseSource(t.ref.Source)
		if err == nil && src.Mutable() {
			p.Corpus = append(p.Corpus, t.ref)
		}
	}
}
