package search

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// The limits of trying two changes at once.
const (
	pairFails  = 8         // failing cases: two changes must explain one of these
	pairLosses = 3         // cases of a sample that the first of two changes may lose
	pairEvals  = 4_000_000 // dot products computed
)

// pairs tries two changes of a node at once: one that loses little, and one that changes
// anything in cases that the node fails on. It reports whether anything was gained.
func (s *Search) pairs(n *Node) bool {
	if n.paired {
		return false
	}
	n.paired = true
	g := s.gauge(n, pairFails)
	mutants := s.Mutants(&n.P, s.steps...)
	seconds := s.telling(&n.P, change.Programs(mutants), g.quick)
	changes := make([]delta, len(seconds))
	for i := range seconds {
		changes[i] = deltaOf(&n.P, &seconds[i])
	}
	until := s.Computed.Load() + pairEvals
	var all []rank
	for _, i := range s.harmless(mutants, g.passes) {
		if s.Computed.Load() >= until || s.Budget.Spent() || s.Stopped() {
			break
		}
		both := together(&mutants[i].Params, seconds, changes)
		gains := make([]int, len(both))
		s.Sweep(both, func(i int, m evidence.Runner, buf *[]byte) { gains[i], _ = s.gain(g, m, buf) })
		for i, gain := range gains {
			if gain > 0 && !s.seen[both[i]] && !s.barred(both[i]) {
				all = append(all, rank{Mutant: change.Mutant{Params: both[i]}, gain: gain})
			}
		}
	}
	sortRanks(all)
	won := false
	for _, f := range all[:min(len(all), 2*bestMutants)] {
		if k := s.add(f.Params); k != nil && k.n > n.n {
			won = true
		}
	}
	return won
}

// telling returns the mutants that give another result than p in some of the cases.
func (s *Search) telling(p *mma.Params, mutants []mma.Params, c *evidence.Cases) []mma.Params {
	own := s.Results(p, c)
	if own == nil {
		return nil
	}
	tells := make([]bool, len(mutants))
	s.Sweep(mutants, func(i int, m evidence.Runner, buf *[]byte) {
		tells[i] = string(s.Run(m, c, buf)) != string(own)
	})
	var out []mma.Params
	for i, yes := range tells {
		if yes {
			out = append(out, mutants[i])
		}
	}
	return out
}

// harmless returns the indexes of the mutants that lose at most pairLosses cases, taking
// one from each group in turn, the least harmful first.
func (s *Search) harmless(mutants []change.Mutant, passes *evidence.Cases) []int {
	kept := s.Counts(change.Programs(mutants), passes)
	var groups [][]int
	for i, m := range mutants {
		if i == 0 || m.Group != mutants[i-1].Group {
			groups = append(groups, nil)
		}
		if last := len(groups) - 1; kept[i] >= len(passes.Want)-pairLosses {
			groups[last] = append(groups[last], i)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(i, j int) int { return kept[j] - kept[i] })
	}
	var out []int
	for more := true; more; {
		more = false
		for n, g := range groups {
			if len(g) > 0 {
				out, groups[n], more = append(out, g[0]), g[1:], true
			}
		}
	}
	return out
}

// delta is what one program changes of another.
type delta []fieldValue

type fieldValue struct {
	mma.Field
	value int
}

// deltaOf returns what q changes of p.
func deltaOf(p, q *mma.Params) delta {
	var d delta
	for _, f := range mma.Fields() {
		if v := f.Int(q); v != f.Int(p) {
			d = append(d, fieldValue{f, v})
		}
	}
	return d
}

// on returns p with the changes.
func (d delta) on(p mma.Params) mma.Params {
	for _, f := range d {
		f.SetInt(&p, f.value)
	}
	return p
}

// together applies each second change on top of first, and leaves out those that add
// nothing to it or undo it.
func together(first *mma.Params, seconds []mma.Params, changes []delta) []mma.Params {
	var both []mma.Params
	for i, d := range changes {
		if q := d.on(*first); q != *first && q != seconds[i] {
			both = append(both, q)
		}
	}
	return both
}
