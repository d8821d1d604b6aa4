// Package search looks for a program that explains evidence: inference begins with next to
// nothing, triage with the program of the known side.
//
// A state of a search is a program, a move is a change of package triage/change, and the
// score of a program is the number of cases that it explains; of programs that explain the
// same number, the smaller one comes first. Evaluating a program takes microseconds, so a
// step tries all moves of a program on a sample, and only the best on all cases.
//
// There are two ways to go. Levels (levels.go) tries all moves of the best programs, one
// level after the other, and finds all smallest changes that explain everything. A Search
// goes from the best program that is left to the next best (Explore, Climb, Near), combines
// moves that each explain something, and goes far; what it finds is made smaller afterwards
// (smaller.go).
//
// All searches of one task draw on one Budget (budget.go), which also reports how far they
// are. What a search finds follows from the evidence, its randomness and the budget of
// dot products alone, whatever the number of workers.
package search

import (
	"cmp"
	"context"
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// The limits of a search.
const (
	alikeMost = 3 // programs kept that explain the same cases
	Patience  = 6 // steps without a better program before rarer changes are tried, and two at once
)

// AllSteps are the changes that are tried first: Steps, then TermSteps, which only several
// terms can show.
var AllSteps = []change.Breadth{change.Steps, change.TermSteps}

// Node is a program that the search has met.
type Node struct {
	P     mma.Params
	hits  []bool
	n     int // hits
	size  int
	tried     // what was tried from here
	group int // group of the change that made it from its parent; 0: several changes, or it is one of the first
}

// Right returns how many cases the program explains.
func (n *Node) Right() int { return n.n }

// tried is which moves of a node were tried.
type tried struct{ expanded, widened, paired bool }

// better orders nodes: those that explain more come first, then the smaller ones.
func better(x, y *Node) int {
	return cmp.Or(y.n-x.n, x.size-y.size)
}

// Search is a best-first search for a program that explains all evidence. A step expands
// the best node that is left: all its mutants are ranked on a sample of the cases that it
// fails on and of those that it does not, and the best are run on everything. Changes that
// each explain something may together explain more, so the best ones are also combined.
type Search struct {
	*evidence.Evidence
	Budget *Budget
	// Keep reports whether a program may replace another when it is made smaller and, if
	// Bound is set, be tried at all; nil: every program may.
	Keep  func(p *mma.Params) bool
	Bound bool
	// Kinds limits how many of the mutants that a step keeps are chosen as the best of their
	// group (change.Mutant); the rest are the best overall.
	Kinds int

	r     *rand.Rand
	steps []change.Breadth
	nodes []*Node
	seen  map[mma.Params]bool
	alike map[uint64]int
}

// New returns a search from some programs.
func New(e *evidence.Evidence, b *Budget, r *rand.Rand, steps []change.Breadth, from ...mma.Params) *Search {
	s := &Search{Evidence: e, Budget: b, r: r, steps: steps, seen: map[mma.Params]bool{}, alike: map[uint64]int{}}
	for _, p := range from {
		s.add(p)
	}
	return s
}

// node makes a node of a program that has not been met.
func (s *Search) node(p mma.Params) *Node {
	s.seen[p] = true
	n := &Node{P: p, hits: s.Hits(&p, s.All()), size: s.Size(&p)}
	n.n = evidence.Total(n.hits)
	return n
}

// add takes in a program; nil if it is known or not valid, or if alikeMost others already
// explain the same cases.
func (s *Search) add(p mma.Params) *Node {
	if s.seen[p] || !s.Valid(&p) {
		return nil
	}
	n := s.node(p)
	key := hashHits(n.hits)
	if s.alike[key] >= alikeMost {
		return nil
	}
	s.alike[key]++
	s.nodes = append(s.nodes, n)
	return n
}

// barred reports whether the search must not go to a program.
func (s *Search) barred(p mma.Params) bool { return s.Bound && s.Keep != nil && !s.Keep(&p) }

var hashSeed = maphash.MakeSeed()

func hashHits(hits []bool) uint64 {
	bits := make([]byte, (len(hits)+7)/8)
	for i, x := range hits {
		if x {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return maphash.Bytes(hashSeed, bits)
}

// Best returns the best node. There is at least one.
func (s *Search) Best() *Node { return slices.MinFunc(s.nodes, better) }

// BestWithout returns the program that explains the most cases but for those of some families;
// of several such the smallest, and of these the best of all.
func (s *Search) BestWithout(families ...string) mma.Params {
	count := func(n *Node) int { return s.TotalWithout(n.hits, families...) }
	return slices.MinFunc(s.nodes, func(x, y *Node) int { return cmp.Or(count(y)-count(x), x.size-y.size, better(x, y)) }).P
}

// Leaders returns the simplest programs that explain everything; if these are few, also
// the best that do not.
func (s *Search) Leaders() []mma.Params {
	const most, few = 12, 4
	all := slices.Clone(s.nodes)
	slices.SortStableFunc(all, better)
	var ps []mma.Params
	for _, n := range all {
		if len(ps) < few || s.Left(n) == 0 && len(ps) < most {
			ps = append(ps, n.P)
		}
	}
	return ps
}

// Left returns how many cases a node does not explain.
func (s *Search) Left(n *Node) int { return len(n.hits) - n.n }

// over reports whether the search has to end: it is broken off, has spent its budget, or has
// found what it looks for.
func (s *Search) over(ctx context.Context) bool {
	return ctx.Err() != nil || s.Budget.Spent() || s.Left(s.Best()) == 0
}

// Climb follows the best change as long as there is one that helps.
func (s *Search) Climb(ctx context.Context) *Node {
	for b := s.Best(); !b.expanded && !s.over(ctx); b = s.Best() {
		s.expand(b)
	}
	return s.Best()
}

// Explore expands nodes until one explains everything, the steps are spent, or
// nothing is left to try. Where single changes do not help for a while it tries rarer
// ones, then two.
func (s *Search) Explore(ctx context.Context, steps int) *Node {
	best, stale := s.Best(), 0
	for ; steps > 0 && !s.over(ctx); steps-- {
		n := s.next(best)
		switch {
		case n != nil && (stale < Patience || best.paired):
			s.expand(n)
		case !best.widened:
			best.widened = true
			s.try(best, change.RareSteps)
		case !s.pairs(best) && n == nil:
			return best
		}
		stale++
		if b := s.Best(); b != best {
			best, stale = b, 0
		}
	}
	return best
}

// Near expands the first program of the search and then some of its best mutants, one of each
// group and one that several changes made, until something explains everything. Explore would
// first follow combined changes, which are mostly not the unit's.
func (s *Search) Near(ctx context.Context, mutants int) {
	first := s.nodes[0]
	s.expand(first)
	kids := slices.DeleteFunc(slices.Clone(s.nodes[1:]), func(n *Node) bool { return n.n <= first.n })
	slices.SortStableFunc(kids, better)
	seen := map[int]bool{}
	for _, k := range kids {
		if len(seen) == mutants || s.over(ctx) {
			return
		}
		if !seen[k.group] && !k.expanded {
			seen[k.group] = true
			s.expand(k)
		}
	}
}

// next returns the node to expand: the most valuable of those that were not expanded and
// are not much worse than the best node. A case that the best node does not explain
// counts more than one that it does, since most nodes that are as good as the best are
// just other ways of writing it.
func (s *Search) next(best *Node) *Node {
	all := len(best.hits)
	worth := func(n *Node) int {
		fixed := 0
		for i, hit := range best.hits {
			if !hit && n.hits[i] {
				fixed++
			}
		}
		return n.n + fixed*max(all/50, 2*s.Left(best))/max(s.Left(best), 1)
	}
	var found *Node
	most := 0
	for _, n := range s.nodes {
		if n.expanded || n.n < best.n-all/20 {
			continue
		}
		if w := worth(n); found == nil || w > most || w == most && n.size < found.size {
			found, most = n, w
		}
	}
	return found
}

// expand adds the best mutants of a node.
func (s *Search) expand(n *Node) {
	n.expanded = true
	s.Budget.tracef("    %d of %d cases left", s.Left(s.Best()), len(n.hits))
	s.try(n, s.steps...)
}

// try adds the best mutants of a node that some changes make, and combines these changes.
func (s *Search) try(n *Node, steps ...change.Breadth) {
	var kids []*Node
	mutants := slices.DeleteFunc(s.Mutants(&n.P, steps...), func(m change.Mutant) bool { return s.barred(m.Params) })
	for _, m := range s.ranked(n, mutants) {
		if k := s.add(m.Params); k != nil {
			k.group = m.Group
			kids = append(kids, k)
		}
	}
	slices.SortStableFunc(kids, better)
	if len(kids) == 0 || kids[0].n <= n.n {
		return
	}
	best := kids[0]
	for _, k := range kids[1:] {
		if k.n <= n.n {
			break
		}
		if m := s.add(deltaOf(&n.P, &k.P).on(best.P)); m != nil && m.n > best.n {
			best = m
		}
	}
	s.simplify(best)
}

// Among adds those of many programs that seem to explain most beyond the best node, until
// a budget is spent. It returns how many programs it has tried.
func (s *Search) Among(ctx context.Context, all iter.Seq[mma.Params], b *Budget) (tried int) {
	const chunk = 4096
	g := s.gauge(s.Best(), quickFails)
	var best []rank
	var some []change.Mutant
	rankSome := func() {
		tried += len(some)
		best = append(best, s.ranks(g, some)...)
		sortRanks(best)
		best = best[:min(len(best), bestMutants)]
		some = some[:0]
	}
	for p := range all {
		if some = append(some, change.Mutant{Params: p}); len(some) == chunk {
			if rankSome(); ctx.Err() != nil || b.Spent() {
				break
			}
		}
	}
	rankSome()
	for _, r := range best {
		s.add(r.Params)
	}
	return tried
}

// simplify adds a node that is smaller than n and explains no less, if it finds one that the
// search has not met.
func (s *Search) simplify(n *Node) {
	p := Simplest(s.Evidence, n.P, s.All(), n.n, s.Keep)
	if p == n.P || s.seen[p] {
		return
	}
	n.expanded = true
	m := s.node(p)
	m.group = n.group
	s.nodes = append(s.nodes, m)
}
