// Package oracle is the judge of differential tests. It answers three
// questions about a dot product, each in its own way:
//
//	Eval        what a parameter program gives: a slow interpreter in exact integers
//	ExactDot    what the exact value is, and how far a result is from it
//	References  what common chains of CPU operations give: native floats
//
// Flags returns the exceptions that a program raises,
// and Compare returns how two results differ.
//
// Package sim interprets the same programs with fast integers. The two share
// the text of package mma, which defines the programs, and the format table of
// package fp, but no arithmetic: here numbers are read, rounded and written with exact
// integers, so that a mistake in one of them shows as a difference.
package oracle

import (
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
	return NewEvaluator(p, f, k).Eval(d)
}

// Evaluator is Eval for many dot products of one program. It is not safe for use by several
// goroutines.
type Evaluator struct{ e evaluator }

// NewEvaluator returns the Evaluator of a program, with the parameters of Eval.
func NewEvaluator(p *mma.Params, f mma.Formats, k int) *Evaluator {
	return &Evaluator{newEvaluator(p, f, k)}
}

// Eval does what the function Eval does.
func (x *Evaluator) Eval(d *mma.Dot) uint64 {
	e := &x.e
	e.dot = d
	f, hasC := &e.f, e.f.C != fp.None
	var c term
	if hasC {
		c = e.readC(f.C, d.C)
	}
	code := d.C
	for lo := 0; lo < len(d.A); lo += e.k {
		acc := &c
		if !hasC {
			acc = nil
		}
		if e.Special.NaN != mma.NaNOfC || acc == nil || c.kind != NotANumber {
			code = encode(e.execute(lo, acc), f.D, e.Special)
		}
		if lo+e.k < len(d.A) {
			c, hasC = e.readC(f.D, code), true
		}
	}
	return code
}

// evaluator runs one program on one dot product after the other.
type evaluator struct {
	*mma.Params
	f      mma.Formats
	k      int
	whole  bool       // of integers
	plain  bool       // products of numbers are those of their integers: see plainProducts
	order  []int      // permutation
	passes []mma.Pass // at least one
	dot    *mma.Dot
	random uint64  // code of the first b of an execution: the random bits of a rounding by RS
	memory []term  // of space: what is in use
	nans   []nanOf // of nansOf

	rule   fp.FlagRule // of Flags; 0: they are not asked for
	raised fp.Flags
}

func newEvaluator(p *mma.Params, f mma.Formats, k int) evaluator {
	passes := p.Passes.List()
	if passes == nil {
		passes = []mma.Pass{{}}
	}
	return evaluator{Params: p, f: f, k: k, whole: f.D.Integer(), plain: plainProducts(p, f), order: permutation(p.Order, k), passes: passes}
}

// space returns an empty slice with room for n terms, which is good until the next execution.
func (e *evaluator) space(n int) []term {
	used := len(e.memory)
	if used+n > cap(e.memory) {
		e.memory, used = make([]term, 0, 2*cap(e.memory)+n), 0
	}
	e.memory = e.memory[:used+n]
	return e.memory[used:used:len(e.memory)]
}

// readC reads C, or the previous D as C, narrows it and flushes its subnormals.
func (e *evaluator) readC(id fp.ID, code uint64) term {
	var t term
	e.decode(&t, id, unread(code, e.In.NarrowC, id))
	t = narrowed(t, e.In.NarrowC, id.Get())
	flushInput(&t, e.In.C, id)
	return t
}

// execute is one execution of the instruction, on the k elements from lo. c is
// nil if there is no C.
func (e *evaluator) execute(lo int, c *term) term {
	e.memory, e.random = e.memory[:0], e.dot.B[lo]
	inLanes := e.k
	if e.Tail {
		inLanes = e.k / int(e.Lanes) * int(e.Lanes)
	}
	products := e.products(lo)
	d := e.lanes(products, inLanes, c)
	if inLanes < e.k {
		flushInput(&d, e.In.Acc, e.f.D)
		d = e.lane(products, inLanes, e.k, 1, &d)
	}
	switch {
	case e.Start == mma.StartC || c == nil || e.Leaf != mma.NoLeaf:
	case e.Special.CLeft:
		d = e.late(*c, d, e.lateC())
	default:
		d = e.late(d, *c, e.lateC())
	}
	e.round(&d, &e.Out)
	return d
}

// lanes deals the first products, of some elements, out to the interleaved accumulators and
// adds these.
func (e *evaluator) lanes(products []term, elements int, c *term) term {
	n := max(int(e.Lanes), 1)
	sums := e.space(n)
	for r := range n {
		sums = append(sums, e.lane(products, r, elements, n, e.start(r, c)))
	}
	if e.Start != mma.StartC && c != nil {
		sums = e.withLeaf(sums, *c, e.Leaf == mma.LeafFirst, e.Leaf == mma.LeafLast)
	}
	return e.merge(sums)
}

// start is what the accumulator of lane r holds before the first step; nil is
// nothing at all.
func (e *evaluator) start(r int, c *term) *term {
	if e.Start == mma.StartC && r == 0 && c != nil {
		return c
	}
	if e.Start == mma.StartEmpty || e.Bare && r > 0 {
		return nil
	}
	return &plusZero
}

// plusZero is +0 as a term that has no exponent.
var plusZero = term{null: true}

// lane takes the elements from, from+stride and so on below to of each sequence, L at a time.
// A lane that gets none and starts with nothing is +0.
func (e *evaluator) lane(products []term, from, to, stride int, acc *term) term {
	var d term
	begun := false
	each, length := e.together(), e.together()*e.k
	for lo := 0; lo < len(products); lo += length {
		own := e.dealt(products[lo:lo+to*each], from, stride, each)
		l := int(e.L) * each
		if l == 0 {
			l = len(own)
		}
		for ; len(own) > 0; own = own[min(l, len(own)):] {
			if begun {
				flushInput(&d, e.In.Acc, e.f.D)
			}
			d = e.step(own[:min(l, len(own))], acc)
			acc, begun = &d, true
		}
	}
	if acc == nil {
		return plusZero
	}
	return *acc
}

// step is one step: the stages, the join with the accumulator, Post and Acc.
func (e *evaluator) step(products []term, acc *term) term {
	sums := products
	leaf := func(first, last mma.Leaf) {
		if acc != nil && e.Start == mma.StartC {
			sums = e.withLeaf(sums, *acc, e.Leaf == first, e.Leaf == last)
		}
	}
	leaf(mma.LeafFirst, mma.LeafLast)
	sums = e.stage(sums, &e.Stage0, e.Scale == mma.ScaleGroup)
	leaf(mma.SumFirst, mma.SumLast)
	sums = e.stage(sums, &e.Stage1, false)
	if e.Start == mma.StartC && e.Leaf != mma.NoLeaf {
		acc = nil // it is one of the sums, or part of one
	}
	if acc != nil && e.Join.CNorm && acc.kind == Finite && !acc.isZero() {
		normal := *acc
		normal.e = acc.log2()
		acc = &normal
	}
	if acc != nil && acc.kind != Finite && lost(sums, e.Join.CLost) {
		acc = &plusZero
	}
	d := e.fused(sums, acc, &e.Join, e.next())
	if e.Join.Plus && d.isZero() {
		d.neg = false
	}
	e.round(&d, &e.Join.Post)
	e.round(&d, &e.Acc)
	return d
}

// next is the rounding that follows the sum of a step.
func (e *evaluator) next() *mma.Round {
	if e.Join.Post == (mma.Round{}) {
		return &e.Acc
	}
	return &e.Join.Post
}

// lost reports whether an infinite or NaN accumulator is dropped: from, which is Join.CLost,
// is not 0, all terms are finite, and the largest of their exponents is at least from.
func lost(terms []term, from mma.Exp) bool {
	top, some := maxExponent(terms, 0)
	return from != 0 && some && top >= int(from) && !someSpecial(terms)
}

// late is an addition after the last step.
func (e *evaluator) late(a, b term, r *mma.Round) term {
	t := e.fused(append(e.space(2), a, b), nil, &exactJoin, r)
	e.round(&t, r)
	return t
}

// lateC returns the rounding with which C is added after the last step. If the instruction
// has no C of its own, only repeated executions have one: the previous D, which is rounded
// as in a step.
func (e *evaluator) lateC() *mma.Round {
	if e.f.C == fp.None {
		return &e.Acc
	}
	return &e.Late
}
