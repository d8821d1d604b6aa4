package engine

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// What an epoch keeps of its cases: counts are always complete, samples feed triage and feedback.
const (
	differPerEpoch = 8    // differing cases of each class and generator, which are rechecked
	corpusMost     = 4096 // inputs with new features kept for a pair
)

// sampleKind is a kind of differing cases; an epoch keeps a few of each.
type sampleKind struct {
	class     oracle.Class
	generator string
}

// merging is the units of an epoch that are merged for one pair, in the order of the plan: what
// comes of it does not depend on the order in which they were computed, on who did it, or on how
// often the campaign was interrupted.
type merging struct {
	*finding.Gathered
	fresh   map[uint32]bool    // features that are new to the epoch
	sampled map[sampleKind]int // cases of Differing
}

func newMerging(pair int, st *finding.PairState) merging {
	return merging{&finding.Gathered{Pair: pair, Before: st}, map[uint32]bool{}, map[sampleKind]int{}}
}

// merge adds the result of the next unit. The epoch has room for so many unnamed cases.
func (g *merging) merge(u *Unit, r *Result, unnamed int) {
	generator := u.generator()
	g.Dots += r.Dots
	g.Units++
	if u.Source != finding.Recorded && u.Source != Mutated {
		g.SetNext(u.Source, u.First+r.Dots)
	}
	for class, n := range r.Classes {
		g.Classes[class] += n
	}
	g.Codes += r.Codes
	source := map[string]finding.Tally{generator: {Dots: r.Dots, Mismatches: r.Dots - r.Classes[oracle.Same]}}
	g.Where.Add(&finding.Where{Sources: source, Ulps: r.Where.Ulps, Spread: r.Where.Spread})
	for i := range r.Fresh {
		g.addFeatures(&r.Fresh[i])
	}
	g.Agree = append(g.Agree, r.Agree[:min(len(r.Agree), max(0, finding.EvidenceKept-len(g.Before.Agree)-len(g.Agree)))]...)
	g.Agree = append(g.Agree, r.Against[:min(len(r.Against), max(0, finding.EvidenceKept+finding.RefutingKept-len(g.Before.Agree)-len(g.Agree)))]...)
	before := len(g.Chunks)
	for _, s := range r.Differ {
		kind := sampleKind{s.Class, generator}
		if n := g.sampled[kind]; n < differPerEpoch {
			g.sampled[kind] = n + 1
			g.Differing = append(g.Differing, s)
			g.shown(u, s.CaseRef, before)
		}
	}
	kept := min(len(r.Unnamed), max(0, unnamed-len(g.Unnamed)))
	g.Unexamined += r.Unexamined + uint64(len(r.Unnamed)-kept)
	g.Unnamed = append(g.Unnamed, r.Unnamed[:kept]...)
	for i := range r.Unnamed[:kept] {
		g.shown(u, r.Unnamed[i].CaseRef, before)
	}
	for i := range r.Kinds {
		g.Count(&r.Kinds[i])
		g.shown(u, r.Kinds[i].First.CaseRef, before)
	}
}

// shown adds the chunk of a unit that has shown a case. The first so many chunks are of other
// units.
func (g *merging) shown(u *Unit, ref finding.CaseRef, others int) {
	if !slices.ContainsFunc(g.Chunks[others:], func(ch finding.Chunk) bool { return ch.Has(ref) }) {
		g.Chunks = append(g.Chunks, u.chunkOf(ref))
	}
}

// addFeatures records the features that no input had before. The input is kept for mutation
// if it showed a new feature, can be mutated, and there is room.
func (g *merging) addFeatures(f *FreshInput) {
	before := len(g.Features)
	for _, x := range f.Features {
		if !g.Before.HasFeature(x) && !g.fresh[x] {
			g.fresh[x] = true
			g.Features = append(g.Features, x)
		}
	}
	if len(g.Features) > before && len(g.Before.Corpus)+len(g.Corpus) < corpusMost {
		src, err := gen.ParseSource(f.Source)
		if err == nil && src.Mutable() {
			g.Corpus = append(g.Corpus, f.CaseRef)
		}
	}
}
