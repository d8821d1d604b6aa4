package search

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// The limits of a search by levels.
const (
	beamWidth  = 12  // programs whose changes are tried at each level
	BeamSample = 320 // cases on which they are chosen
	firstTried = 8   // cases on which a program is tried first
)

// Explaining returns the programs that explain all evidence.
func Explaining(e *evidence.Evidence, ps []mma.Params) []mma.Params {
	return slices.DeleteFunc(AllRight(e, ps, e.FirstCases(firstTried)), func(p mma.Params) bool { return !e.Explains(&p) })
}

// AllRight returns the programs that explain all of some cases.
func AllRight(e *evidence.Evidence, ps []mma.Params, c *evidence.Cases) []mma.Params {
	var right []mma.Params
	for i, n := range e.Counts(ps, c) {
		if n == len(c.Want) {
			right = append(right, ps[i])
		}
	}
	return right
}

// Levels changes programs, up to a number of changes one after the other, and returns all
// programs of the first level on which any explains all evidence. beam are the programs whose
// changes it has tried: those that explain most cases of a sample, of several that explain the
// same cases the first. Levels are few: only processor time limits them.
func Levels(ctx context.Context, e *evidence.Evidence, b *Budget, from []mma.Params, levels int, steps ...change.Breadth) (found, beam []mma.Params) {
	seen := map[mma.Params]bool{}
	level := from
	for range levels {
		level = widest(e, level)
		beam = append(beam, level...)
		var next []mma.Params
		for _, p := range level {
			if ctx.Err() != nil || b.timeSpent() {
				return nil, beam
			}
			for _, q := range change.Programs(e.Mutants(&p, steps...)) {
				if !seen[q] {
					seen[q] = true
					next = append(next, q)
				}
			}
		}
		if found = Explaining(e, next); len(found) > 0 {
			return found, beam
		}
		level = next
	}
	return nil, append(beam, widest(e, level)...)
}

// widest returns the programs, at most beamWidth, that explain most cases of a sample, of those
// that explain the same cases only the first.
func widest(e *evidence.Evidence, ps []mma.Params) []mma.Params {
	sample := e.FirstCases(BeamSample)
	hits := make([][]bool, len(ps))
	e.Each(ps, func(i int, m evidence.Runner, _ *[]byte) { hits[i] = e.HitsOf(m, sample) })
	seen := map[uint64]bool{}
	var order []int
	for i, h := range hits {
		if key := hashHits(h); !seen[key] {
			seen[key] = true
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return evidence.Total(hits[j]) - evidence.Total(hits[i]) })
	var best []mma.Params
	for _, i := range order[:min(len(order), beamWidth)] {
		best = append(best, ps[i])
	}
	return best
}
