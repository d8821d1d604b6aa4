package infer

import (
	"context"
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// Steps of a search change one part of a shape at a time: the order of the products, the
// steps, the lanes, a stage. Where there is no summation tree to begin from, a search may end
// with the right widths and roundings in a shape that only looks like the unit's, from which
// no single change leads to it. Then all shapes are tried with these widths and roundings.

const (
	reshapeSteps = 20      // of the search that goes on from the best other shapes
	shapesMost   = 500_000 // shapes of a program that are looked at, valid or not
)

// reshape goes on from some programs in all other shapes, as search does.
func (l *loop) reshape(ctx context.Context, steps int, from []mma.Params) *search.Search {
	loose := l.newSearch(l.Loosely(), search.AllSteps, from...)
	for _, p := range from {
		for _, q := range cutBefore(&p) {
			if !slices.Contains(from, q) { // it need not be valid: in another shape it may be
				from = append(slices.Clip(from), q)
			}
		}
	}
	for i := range from {
		tried := loose.Among(ctx, l.otherShapes(&from[i]), l.budget.Part(l.effort/4/int64(len(from))))
		l.trace("  %d other shapes of %s", tried, brief(&from[i]))
	}
	return l.searchFrom(ctx, otherShape, steps, loose, from)
}

// cutBefore returns programs whose last sum is exact, and which cut as it did before: in a
// stage of its own, which may have groups, or by rounding what the last stage gives.
func cutBefore(p *mma.Params) []mma.Params {
	exact := *p
	exact.Join = mma.Join{CDrop: p.Join.CDrop, Post: p.Join.Post}
	stage := mma.Stage{Sum: mma.Fused, Align: p.Join.Align}
	round := mma.Round{Frac: p.Join.Align.F, Mode: p.Join.Align.Mode}
	byStage, byRound := exact, exact
	switch mma.Off {
	case p.Stage0.Sum:
		byStage.Stage0 = stage
		return []mma.Params{byStage}
	case p.Stage1.Sum:
		byRound.Stage0.Round, byStage.Stage1 = round, stage
		return []mma.Params{byRound, byStage}
	}
	byRound.Stage1.Round = round
	return []mma.Params{byRound}
}

// otherShapes returns a program in all other shapes: first those with its own stages, then
// those with as many stages and lanes as it has.
func (l *loop) otherShapes(p *mma.Params) iter.Seq[mma.Params] {
	x := &shapes{Space: l.Space, first: int(p.Lanes)}
	if l.C != fp.None {
		x.c = setOf(l.K)
	}
	return func(yield func(mma.Params) bool) {
		more, looked := true, 0
		try := func(shape mma.Params) {
			q := l.inShape(*p, &shape)
			looked++
			more = more && looked < shapesMost && (!l.Valid(&q) || yield(q))
		}
		x.frames(func(frame mma.Params) bool {
			frame.Stage0, frame.Stage1 = p.Stage0, p.Stage1
			if frame.Start == mma.StartC {
				frame.Leaf = p.Leaf
			}
			try(frame)
			return more
		})
		for _, n := range stagesFirst(p) {
			x.frames(func(frame mma.Params) bool {
				if more {
					x.stages(&frame, n, try)
				}
				return more
			})
		}
	}
}

// stagesFirst returns the numbers of stages that a program can have, its own first.
func stagesFirst(p *mma.Params) []int {
	switch {
	case p.Stage1.Sum != mma.Off:
		return []int{2, 1, 0}
	case p.Stage0.Sum != mma.Off:
		return []int{1, 2, 0}
	}
	return []int{0, 1, 2}
}

// inShape returns a program in the shape of another. It starts with c or without as the
// other does.
func (l *loop) inShape(p mma.Params, shape *mma.Params) mma.Params {
	p.Order, p.L, p.Lanes, p.Merge, p.Tail, p.Leaf = shape.Order, shape.L, shape.Lanes, shape.Merge, shape.Tail, shape.Leaf
	if (p.Start == mma.StartC) != (shape.Start == mma.StartC) {
		p.Start = shape.Start
	}
	for _, stage := range []struct{ of, like *mma.Stage }{{&p.Stage0, &shape.Stage0}, {&p.Stage1, &shape.Stage1}} {
		if stage.like.Sum == mma.Off {
			*stage.of = mma.Stage{}
		}
		change.Reshape(stage.of, *stage.like)
	}
	last := p.Late
	l.FixLate(&p, fp.RNE)
	if last != (mma.Round{}) && p.Late == (mma.Round{}) && !l.Valid(&p) {
		p.Acc = last // it makes the results now
	}
	return p
}
