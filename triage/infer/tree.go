package infer

import (
	"context"
	"errors"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// A few questions reveal the summation tree of a unit (probe.Prober.Tree), and with it
// order, lanes, steps and groups, which take a search long to find since no part of a
// shape explains anything without the others. So the first hypotheses are programs of
// which it is known that they give the answers from which the tree was made: the shapes
// that fit the tree (shapes.go), each with the few roundings and alignments on which it
// depends whether a sum swamps small terms. Where there is no tree, or none of these leads
// to a program, the search begins from skeletons.

// The sizes of what follows from the tree.
const (
	treeTerms   = 130  // terms up to which every pair is asked for
	treeKept    = 200  // of these questions become evidence
	treeQuick   = 12   // questions that a program must explain before it is tried on the others
	treeTried   = 3000 // programs with a number of stages that are tried
	treeRoughly = 60   // cases on which these are ranked
	treeFitting = 300  // programs that are tried on all questions
	treeRanked  = 300  // cases on which those that fit are ranked
	treeStarts  = 6    // shapes from which a search begins
)

// treeName is the family of the tree's questions.
const treeName = "tree"

// treeUnit is the unit as package probe sees it.
type treeUnit struct {
	*loop
	err error
}

var errNoAnswer = errors.New("the unit fails on the questions")

func (u *treeUnit) Instruction() *mma.Instruction {
	return &mma.Instruction{Formats: u.Formats, K: u.K}
}

// Run asks for a batch.
func (u *treeUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	dots := u.unit.unpack(in, in.Dots())
	kept, want, err := u.unit.ask(ctx, dots)
	if err == nil && len(kept) < len(dots) {
		err = errNoAnswer
	}
	if u.err = err; err != nil {
		return err
	}
	for i, code := range want {
		mma.Store(out, u.D.Width(), i, code)
	}
	return nil
}

// revealedTree is the summation tree with the questions that showed it and the answers.
type revealedTree struct {
	tree *probe.Tree // nil: there is none
	dots []*mma.Dot
	want []uint64
}

// askTree asks for the summation tree.
func (l *loop) askTree(ctx context.Context) (*revealedTree, error) {
	n := l.K
	if l.C != fp.None {
		n++
	}
	if n < 3 || n > treeTerms {
		return &revealedTree{}, nil
	}
	u := &treeUnit{loop: l}
	p := probe.New(ctx, u)
	t, why := p.CountedTree()
	if u.err != nil && !errors.Is(u.err, errNoAnswer) {
		return nil, u.err
	}
	if t == nil || u.err != nil {
		l.trace("no tree: %s", why)
		return &revealedTree{}, nil
	}
	l.trace("tree %s", t.Formula(l.K))
	r := &revealedTree{tree: t}
	for _, s := range p.TreeQuestions() {
		r.dots, r.want = append(r.dots, s.Dot), append(r.want, s.Got)
	}
	return r, nil
}

// reveal asks for the summation tree once, keeps some of the answers as evidence, and makes
// the first hypotheses of it.
func (l *loop) reveal(ctx context.Context) (err error) {
	if l.tree == nil {
		if l.tree, err = l.askTree(ctx); err != nil {
			return err
		}
	}
	t := l.tree
	if t.tree == nil {
		return nil
	}
	all := l.Pack(t.dots, t.want)
	perm := l.rand().Perm(len(t.dots))
	perm = perm[:min(len(perm), treeKept)]
	slices.Sort(perm)
	dots, want := make([]*mma.Dot, len(perm)), make([]uint64, len(perm))
	for i, at := range perm {
		dots[i], want[i] = t.dots[at], t.want[at]
	}
	if err := l.unit.repeat(ctx, dots, want); err != nil {
		return err
	}
	l.Add(treeName, dots, want)
	l.revealed = l.fitting(newShapes(l.Space, t.tree), all)
	return ctx.Err()
}

// fitting returns programs of shapes that explain the tree's questions, those that explain
// most of all evidence first, at most one of each kind of shape. Two stages are tried where
// fewer do not explain the questions.
func (l *loop) fitting(s *shapes, all *evidence.Cases) []mma.Params {
	e := l.Loosely()
	r := l.rand()
	quick := &evidence.Cases{Batch: mma.NewBatch(l.Formats, mma.Shape{M: 1, N: 1, K: l.K, Tiles: min(treeQuick, len(all.Want))})}
	for n, at := range r.Perm(len(all.Want))[:quick.Batch.Tiles] {
		quick.Batch.Take(n, all.Batch, at)
		quick.Want = append(quick.Want, all.Want[at])
	}
	cases := r.Perm(len(e.All().Want))
	few, many := e.Pick(cases[:min(len(cases), treeRoughly)]), e.Pick(cases[:min(len(cases), treeRanked)])
	try := func(ps []mma.Params) []mma.Params {
		fit := search.AllRight(e, search.MostRight(e, search.AllRight(e, ps, quick), few, treeFitting), all)
		l.trace("  %d programs, of which %d fit", len(ps), len(fit))
		return search.MostRight(e, fit, many, len(fit))
	}
	fit := try(append(s.programs(0, treeTried), s.programs(1, treeTried)...))
	if len(fit) == 0 {
		fit = try(s.programs(2, treeTried))
	}
	var best []mma.Params
	seen := map[mma.Params]bool{}
	for _, p := range fit {
		if kind := kindOf(p); !seen[kind] && len(best) < treeStarts {
			seen[kind] = true
			best = append(best, p)
			l.trace("  %s", brief(&p))
		}
	}
	return best
}

// kindOf returns what a program says about where terms are added: in lanes, steps or stages,
// and c among them. In which order they are, and how a stage adds them, is mostly another way
// of writing the same tree.
func kindOf(p mma.Params) mma.Params {
	q := mma.Params{L: p.L, Lanes: p.Lanes, Tail: p.Tail, Start: p.Start, Leaf: p.Leaf}
	for _, stage := range []struct{ of, like *mma.Stage }{{&q.Stage0, &p.Stage0}, {&q.Stage1, &p.Stage1}} {
		if stage.like.Sum != mma.Off {
			stage.of.Sum, stage.of.Group, stage.of.Deep = mma.Fused, stage.like.Group, stage.like.Deep
		}
	}
	return q
}
