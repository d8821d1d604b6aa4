package study

import (
	"math/big"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/grouping"
)

// This file derives, for any program of mma.Params and given operands, a bound of the
// error of the result: Table 9 of arXiv:2511.10909, extended to everything that a
// program can do. It follows the program, and for each number x' that the program
// computes it keeps
//
//	x       the number that would stand there if nothing after the conditioning of the
//	        operands had been rounded
//	err     |x' - x| <= err
//	grid    x' is a multiple of 2^grid
//	lo, hi  the nominal exponent of x' is one of lo..hi
//
// so that M = |x| + err is a bound of |x'| and m = |x| - err one from below. Errors add up
// along the way. Each source of error has two bounds: one by the parameters, which is that
// of Table 9 where it has one, and a closer one by the operands' bits.
//
// Conditioning: a flush, a narrowing, or parts of operands in passes. What is multiplied
// is known: parts a[i] of a and b[j] of b, one part each where there are no passes. The
// products lose
//
//	a*b - sum of a[i]*b[j] over the passes
//
// The bound by the bits is this loss itself: the losses of all products and of c are added
// up with their signs. By the parameters, a narrowing to n bits leaves of a number of
// exponent e at most r = 2^(max(e,emin)-n), or half of that where it rounds to nearest; the
// next part is at most r, or the least unit 2^(emin-n) if that is more, and leaves in its
// turn what a number as large as r leaves. A flushed part is at most 2^emin. With the last
// rest as one more part of both, a*b is the sum of all products of parts, and the loss at
// most the sum of |a[i]|*|b[j]| over those that no pass multiplies or that were flushed
// (Table 9 has 2^-14 of FP16 and 2^-126 of BF16, for a flushed operand alone). Where the
// product S of two scales is rounded (ScaleRound) to S', which is known, an operand's
// products lose S-S' times what was multiplied as well; by the parameters |S-S'| is at most
// 2^(max(floor(log2 S),emin)-Frac), half of that to nearest, or 2^emin where S is flushed.
//
// Cut. Each of the terms of a fused sum is rounded to a multiple of 2^Q, Q = E-F, where E
// is the largest of the exponents hi and the floor. By the parameters each term is moved
// by less than 2^Q, or by 2^(Q-1) where it is rounded to nearest: with the accumulator
// (L+1)*2^(E-F), as Table 9 has it. By the bits, a multiple of 2^grid is not moved at all
// if grid >= Q, and else
//
//	RZ        by at most 2^Q - 2^grid, and at most M
//	RD, RU    by at most 2^Q - 2^grid; by at most M where they move it towards zero
//	RTO       by at most 2^Q - 2^grid
//	RNE, RNA  by at most 2^(Q-1), and at most M
//
// since a multiple of 2^grid that lies between two neighbouring multiples of 2^Q is at most
// 2^Q - 2^grid away from either. A term that may be dropped loses at most M. See
// bound_sum.go for adders that deviate from an addition of integers, and for an E that is
// not the largest exponent of all terms.
//
// Rounding. With e = max(floor(log2 M), emin), Round is a cut at 2^(e-Frac): 1 ulp for
// RZ and the directed modes, 0.5 ulp for the others, as in Table 9, of a number as large
// as M. A smaller x' has a smaller unit, and so a smaller error. The result is normalised:
// hi = max(floor(log2 M), emin), and lo = max(floor(log2 m), emin) if m > 0, with M and m
// of the new err; and it is a multiple of 2^(max(floor(log2 m), emin)-Frac), with the m
// from before.
//
// Output flush. A number that may be below 2^emin, because m is, may become 0 in place of
// being rounded. It loses at most 2^emin, by the bits at most min(M, 2^emin).
//
// Nominal exponents. Prod.Up adds 1 to those of products, Prod.Zeros gives one to products
// that are 0, and Join.CNorm makes that of an accumulator lo = floor(log2 m) or, if m <= 0,
// grid, and hi = floor(log2 M). They cause no error of their own, but move E.
//
// Shape. Merge, Tail, Leaf and Deep are other trees of the same additions. Sort orders
// terms by |x'|, which is known where the intervals m..M of any two do not overlap, or both
// have err = 0.
//
// All other steps are exact. There is no bound
//
//   - where an operand is an infinity or a NaN: there is no exact value. Gates and the
//     saturation of infinities change the results of such operands only;
//   - where a number may overflow, that is, where M is beyond the range of a rounding, a
//     narrowing, or the bits of a sum (Align.Bits): an infinity, a number that has wrapped
//     around or the largest one can be as far from x as one likes;
//   - where the order of a Sort is not known: another order has another error.
//
// All numbers are multiples of 2^base and kept in units of it, or of less where that only
// makes a bound larger: nothing is rounded here.

// bounder follows a program.
type bounder struct {
	p         *mma.Params
	f         mma.Formats
	byBits    bool // the closer bounds
	base      int
	scales    []scaling // of each block
	lost      bound     // by the conditioning of operands
	unbounded bool
}

// anyGrid is the grid of a zero.
const anyGrid = 1 << 20

// known is what is known of a number of the program.
type known struct {
	x, err  *big.Int // in units of 2^base
	grid    int
	lo, hi  int
	null    bool // it has no nominal exponent, and x' is 0
	sure    bool // it has one, which is at least lo
	sign    int  // of x', or of a zero; 0: not known
	element int  // of a product: its position
}

// bound is an error bound of a dot product: the error is at most err, and the exact
// value is exact, in units of 2^base.
type bound struct {
	base       int
	exact, err *big.Int
}

// errorBound returns a bound for a dot product of k elements, by the parameters or by the
// operands' bits; ok is false if there is none, as for a program with a parameter that this
// file does not follow.
func errorBound(p *mma.Params, f mma.Formats, d *mma.Dot, byBits bool) (b bound, ok bool) {
	for _, x := range mma.Fields() {
		if x.Encoded == 0 && x.Int(p) != 0 {
			return b, false
		}
	}
	e := &bounder{p: p, f: f, byBits: byBits}
	products, c, ok := e.read(d)
	if !ok {
		return b, false
	}
	r := e.execute(products, c)
	return bound{e.base, r.x.Add(r.x, e.lost.exact), r.err.Add(r.err, e.lost.err)}, !e.unbounded
}

// most returns M, a bound of the magnitude.
func (t *known) most() *big.Int {
	m := new(big.Int).Abs(t.x)
	return m.Add(m, t.err)
}

// least returns m, a lower bound of the magnitude, which may be negative.
func (t *known) least() *big.Int {
	m := new(big.Int).Abs(t.x)
	return m.Sub(m, t.err)
}

// log2 returns floor(log2) of a positive number.
func (e *bounder) log2(x *big.Int) int { return e.base + x.BitLen() - 1 }

// cutError returns by how much rounding to a multiple of 2^q moves a number at most.
func (e *bounder) cutError(t *known, q int, mode fp.Mode) *big.Int {
	nearest := mode == fp.RNE || mode == fp.RNA
	if nearest {
		q--
	}
	unit := e.power(q)
	switch {
	case !e.byBits:
		return unit
	case t.grid > q || t.grid == q && !nearest:
		return new(big.Int)
	}
	most := t.most()
	toZero := true // it is moved by at most M
	switch mode {
	case fp.RTO:
		toZero = false
	case fp.RD:
		toZero = t.x.Sign() >= 0 && t.least().Sign() >= 0
	case fp.RU:
		toZero = t.x.Sign() <= 0 && t.least().Sign() >= 0
	}
	if !nearest && t.grid >= e.base {
		unit.Sub(unit, e.power(t.grid))
	}
	if toZero && most.Cmp(unit) < 0 {
		return most
	}
	return unit
}

// mayBeBelow reports whether a number that is not 0 may be below 2^n.
func (e *bounder) mayBeBelow(t *known, n int) bool {
	if t.grid >= n {
		return false
	}
	return t.least().Cmp(e.power(n)) < 0
}

// flushLoss is what a number that may be below 2^n loses at most if it becomes 0.
func (e *bounder) flushLoss(t *known, n int) *big.Int {
	most, p := t.most(), e.power(n)
	if !e.byBits || p.Cmp(most) < 0 {
		return p
	}
	return most
}

// round applies a Round.
func (e *bounder) round(t known, r mma.Round) known {
	if r == (mma.Round{}) || t.null {
		return t
	}
	most := t.most()
	if most.Sign() == 0 {
		t.null, t.sure = t.null || r.Frac != 0, t.sure && r.Frac == 0
		return t
	}
	loss, grid := new(big.Int), t.grid
	if r.Frac != 0 {
		top := e.log2(most)
		if r.HasEmin() {
			top = max(top, int(r.Emin))
		}
		loss = e.cutError(&t, top-int(r.Frac), r.Mode)
		if m := t.least(); m.Sign() > 0 {
			grid = max(grid, e.log2(m)-int(r.Frac))
		}
		if r.HasEmin() {
			grid = max(grid, int(r.Emin)-int(r.Frac))
		}
	}
	if most = new(big.Int).Add(most, loss); r.Emax != 0 && (e.log2(most) > int(r.Emax) || r.Short(e.f.D) && most.Cmp(e.allOnes(r)) >= 0) {
		e.unbounded = true
	}
	if r.Flush != mma.NoFlush && e.mayBeBelow(&t, int(r.Emin)) {
		if f := e.flushLoss(&t, int(r.Emin)); f.Cmp(loss) > 0 {
			loss = f
		}
		t.sure = false
	}
	t.err, t.grid = new(big.Int).Add(t.err, loss), grid
	if r.Frac != 0 {
		e.normalise(&t, r)
	}
	return t
}

// normalise sets the exponents of a number that was rounded.
func (e *bounder) normalise(t *known, r mma.Round) {
	bounded := func(n int) int {
		if r.HasEmin() {
			return max(n, int(r.Emin))
		}
		return n
	}
	t.hi = bounded(e.log2(t.most()))
	if m := t.least(); m.Sign() > 0 {
		t.lo, t.sure = bounded(e.log2(m)), true
	} else {
		t.lo, t.sure = bounded(t.grid), false
	}
}

// allOnes is the number of exponent Emax with all bits of its significand set.
func (e *bounder) allOnes(r mma.Round) *big.Int {
	x := e.power(int(r.Emax) + 1)
	return x.Sub(x, e.power(int(r.Emax)-int(r.Frac)))
}

// execute is one execution of the instruction. products are those of each pass, in
// sequence.
func (e *bounder) execute(products [][]known, c *known) known {
	n, k := max(int(e.p.Lanes), 1), len(products[0])
	inLanes := e.p.InLanes(k)
	var lanes []known
	for r := range n {
		lanes = append(lanes, e.steps(products, positions(r, inLanes, n), e.start(r, c), false))
	}
	d := e.merge(lanes, c)
	if e.p.Tail {
		d = e.steps(products, positions(inLanes, k, 1), &d, true)
	}
	if e.p.Start != mma.StartC && c != nil && e.p.Leaf == mma.NoLeaf {
		d = e.late(d, *c)
	}
	return e.round(d, e.p.Out)
}

// merge adds the lanes, and c where it is one of them.
func (e *bounder) merge(terms []known, c *known) known {
	if e.p.Start != mma.StartC && c != nil {
		terms = e.leaf(terms, c, mma.LeafFirst, mma.LeafLast)
	}
	distances := e.p.Merge.Distances()
	if distances == nil {
		for _, t := range terms[1:] {
			terms[0] = e.late(terms[0], t)
		}
		return terms[0]
	}
	done := 0 // terms whose number has one of these bits have been added to others
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

func (e *bounder) late(a, b known) known {
	return e.round(e.sum([]known{a, b}, nil, mma.Join{}), e.p.Late)
}

// leaf returns terms with one more, if the program's leaf is before or after them.
func (e *bounder) leaf(terms []known, t *known, before, after mma.Leaf) []known {
	switch e.p.Leaf {
	case before:
		return slices.Insert(slices.Clone(terms), 0, *t)
	case after:
		return append(slices.Clone(terms), *t)
	}
	return terms
}

// zero is +0.
func zero() known {
	return known{x: new(big.Int), err: new(big.Int), grid: anyGrid, null: true, sign: 1}
}

// start is what the accumulator of a lane holds before the first step.
func (e *bounder) start(r int, c *known) *known {
	switch {
	case e.p.Start == mma.StartC && r == 0 && c != nil:
		return c
	case e.p.Start == mma.StartEmpty, e.p.Bare:
		return nil
	}
	z := zero()
	return &z
}

// steps adds the products at some positions to an accumulator, L at a time, in one pass
// after the other or in all together; result tells that the accumulator is that of a step.
func (e *bounder) steps(products [][]known, at []int, acc *known, result bool) known {
	runs := [][][]known{products}
	if !e.p.Together {
		runs = nil
		for pass := range products {
			runs = append(runs, products[pass:pass+1])
		}
	}
	l := e.p.Step(len(products[0]))
	for _, passes := range runs {
		for some := range slices.Chunk(at, l) {
			var terms []known
			for _, i := range some {
				for _, p := range passes {
					terms = append(terms, p[i])
				}
			}
			if result && e.p.In.Acc != mma.KeepSub {
				*acc = e.flushAcc(*acc)
			}
			d := e.step(terms, acc)
			acc, result = &d, true
		}
	}
	if acc == nil {
		return zero()
	}
	return *acc
}

// flushAcc treats an accumulator that may be subnormal.
func (e *bounder) flushAcc(t known) known {
	emin := int(e.f.D.Get().Emin())
	if t.null || !e.mayBeBelow(&t, emin) {
		return t
	}
	t.err = new(big.Int).Add(t.err, e.flushLoss(&t, emin))
	t.sure = false
	return t
}

// normAcc gives an accumulator the exponent of its leading 1.
func (e *bounder) normAcc(t known) known {
	if t.null {
		return t
	}
	t.hi, t.lo = e.log2(t.most()), t.grid
	if m := t.least(); m.Sign() > 0 {
		t.lo = e.log2(m)
	}
	return t
}

// step is one step: the stages, the join with the accumulator, Post and Acc.
func (e *bounder) step(terms []known, acc *known) known {
	leaf := e.p.Leaf != mma.NoLeaf && e.p.Start == mma.StartC
	if acc != nil && e.p.Join.CNorm {
		t := e.normAcc(*acc)
		acc = &t
	}
	if leaf {
		terms = e.leaf(terms, acc, mma.LeafFirst, mma.LeafLast)
	}
	terms = e.stage(terms, e.p.Stage0, e.p.Scale == mma.ScaleGroup)
	if leaf {
		terms, acc = e.leaf(terms, acc, mma.SumFirst, mma.SumLast), nil
	}
	terms = e.stage(terms, e.p.Stage1, false)
	return e.round(e.round(e.sum(terms, acc, e.p.Join), e.p.Join.Post), e.p.Acc)
}

// stage sums the groups of a stage, of a deep one until one sum is left.
func (e *bounder) stage(terms []known, s mma.Stage, scale bool) []known {
	if s.Sum == mma.Off {
		return terms
	}
	for {
		var sums []known
		for _, g := range grouping.Of(&s, terms) {
			t := e.group(g, s)
			if s.Fixed && !t.null {
				t.lo, t.hi = 0, 0
			}
			if scale {
				t = e.scaled(t, g[0].element)
			}
			sums = append(sums, t)
		}
		if terms = sums; !s.Deep || len(terms) == 1 {
			return terms
		}
	}
}

// scaled multiplies a sum by the scales of an element's block.
func (e *bounder) scaled(t known, element int) known {
	if e.scales == nil {
		return t
	}
	t.sign = 0
	for _, s := range e.scales[element/int(e.f.Block)].factors {
		if s.zero() {
			z := zero()
			z.sign = 0
			return z
		}
		t.x, t.err = times(t.x, s), times(t.err, s)
		t.grid, t.lo, t.hi = t.grid+s.q, t.lo+s.e, t.hi+s.e
	}
	return t
}

// times multiplies a number by a scale. It is a multiple of what is shifted out: see
// read.
func times(x *big.Int, s part) *big.Int {
	y := new(big.Int).Mul(x, s.mant)
	if s.q < 0 {
		return y.Rsh(y, uint(-s.q))
	}
	return y.Lsh(y, uint(s.q))
}

// group adds the terms of one group.
func (e *bounder) group(terms []known, s mma.Stage) known {
	add := func(terms ...known) known {
		return e.round(e.sum(terms, nil, mma.Join{Align: s.Align}), s.Round)
	}
	element := terms[0].element
	if s.Sort != mma.Unsorted {
		terms = e.sorted(terms, s.Sort)
	}
	switch s.Sum {
	case mma.Fused:
		return add(terms...)
	case mma.Sequential:
		sum := terms[0]
		for _, t := range terms[1:] {
			sum = add(sum, t)
		}
		terms = []known{sum}
	}
	for len(terms) > 1 {
		pairs := mma.Stage{Group: 2}
		if s.Sum == mma.PairHalves {
			pairs = mma.Stage{Split: mma.Interleaved, Group: uint8((len(terms) + 1) / 2)}
		}
		groups := grouping.Of(&pairs, terms)
		terms = nil
		for _, p := range groups {
			if len(p) == 2 {
				p[0] = add(p...)
			}
			terms = append(terms, p[0])
		}
	}
	terms[0].element = element
	return terms[0]
}

// sorted returns terms in the order of a Sort.
func (e *bounder) sorted(terms []known, by mma.Sort) []known {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(t, u known) int {
		c := t.most().Cmp(u.most())
		if by == mma.Falling {
			c = -c
		}
		return c
	})
	for i := range terms[1:] {
		t, u := &terms[i], &terms[i+1]
		if by == mma.Falling {
			t, u = u, t
		}
		if t.most().Cmp(u.least()) >= 0 && (t.err.Sign() != 0 || u.err.Sign() != 0) {
			e.unbounded = true
		}
	}
	return terms
}

// positions returns from, from+n, ... below end.
func positions(from, end, n int) []int {
	var all []int
	for ; from < end; from += n {
		all = append(all, from)
	}
	return all
}
