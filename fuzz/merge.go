package fuzz

import (
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// A campaign compares pairs of units in epochs. The plan of an epoch (schedule.go) lists its
// chunks, runs of dot products of one source for one pair. This file merges the results of
// a pair's chunks.

// part is what a chunk adds to its pair's epoch: its result without what the chunks before
// it, in the order of the plan, have already. So the parts of the first chunks do not depend
// on later chunks, and an epoch that was interrupted goes on after the parts that are there.
type part struct {
	classes  [oracle.Fault + 1]uint64
	features []uint32 // that no earlier part has
	corpus   []CaseRef
	differ   []Sample // differing cases to be run again; they become evidence for triage
	agree    []Sample
	unnamed  []Sample // differing cases to which the verdict known before the epoch assigns no cause
	kinds    []kind   // differing cases to which it assigns one, by cause and class
	where    Where    // without Sources, which the chunk has
}

// pairEpoch is the epoch in progress of one pair.
type pairEpoch struct {
	st      *PairState
	chunks  []*chunk // the pair's chunks in the plan
	results []*chunkResult

	mu    sync.Mutex
	ready []bool // chunks whose results are there
	parts []part // of the first chunks
	kept  int    // how many of parts are in the checkpoint

	// What the parts have so far.
	fresh         map[uint32]bool // features
	sampled       map[sampleKind]int
	agree, corpus int
}

// sampleKind is a kind of differing cases; an epoch keeps a few of each.
type sampleKind struct {
	class     oracle.Class
	generator string
}

// finish marks the result of chunk i as ready, and turns ready results into parts, up to the
// first gap.
func (e *pairEpoch) finish(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ready[i] = true
	for n := len(e.parts); n < len(e.chunks) && e.ready[n]; n++ {
		e.parts = append(e.parts, part{})
		e.reduce(&e.parts[n], e.chunks[n], e.results[n])
	}
}

// has reports whether there is a part of chunk i.
func (e *pairEpoch) has(i int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return i < len(e.parts)
}

// records returns the parts that are not in the checkpoint yet.
func (e *pairEpoch) records(pair int) []*partRecord {
	e.mu.Lock()
	defer e.mu.Unlock()
	var rs []*partRecord
	for ; e.kept < len(e.parts); e.kept++ {
		rs = append(rs, e.parts[e.kept].record(pair, e.kept, e.chunks[e.kept]))
	}
	return rs
}

// cutAt drops all but the first n chunks.
func (e *pairEpoch) cutAt(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n = min(n, len(e.chunks))
	e.chunks, e.parts = e.chunks[:n], e.parts[:min(n, len(e.parts))]
}

// reduce turns the result of the next chunk into a part.
func (e *pairEpoch) reduce(p *part, ch *chunk, r *chunkResult) {
	p.classes, p.unnamed, p.kinds, p.where = r.classes, r.unnamed, slices.Clone(r.kinds), r.where.clone()
	r.unnamed = nil
	for i := range r.differ {
		kind := sampleKind{r.differ[i].Class, ch.generator()}
		if n := e.sampled[kind]; n < differPerEpoch {
			e.sampled[kind] = n + 1
			p.differ = append(p.differ, r.differ[i])
		}
	}
	p.agree = slices.Clone(r.agree[:min(len(r.agree), max(0, evidenceKept-len(e.st.Agree)-e.agree))])
	e.agree += len(p.agree)
	for i := range r.traced {
		e.addFeatures(p, &r.traced[i])
	}
}

// addFeatures records the features that no input had before. The input is kept for mutation
// if it showed a new feature, can be mutated, and there is room.
func (e *pairEpoch) addFeatures(p *part, t *tracedCase) {
	before := len(p.features)
	for _, f := range t.features {
		if !e.st.Features[f] && !e.fresh[f] {
			e.fresh[f] = true
			p.features = append(p.features, f)
		}
	}
	if len(p.features) > before && len(e.st.Corpus)+e.corpus < corpusMost {
		src, err := gen.ParseSource(t.ref.Source)
		if err == nil && src.Mutable() {
			p.corpus = append(p.corpus, t.ref)
			e.corpus++
		}
	}
}

// resume takes a part of an earlier run as that of the next chunk.
func (e *pairEpoch) resume(p part) {
	e.ready[len(e.parts)] = true
	for _, s := range p.differ {
		e.sampled[sampleKind{s.Class, e.chunks[len(e.parts)].generator()}]++
	}
	for _, f := range p.features {
		e.fresh[f] = true
	}
	e.agree += len(p.agree)
	e.corpus += len(p.corpus)
	e.parts = append(e.parts, p)
	e.kept = len(e.parts)
}

// delta adds up the first n parts.
func (e *pairEpoch) delta(n int) pairDelta {
	d := pairDelta{Where: &Where{}}
	for i := range e.parts[:n] {
		d.add(e.st, &e.parts[i], e.chunks[i])
	}
	return d
}

// add adds the part of a chunk.
func (d *pairDelta) add(st *PairState, p *part, ch *chunk) {
	d.Dots += uint64(ch.n)
	d.Chunks++
	if !ch.play && !ch.mixed {
		if d.Next == nil {
			d.Next = map[string]uint64{}
		}
		d.Next[ch.name] = ch.index + uint64(ch.n)
	}
	for class, n := range p.classes {
		d.Classes[class] += n
	}
	source := map[string]Tally{ch.generator(): {uint64(ch.n), uint64(ch.n) - p.classes[oracle.Same]}}
	d.Where.add(&Where{Sources: source, Ulps: p.where.Ulps, Spread: p.where.Spread})
	d.Features = append(d.Features, p.features...)
	d.Corpus = append(d.Corpus, p.corpus...)
	d.Agree = append(d.Agree, p.agree...)
	d.differ = append(d.differ, p.differ...)
	d.unnamed = append(d.unnamed, p.unnamed...)
	for j := range p.kinds {
		d.count(st, &p.kinds[j])
	}
}
