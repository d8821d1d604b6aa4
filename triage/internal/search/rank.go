package search

import (
	"cmp"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// The sizes of the samples on which mutants are ranked.
const (
	quickFails  = 14 // failing cases: a mutant must explain one of these to be looked at
	sampleSize  = 48 // failing cases, and passing ones, on which mutants are ranked
	bestMutants = 24 // mutants of a step that are run on all evidence
	refined     = 8  // of the best mutants are also tried with other rounding modes
)

// gauge ranks programs by the cases that they gain and lose compared with a node, scaled up
// from the sample to all cases.
type gauge struct {
	quick, fails, passes *evidence.Cases
	wf, wp               float64
}

func (s *Search) gauge(n *Node, quick int) *gauge {
	g := &gauge{}
	fails, passes := s.Sample(n.hits, false, s.r, sampleSize), s.Sample(n.hits, true, s.r, sampleSize)
	g.quick = s.Pick(fails[:min(quick, len(fails))])
	g.fails, g.passes = s.Pick(fails), s.Pick(passes)
	g.wf = float64(s.Left(n)) / float64(max(len(fails), 1))
	g.wp = float64(n.n) / float64(max(len(passes), 1))
	return g
}

// gain estimates how many more cases a model explains than the gauge's node. some is false
// if it explains none of the quick cases; gain is then 0.
func (s *Search) gain(g *gauge, m evidence.Runner, buf *[]byte) (gain int, some bool) {
	if s.Score(m, g.quick, buf) == 0 {
		return 0, false
	}
	won := g.wf * float64(s.Score(m, g.fails, buf))
	lost := g.wp * float64(len(g.passes.Want)-s.Score(m, g.passes, buf))
	return int(won - lost), true
}

// rank is a mutant with the cases that it seems to gain.
type rank struct {
	change.Mutant
	gain, size int
	some       bool
}

// ranked returns the mutants that seem to explain most: the best of Kinds groups, and the
// best of all. Neighbouring values of one field often explain almost the same, and would
// leave no room for another change that the unit has as well.
func (s *Search) ranked(n *Node, mutants []change.Mutant) []change.Mutant {
	g := s.gauge(n, quickFails)
	all := s.ranks(g, mutants)
	var more []change.Mutant
	for _, r := range all[:min(len(all), refined)] {
		for _, p := range s.OtherModes(&n.P, &r.Params) {
			if !s.barred(p) {
				more = append(more, change.Mutant{Params: p, Group: r.Group})
			}
		}
	}
	all = append(all, s.ranks(g, more)...)
	sortRanks(all)
	var best []change.Mutant
	first, taken := map[int]bool{}, map[mma.Params]bool{}
	for _, r := range all {
		if len(best) < s.Kinds && !first[r.Group] && r.gain > 0 {
			first[r.Group], taken[r.Params] = true, true
			best = append(best, r.Mutant)
		}
	}
	for _, r := range all {
		if len(best) < bestMutants && !taken[r.Params] {
			best = append(best, r.Mutant)
		}
	}
	return best
}

// ranks returns the programs that explain at least one of the quick cases, those with the
// largest estimated gain first.
func (s *Search) ranks(g *gauge, mutants []change.Mutant) []rank {
	all := make([]rank, len(mutants))
	s.Sweep(change.Programs(mutants), func(i int, m evidence.Runner, buf *[]byte) {
		gain, some := s.gain(g, m, buf)
		all[i] = rank{mutants[i], gain, s.Size(&mutants[i].Params), some}
	})
	all = slices.DeleteFunc(all, func(r rank) bool { return !r.some })
	sortRanks(all)
	return all
}

func sortRanks(all []rank) {
	slices.SortStableFunc(all, func(x, y rank) int { return cmp.Or(y.gain-x.gain, x.size-y.size) })
}

// MostRight returns the programs, at most a given number and none twice, that explain the most
// of some cases; of those that explain the same number, the smaller ones come first.
func MostRight(e *evidence.Evidence, ps []mma.Params, c *evidence.Cases, most int) []mma.Params {
	type scored struct {
		p       mma.Params
		n, size int
	}
	all := make([]scored, len(ps))
	for i, n := range e.Counts(ps, c) {
		all[i] = scored{ps[i], n, e.Size(&ps[i])}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Or(y.n-x.n, x.size-y.size) })
	seen := map[mma.Params]bool{}
	var best []mma.Params
	for _, x := range all {
		if !seen[x.p] && len(best) < most {
			seen[x.p] = true
			best = append(best, x.p)
		}
	}
	return best
}
