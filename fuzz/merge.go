package fuzz

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// gathered is what the units of an epoch have found for one pair, merged in the order of the
// plan: it does not depend on the order in which they were computed, on who did it, or on how
// often the campaign was interrupted. Triage adds to it.
type gathered struct {
	Sum                        // what the epoch adds to the state
	st      *PairState         // before the epoch
	differ  []Sample           // a few differing cases of each kind: to be rechecked, and then evidence for triage
	unnamed []Sample           // differing cases to which no verdict before the epoch assigns a cause
	kinds   []Kind             // kinds of differing cases that are new to the epoch, in the order in which they came up
	chunks  []chunk            // that have shown these cases
	fresh   map[uint32]bool    // features that are new to the epoch
	sampled map[sampleKind]int // cases of differ
}

// sampleKind is a kind of differing cases; an epoch keeps a few of each.
type sampleKind struct {
	class     oracle.Class
	generator string
}

func newGathered(st *PairState) *gathered {
	return &gathered{st: st, fresh: map[uint32]bool{}, sampled: map[sampleKind]int{}}
}

// merge adds the result of the next unit. The epoch has room for so many unnamed cases.
func (g *gathered) merge(u *Unit, r *Result, unnamed int) {
	generator := u.generator()
	g.Dots += r.Dots
	g.Chunks++
	if u.Source != recordedSource && u.Source != Mutated {
		g.next(u.Source, u.First+r.Dots)
	}
	for class, n := range r.Classes {
		g.Classes[class] += n
	}
	source := map[string]Tally{generator: {r.Dots, r.Dots - r.Classes[oracle.Same]}}
	g.Where.add(&Where{Sources: source, Ulps: r.Where.Ulps, Spread: r.Where.Spread})
	for i := range r.Fresh {
		g.addFeatures(&r.Fresh[i])
	}
	g.Agree = append(g.Agree, r.Agree[:min(len(r.Agree), max(0, evidenceKept-len(g.st.Agree)-len(g.Agree)))]...)
	before := len(g.chunks)
	for _, s := range r.Differ {
		kind := sampleKind{s.Class, generator}
		if n := g.sampled[kind]; n < differPerEpoch {
			g.sampled[kind] = n + 1
			g.differ = append(g.differ, s)
			g.shown(u, s.CaseRef, before)
		}
	}
	kept := min(len(r.Unnamed), max(0, unnamed-len(g.unnamed)))
	g.Unexamined += r.Unexamined + uint64(len(r.Unnamed)-kept)
	g.unnamed = append(g.unnamed, r.Unnamed[:kept]...)
	for i := range r.Unnamed[:kept] {
		g.shown(u, r.Unnamed[i].CaseRef, before)
	}
	for i := range r.Kinds {
		g.count(&r.Kinds[i])
		g.shown(u, r.Kinds[i].First.CaseRef, before)
	}
}

// shown adds the chunk of a unit that has shown a case. The first so many chunks are of other
// units.
func (g *gathered) shown(u *Unit, ref CaseRef, others int) {
	if !slices.ContainsFunc(g.chunks[others:], func(ch chunk) bool { return ch.has(ref) }) {
		g.chunks = append(g.chunks, u.chunkOf(ref))
	}
}

// addFeatures records the features that no input had before. The input is kept for mutation
// if it showed a new feature, can be mutated, and there is room.
func (g *gathered) addFeatures(f *FreshInput) {
	before := len(g.Features)
	for _, x := range f.Features {
		if !g.st.features[x] && !g.fresh[x] {
			g.fresh[x] = true
			g.Features = append(g.Features, x)
		}
	}
	if len(g.Features) > before && len(g.st.Corpus)+len(g.Corpus) < corpusMost {
		src, err := gen.ParseSource(f.Source)
		if err == nil && src.Mutable() {
			g.Corpus = append(g.Corpus, f.CaseRef)
		}
	}
}
