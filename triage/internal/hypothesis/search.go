// Package hypothesis searches for a program that explains evidence, starting from one
// that does not: inference begins with next to nothing, triage with the program of the
// known side.
package hypothesis

import (
	"cmp"
	"context"
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// The limits of a search.
const (
	quickFails  = 14        // failing cases: a mutant must explain one of these to be looked at
	sampleSize  = 48        // failing cases, and passing ones, on which mutants are ranked
	bestMutants = 24        // mutants of a step that are run on all evidence
	alikeMost   = 3         // hypotheses kept that explain the same cases
	Patience    = 6         // steps without a better hypothesis before rarer changes are tried, and two at once
	pairFails   = 8         // failing cases: two changes must explain one of these
	pairLosses  = 3         // cases of a sample that the first of two changes may lose
	pairEvals   = 4_000_000 // dot products computed when two changes are tried at once
)

// Node is a hypothesis that the search has met.
type Node struct {
	P        mma.Params
	hits     []bool
	n        int // hits
	size     int
	expanded bool
	widened  bool
	paired   bool
	group    int // group of the change that made it from its parent; 0: several changes, or it is one of the first
}

// better orders nodes: those that explain more come first, then the smaller ones.
func better(x, y *Node) int {
	return cmp.Or(y.n-x.n, x.size-y.size)
}

// Search is a best-first search among hypotheses for one that explains all
// evidence. A step expands the best node that is left: all its mutants are ranked on
// a sample of the cases that it fails on and of those that it does not, and the best are
// run on everything. Changes that each explain something may together explain more, so the
// best ones are also combined.
type Search struct {
	*evidence.Evidence
	r     *rand.Rand
	steps []change.Breadth
	spent func() bool // reports whether the search has to give up
	trace func(format string, args ...any)
	// Keep reports whether a program may replace another in simplify and, if Bound is set,
	// be tried at all; nil: every program may.
	Keep  func(p *mma.Params) bool
	Bound bool
	// Kinds limits how many of the mutants that a step keeps are chosen as the best of their
	// group (change.Mutant); the rest are the best overall.
	Kinds int
	nodes []*Node
	seen  map[mma.Params]bool
	alike map[uint64]int
}

var hashSeed = maphash.MakeSeed()

// AllSteps are the changes of a hypothesis that are tried first: Steps, then TermSteps,
// which only several terms can show.
var AllSteps = []change.Breadth{change.Steps, change.TermSteps}

// New returns a search from some programs. spent reports whether it has to give up; trace,
// if not nil, is told what happens.
func New(e *evidence.Evidence, r *rand.Rand, steps []change.Breadth, spent func() bool, trace func(format string, args ...any), from ...mma.Params) *Search {
	if trace == nil {
		trace = func(string, ...any) {}
	}
	s := &Search{Evidence: e, r: r, steps: steps, spent: spent, trace: trace, seen: map[mma.Params]bool{}, alike: map[uint64]int{}}
	for _, p := range from {
		s.add(p)
	}
	return s
}

// add takes in a hypothesis; nil if it is known or not valid, or if alikeMost
// others already explain the same cases.
func (s *Search) add(p mma.Params) *Node {
	if s.seen[p] || !s.Valid(&p) {
		return nil
	}
	s.seen[p] = true
	n := &Node{P: p, hits: s.Hits(&p, s.Whole()), size: s.Size(&p)}
	n.n = evidence.Total(n.hits)
	key := hashHits(n.hits)
	if s.alike[key] >= alikeMost {
		return nil
	}
	s.alike[key]++
	s.nodes = append(s.nodes, n)
	return n
}

// mutants returns the mutants of a program, except for those that are barred.
func (s *Search) mutants(p *mma.Params, steps []change.Breadth) []change.Mutant {
	return slices.DeleteFunc(s.Mutants(p, steps...), func(m change.Mutant) bool { return s.barred(m.Params) })
}

// barred reports whether the search must not go to a program.
func (s *Search) barred(p mma.Params) bool { return s.Bound && s.Keep != nil && !s.Keep(&p) }

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

// Climb follows the best change as long as there is one that helps.
func (s *Search) Climb(ctx context.Context) *Node {
	for ctx.Err() == nil && !s.spent() {
		b := s.Best()
		if s.Left(b) == 0 || b.expanded {
			return b
		}
		s.expand(b)
	}
	return s.Best()
}

// Explore expands nodes until one explains everything, the steps are spent, or
// nothing is left to try. Where single changes do not help for a while it tries rarer
// ones, then two.
func (s *Search) Explore(ctx context.Context, steps int) *Node {
	best, stale := s.Best(), 0
	for ; steps > 0 && ctx.Err() == nil && !s.spent() && s.Left(best) > 0; steps-- {
		n := s.next(best)
		switch {
		case n != nil && (stale < Patience || best.paired):
			s.expand(n)
		case !best.widened:
			s.widen(best)
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
		if ctx.Err() != nil || s.spent() || s.Left(s.Best()) == 0 || len(seen) == mutants {
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
	s.trace("    %d of %d cases left", s.Left(s.Best()), len(n.hits))
	s.try(n, s.steps...)
}

// widen adds the best mutants of a node that rarer changes make.
func (s *Search) widen(n *Node) {
	n.widened = true
	s.try(n, change.RareSteps)
}

// try adds the best mutants of a node that some changes make, and combines these changes.
func (s *Search) try(n *Node, steps ...change.Breadth) {
	var kids []*Node
	for _, m := range s.ranked(n, s.mutants(&n.P, steps)) {
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

// Among adds those of many programs that seem to explain most beyond the best node. It asks
// now and then whether these are enough, and returns how many programs it has tried.
func (s *Search) Among(all iter.Seq[mma.Params], enough func() bool) (tried int) {
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
			if rankSome(); enough() {
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
	const refined = 8 // how many of the best are also tried with other rounding modes
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

// simplify returns a node that is smaller than n and explains no less, if it finds one
// that the search has not met; else n.
func (s *Search) simplify(n *Node) *Node {
	p := Simplest(s.Evidence, n.P, s.Whole(), n.n, s.Keep)
	if p == n.P || s.seen[p] {
		return n
	}
	s.seen[p] = true
	n.expanded = true
	m := &Node{P: p, hits: s.Hits(&p, s.Whole()), size: s.Size(&p), group: n.group}
	m.n = evidence.Total(m.hits)
	s.nodes = append(s.nodes, m)
	return m
}

// Simplest makes a program smaller as long as it explains at least n of the cases and
// meets the condition keep, if that is not nil.
func Simplest(e *evidence.Evidence, p mma.Params, c *evidence.Cases, n int, keep func(p *mma.Params) bool) mma.Params {
	for again := true; again; {
		again = false
		simpler := change.Programs(e.Mutants(&p, change.Removals))
		if keep != nil {
			simpler = slices.DeleteFunc(simpler, func(q mma.Params) bool { return !keep(&q) })
		}
		for i, got := range e.Counts(simpler, c) {
			if got >= n {
				p, again = simpler[i], true
				break
			}
		}
	}
	return p
}

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
	type found struct {
		p    mma.Params
		gain int
	}
	var all []found
	for _, i := range s.harmless(mutants, g.passes) {
		if s.Computed.Load() >= until {
			break
		}
		both := together(&mutants[i].Params, seconds, changes)
		gains := make([]int, len(both))
		s.Sweep(both, func(i int, m evidence.Runner, buf *[]byte) { gains[i], _ = s.gain(g, m, buf) })
		for i, gain := range gains {
			if gain > 0 && !s.seen[both[i]] && !s.barred(both[i]) {
				all = append(all, found{both[i], gain})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y found) int { return y.gain - x.gain })
	won := false
	for _, f := range all[:min(len(all), 2*bestMutants)] {
		if k := s.add(f.p); k != nil && k.n > n.n {
			won = true
		}
	}
	return won
}

// telling returns the mutants that give another result in some of the cases.
func (s *Search) telling(p *mma.Params, mutants []mma.Params, c *evidence.Cases) []mma.Params {
	now, err := sim.New(s.Formats, s.K, *p)
	if err != nil {
		return nil
	}
	own := make([]byte, len(c.Want)*s.D.Width())
	now.Run(c.Batch, own)
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
