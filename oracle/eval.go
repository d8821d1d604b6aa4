// Package oracle is the judge of differential tests. It answers three
// questions about a dot product, each in its own way:
//
//	Eval        what a parameter program gives: a slow interpreter in exact integers
//	ExactDot    what the exact value is, and how far a result is from it
//	References  what common chains of CPU operations give: native floats
//
// and Compare returns how two results differ.
//
// Package sim interprets the same programs with fast integers. The two share
// the text of package mma, which defines the programs, and the format table of
// package fp, but no arithmetic: here numbers are read, rounded and written with exact
// integers, so that a mistake in one of them shows as a difference.
package oracle

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Eval returns the code of D that the program p gives for one dot product. k
// is the instruction's K, and p must be valid for it.
//
// len(d.A) is a multiple of k. For more than k elements the instruction is
// executed repeatedly, each time on the next k elements and with the previous D
// as C, as in a matrix product; that C is in D's format. An instruction without
// C has none in its first execution, where StartC then means +0.
func Eval(p *mma.Params, f mma.Formats, k int, d *mma.Dot) uint64 {
	e := evaluator{Params: p, f: f, dot: d}
	var c *term
	if f.C != fp.None {
		c = e.readC(f.C, d.C)
	}
	code := d.C
	for lo := 0; lo < len(d.A); lo += k {
		if p.Special.NaN != mma.NaNOfC || c == nil || c.kind != NotANumber {
			code = encode(e.execute(lo, k, c), f.D, p.Special)
		}
		c = e.readC(f.D, code)
	}
	return code
}

// evaluator runs one program on one dot product.
type evaluator struct {
	*mma.Params
	f   mma.Formats
	dot *mma.Dot
}

// readC reads C, or the previous D as C, narrows it and flushes its subnormals.
func (e *evaluator) readC(id fp.ID, code uint64) *term {
	t := e.decoded(id, unread(code, e.In.NarrowC, id))
	t = flushInput(narrowed(t, e.In.NarrowC, id.Get()), e.In.C, id)
	return &t
}

// execute is one execution of the instruction, on the k elements from lo. c is
// nil if there is no C.
func (e *evaluator) execute(lo, k int, c *term) term {
	inLanes := k
	if e.Tail {
		inLanes = k / int(e.Lanes) * int(e.Lanes)
	}
	var lanes, rest [][]bundle
	for _, s := range e.sequences(lo, k) {
		lanes, rest = append(lanes, s[:inLanes]), append(rest, s[inLanes:])
	}
	d := e.lanes(lanes, c)
	if inLanes < k {
		d = flushInput(d, e.In.Acc, e.f.D)
		d = e.lane(rest, &d)
	}
	switch {
	case e.Start == mma.StartC || c == nil || e.Leaf != mma.NoLeaf:
	case e.Special.CLeft:
		d = e.late(*c, d, e.lateC())
	default:
		d = e.late(d, *c, e.lateC())
	}
	return e.round(d, e.Out)
}

// lanes deals the products out to the interleaved accumulators and adds these.
func (e *evaluator) lanes(sequences [][]bundle, c *term) term {
	n := max(int(e.Lanes), 1)
	var sums []term
	for r := range n {
		var own [][]bundle
		for _, s := range sequences {
			own = append(own, dealt(s, r, n))
		}
		sums = append(sums, e.lane(own, e.start(r, c)))
	}
	if e.Start != mma.StartC && c != nil {
		sums = withLeaf(sums, *c, e.Leaf == mma.LeafFirst, e.Leaf == mma.LeafLast)
	}
	return e.merge(sums)
}

// start is what the accumulator of lane r holds before the first step; nil is
// nothing at all.
func (e *evaluator) start(r int, c *term) *term {
	if e.Start == mma.StartC && r == 0 && c != nil {
		return c
	}
	if e.Start == mma.StartEmpty {
		return nil
	}
	return &term{null: true}
}

// lane takes the elements of each sequence L at a time. A lane that gets none and starts
// with nothing is +0.
func (e *evaluator) lane(sequences [][]bundle, acc *term) term {
	var steps [][]term
	for _, s := range sequences {
		l := int(e.L)
		if l == 0 {
			l = len(s)
		}
		for lo := 0; lo < len(s); lo += l {
			steps = append(steps, slices.Concat(s[lo:min(lo+l, len(s))]...))
		}
	}
	for i, products := range steps {
		d := e.step(products, acc)
		if i < len(steps)-1 {
			d = flushInput(d, e.In.Acc, e.f.D)
		}
		acc = &d
	}
	if acc == nil {
		return term{null: true}
	}
	return *acc
}

// step is one step: the stages, the join with the accumulator, Post and Acc.
func (e *evaluator) step(products []term, acc *term) term {
	sums := products
	leaf := func(first, last mma.Leaf) {
		if acc != nil && e.Start == mma.StartC {
			sums = withLeaf(sums, *acc, e.Leaf == first, e.Leaf == last)
		}
	}
	leaf(mma.LeafFirst, mma.LeafLast)
	sums = e.stage(sums, e.Stage0, e.Scale == mma.ScaleGroup)
	leaf(mma.SumFirst, mma.SumLast)
	sums = e.stage(sums, e.Stage1, false)
	if e.Start == mma.StartC && e.Leaf != mma.NoLeaf {
		acc = nil // it is one of the sums, or part of one
	}
	next := e.Join.Post
	if next == (mma.Round{}) {
		next = e.Acc
	}
	if acc != nil && e.Join.CNorm && acc.kind == Finite && !acc.isZero() {
		normal := *acc
		normal.e = acc.log2()
		acc = &normal
	}
	if acc != nil && acc.kind != Finite && lost(sums, e.Join.CLost) {
		acc = &term{null: true}
	}
	d := e.fused(sums, acc, e.Join, next.Mode)
	return e.round(e.round(d, e.Join.Post), e.Acc)
}

// lost reports whether an infinite or NaN accumulator is dropped: from, which is Join.CLost,
// is not 0, all terms are finite, and the largest of their exponents is at least from.
func lost(terms []term, from mma.Exp) bool {
	top, some := maxExponent(terms, 0)
	return from != 0 && some && top >= int(from) && !slices.ContainsFunc(terms, func(t term) bool { return t.kind != Finite })
}

// late is an addition after the last step.
func (e *evaluator) late(a, b term, r mma.Round) term {
	return e.round(e.fused([]term{a, b}, nil, mma.Join{}, r.Mode), r)
}

// lateC returns the rounding with which C is added after the last step. If the instruction
// has no C of its own, only repeated executions have one: the previous D, which is rounded
// as in a step.
func (e *evaluator) lateC() mma.Round {
	if e.f.C == fp.None {
		return e.Acc
	}
	return e.Late
}
