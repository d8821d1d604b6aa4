// Package encode writes what a parameter program of package mma computes as a graph: a
// third interpreter of the programs, whose numbers are nodes. Its variables are the
// parts of the operands' codes, which programs share.
package encode

import (
	"math/big"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/grouping"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Program encodes a program: the result is the code of D. A *TooHard error names what cannot
// be encoded. Where a NaN result is one of the NaN operands, in must have been made for
// operands that are no NaNs: see NewInputs.
func Program(in *Inputs, p *mma.Params) (code *graph.Node, err error) {
	e := &encoder{Graph: in.Graph, Params: p, in: in, d: in.Formats.D.Get()}
	err = e.try(func() { code = e.nanOfC(e.code(e.execute())) })
	return code, err
}

// try encodes something; the error is a *TooHard one.
func (e *encoder) try(encode func()) (err error) {
	if err := encodable(e.Params, e.in.Formats); err != nil {
		return err
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *TooHard:
			err = r
		default:
			panic(r)
		}
	}()
	encode()
	return nil
}

// encoder writes one program.
type encoder struct {
	*graph.Graph
	*mma.Params
	in *Inputs
	d  *fp.Format

	bounds    bool   // numbers have bounds of their errors: see error.go
	normal    bool   // for operands that are not subnormal
	unbounded string // why there are no bounds
	emax      int    // the least of all roundings
}

// number is an exact number with a nominal exponent and its special kinds: see package
// mma. Its value is mag * 2^q; low and high are bounds: it is a multiple of 2^low below
// 2^high.
type number struct {
	neg, mag, q, e *graph.Node
	null           *graph.Node // no nominal exponent
	inf, nan       *graph.Node
	over           *graph.Node // an infinity that rounding a product made, with mma.Product.FirstOver
	low, high      int
	// frac, if it is not 0: mag has frac+1 bits, of which the first is set unless e is
	// emin, and e = q + frac.
	frac, emin int

	rel *relative // nil: not known
}

// zero is +0 without a nominal exponent.
func (e *encoder) zero() number {
	o := e.Int(0)
	return number{neg: o, mag: o, q: o, e: o, null: e.Int(1), inf: o, nan: o, over: o, low: 1 << 20, high: -1 << 20, rel: e.given(0, new(big.Rat))}
}

// execute is one execution of the instruction.
func (e *encoder) execute() number {
	c, noC := e.c()
	lanes, inLanes, late := max(1, int(e.Lanes)), e.InLanes(e.in.K), e.Start != mma.StartC && !noC
	var sums []number
	for r := range lanes {
		acc, some := e.zero(), e.Start != mma.StartEmpty
		if e.Start == mma.StartC && r == 0 {
			acc = c
		} else if e.Bare {
			some = false
		}
		sums = append(sums, e.lane(e.steps(r, inLanes, lanes), acc, some))
	}
	if late {
		sums = e.withLeaf(sums, c, mma.LeafFirst, mma.LeafLast)
	}
	sum := e.merge(sums)
	if inLanes < e.in.K {
		sum = e.lane(e.steps(inLanes, e.in.K, 1), e.flushed(sum, e.In.Acc, int(e.d.Emin())), true)
	}
	if late && e.Leaf == mma.NoLeaf {
		sum = e.late(sum, c)
	}
	return e.round(sum, e.Out)
}

// withLeaf returns terms with t before or after them, if the program's Leaf is first or last.
func (e *encoder) withLeaf(terms []number, t number, first, last mma.Leaf) []number {
	switch e.Leaf {
	case first:
		return append([]number{t}, terms...)
	case last:
		return append(terms[:len(terms):len(terms)], t)
	}
	return terms
}

// merge adds lanes to one.
func (e *encoder) merge(terms []number) number {
	distances := e.Merge.Distances()
	if distances == nil {
		for _, t := range terms[1:] {
			terms[0] = e.late(terms[0], t)
		}
	}
	done := 0
	for _, d := range distances {
		for i := range terms {
			if i&(done|d) == 0 && i+d < len(terms) {
				terms[i] = e.late(terms[i], terms[i+d])
			}
		}
		done |= d
	}
	return terms[0]
}

// c is the accumulator that the instruction is given.
func (e *encoder) c() (c number, none bool) {
	if e.in.Formats.C == fp.None {
		return e.zero(), true
	}
	f := e.in.Formats.C.Get()
	x := e.narrowed(e.read(unread(e.Graph, e.in.c, e.In.NarrowC)), e.In.NarrowC, f)
	if x.rel = e.given(int(f.FracBits), power(int(f.Emin()))); e.In.NarrowC != (mma.Narrow{}) {
		x.rel = e.noBound("a c that is narrowed")
	}
	return e.flushed(x, e.In.C, int(f.Emin())), false
}

func (e *encoder) late(x, y number) number {
	return e.round(e.fused([]number{x, y}, cut{acc: -1, next: e.Late, keeps: int(e.Late.Frac)}), e.Late)
}

// step is the products of one step.
type step struct {
	first    int // place of the first one in the sequence
	products []number
}

// steps returns the products of the steps that take every lanes-th product of the sequence
// from at on, before end: of one pass after the other, or of all passes together.
func (e *encoder) steps(at, end, lanes int) []step {
	passes := e.Passes.List()
	if passes == nil {
		passes = []mma.Pass{{}}
	}
	rounds := [][]mma.Pass{passes}
	if !e.Together {
		rounds = slices.Collect(slices.Chunk(passes, 1))
	}
	l, order := e.Step(e.in.K), mma.Sequence(e.Order, e.in.K)
	var all []step
	for _, passes := range rounds {
		for from := at; from < end; from += l * lanes {
			s := step{first: from}
			for i := from; i < min(end, from+l*lanes); i += lanes {
				for _, pass := range passes {
					s.products = append(s.products, e.product(order[i], pass))
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// lane adds the products of steps to an accumulator. some is false if there is no accumulator
// before the first step.
func (e *encoder) lane(steps []step, acc number, some bool) number {
	for i, s := range steps {
		if i > 0 {
			acc = e.flushed(acc, e.In.Acc, int(e.d.Emin()))
		}
		acc = e.step(s.products, s.first, acc, some || i > 0)
	}
	return acc
}

// step is the stages, the join with the accumulator, Post and Acc.
func (e *encoder) step(terms []number, first int, acc number, some bool) number {
	leaf := some && e.Start == mma.StartC && e.Leaf != mma.NoLeaf
	if leaf {
		terms = e.withLeaf(terms, acc, mma.LeafFirst, mma.LeafLast)
	}
	terms = e.stage(terms, &e.Stage0)
	if e.in.Formats.Scale != fp.None && e.Scale == mma.ScaleGroup {
		for i := range terms {
			block := (first + i*int(e.Stage0.Group)) / int(e.in.Formats.Block)
			terms[i] = e.scaled(terms[i], block)
		}
	}
	if leaf {
		terms = e.withLeaf(terms, acc, mma.SumFirst, mma.SumLast)
	}
	terms = e.stage(terms, &e.Stage1)
	c := cut{Join: e.Join, acc: -1, next: e.Join.Post, keeps: max(int(e.Join.Post.Frac), int(e.Acc.Frac))}
	if c.next == (mma.Round{}) {
		c.next = e.Acc
	}
	if some && !leaf {
		c.acc = len(terms)
		terms = append(terms[:len(terms):len(terms)], e.accumulator(acc, terms))
	}
	return e.round(e.round(e.plus(e.fused(terms, c), e.Join.Plus), e.Join.Post), e.Acc)
}

// stage sums groups of terms.
func (e *encoder) stage(terms []number, s *mma.Stage) []number {
	if s.Sum == mma.Off {
		return terms
	}
	var sums []number
	for _, member := range grouping.Of(s, terms) {
		t := e.group(member, s)
		if s.Fixed {
			t.e, t.rel = e.Int(0), e.fixedError(t.rel)
		}
		sums = append(sums, t)
	}
	if s.Deep && len(sums) > 1 {
		return e.stage(sums, s)
	}
	return sums
}

// plus takes the sign of a sum that is zero, if it is always +0.
func (e *encoder) plus(t number, always bool) number {
	if always && e.signsOfZeros() {
		t.neg = e.And(t.neg, e.Or(t.inf, e.Not(e.Eq(t.mag, e.Int(0)))))
	}
	return t
}

// group sums one group.
func (e *encoder) group(ts []number, s *mma.Stage) number {
	if s.Sort != mma.Unsorted {
		rel := anyOf(ts)
		e.sort(ts, s.Sort == mma.Falling)
		for i := range ts {
			ts[i].rel = rel
		}
	}
	add := func(ts ...number) number {
		t := e.fused(ts, cut{Join: mma.Join{Align: s.Align}, acc: -1, next: s.Round, keeps: int(s.Round.Frac)})
		return e.round(e.plus(t, s.Plus), s.Round)
	}
	switch s.Sum {
	case mma.Fused:
		return add(ts...)
	case mma.Sequential:
		t := ts[0]
		for _, u := range ts[1:] {
			t = add(t, u)
		}
		return t
	}
	for n := len(ts); n > 1; n = (n + 1) / 2 {
		h := (n + 1) / 2
		next := make([]number, h)
		for i := range h {
			l, r := 2*i, 2*i+1
			if s.Sum == mma.PairHalves {
				l, r = i, i+h
			}
			next[i] = ts[l]
			if r < n {
				next[i] = add(ts[l], ts[r])
			}
		}
		ts = next
	}
	return ts[0]
}

// flushed treats the subnormals of an accumulator.
func (e *encoder) flushed(x number, rule mma.InFlush, emin int) number {
	if rule == mma.KeepSub {
		return x
	}
	x.rel = x.rel.flushedError(emin)
	special := e.Or(x.inf, x.nan)
	zero := e.Eq(x.mag, e.Int(0))
	tiny := zero
	if x.low < emin {
		tiny = e.Or(zero, e.Less(e.exponent(x), e.Int(emin)))
	}
	tiny = e.And(tiny, e.Not(special))
	x.mag = e.Ite(tiny, e.Int(0), x.mag)
	x.null = e.Or(x.null, tiny)
	if rule == mma.FlushPlus && e.signsOfZeros() {
		x.neg = e.And(x.neg, e.Not(tiny))
	}
	if x.frac != 0 {
		x.low = max(x.low, emin-x.frac)
	}
	return x
}

// signsOfZeros reports whether the sign of a zero term can show: in a zero sum, or because the
// term is negated.
func (e *encoder) signsOfZeros() bool {
	return e.Special.NegZero || e.Stage0.Align.Negate != mma.NegateExact || e.Stage1.Align.Negate != mma.NegateExact || e.Join.Align.Negate != mma.NegateExact
}

// exponent is floor(log2) of a number that is not 0.
func (e *encoder) exponent(x number) *graph.Node { return e.Add(e.Log2(x.mag), x.q) }
