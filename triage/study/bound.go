package study

import (
	"math"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// This file derives, for any program of mma.Params and given operands, a bound of the
// error of the result: Table 9 of arXiv:2511.10909, extended to everything that a
// program can say. It follows the program, and keeps of each number x' that the program
// computes
//
//	x       the number that would stand there if nothing had ever been rounded
//	err     |x' - x| <= err
//	grid    x' is a multiple of 2^grid
//	lo, hi  the nominal exponent of x' is one of lo..hi
//
// so that M = |x| + err is a bound of |x'| and m = |x| - err one from below. Errors add up
// along the way. There are four sources of them. Each has a bound by the parameters, which
// is that of Table 9, and a closer one by the operands' bits.
//
// Input flush. A subnormal operand a counts as 0. By the parameters the product loses
// 2^emin*|b| (Table 9: 2^-14 of FP16 and 2^-126 of BF16, for the operand alone), by the
// bits |a*b|.
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
// since two multiples of 2^grid, one of which is one of 2^Q, and the other between it and
// the next one, are that far apart. An accumulator that may be dropped loses at most M.
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
// All other steps are exact. Where a number may overflow, that is, where M is beyond the
// range, there is no bound, nor is there one where an operand is an infinity or a NaN, or
// for a program with refinements (mma.Params.Refined).
//
// All numbers are multiples of 2^base and kept in units of it: nothing is rounded here.

// bounder follows a program.
type bounder struct {
	p        *mma.Params
	f        mma.Formats
	byBits   bool // the closer bounds
	base     int
	scales   [][2]operand // of each block
	overflow bool
}

// known is what is known of a number of the program.
type known struct {
	x, err  *big.Int // in units of 2^base
	grid    int
	lo, hi  int
	null    bool // it has no nominal exponent, and x' is 0
	sure    bool // it has one, which is at least lo
	element int  // of a product: its position
}

// operand is an operand of a dot product.
type operand struct {
	mant    *big.Int // value = mant * 2^q; mant is odd or 0
	q, e    int      // e: nominal exponent
	flushed bool     // it counts as 0, and loses at most
	loss    *big.Int // loss * 2^lossQ; of others their magnitude
	lossQ   int
}

// bound is an error bound of a dot product: the error is at most err, and the exact
// value is exact, in units of 2^base.
type bound struct {
	base       int
	exact, err *big.Int
}

// errorBound returns a bound for a dot product of k elements, by the parameters or by the
// operands' bits; ok is false if there is none.
func errorBound(p *mma.Params, f mma.Formats, d *mma.Dot, byBits bool) (b bound, ok bool) {
	if p.Refined() {
		return b, false
	}
	e := &bounder{p: p, f: f, byBits: byBits}
	products, c, ok := e.read(d)
	if !ok {
		return b, false
	}
	r := e.execute(products, c)
	return bound{e.base, r.x, r.err}, !e.overflow
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
	if !nearest {
		unit.Sub(unit, e.power(t.grid))
	}
	if toZero && most.Cmp(unit) < 0 {
		return most
	}
	return unit
}

// mayBeBelow reports whether a number that is not 0 may be below 2^n.
func (e *bounder) mayBeBelow(t *known, n int) bool {
	if n < e.base {
		return false // it is a multiple of 2^base
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
		if r.Emin != 0 {
			top = max(top, int(r.Emin))
		}
		loss = e.cutError(&t, top-int(r.Frac), r.Mode)
		if m := t.least(); m.Sign() > 0 {
			grid = max(grid, e.log2(m)-int(r.Frac))
		}
		if r.Emin != 0 {
			grid = max(grid, int(r.Emin)-int(r.Frac))
		}
	}
	if r.Emax != 0 && e.log2(new(big.Int).Add(most, loss)) > int(r.Emax) {
		e.overflow = true
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
		if r.Emin != 0 {
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

// sum is a fused sum of terms and, unless it is nil, of an accumulator.
func (e *bounder) sum(terms []known, acc *known, j mma.Join) known {
	all := terms
	if acc != nil {
		all = append(all[:len(all):len(all)], *acc)
	}
	s := known{x: new(big.Int), err: new(big.Int), null: true}
	least := math.MinInt // E is at least that
	for i := range all {
		t := &all[i]
		s.x.Add(s.x, t.x)
		s.err.Add(s.err, t.err)
		if t.null {
			continue
		}
		if s.null {
			s.lo, s.hi, s.grid, s.null = t.lo, t.hi, t.grid, false
		}
		s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
		if t.sure {
			least, s.sure = max(least, t.lo), true
		}
	}
	if s.null {
		return s
	}
	if floor := int(j.Align.Floor); floor != 0 {
		s.hi, least = max(s.hi, floor), max(least, floor)
	}
	s.lo = max(s.lo, least)
	empty := true
	for i := range all {
		t := all[i]
		if t.null && e.byBits {
			continue
		}
		f, mode := j.Align.F, j.Align.Mode
		isAcc := acc != nil && i == len(all)-1
		if isAcc && j.CF != 0 {
			f = j.CF
		}
		if isAcc && j.CMode != 0 {
			mode = j.CMode
		}
		loss, grid := new(big.Int), t.grid
		if f != 0 {
			loss = e.cutError(&t, s.hi-int(f), mode)
			grid = max(grid, max(least, t.lo)-int(f))
		}
		if isAcc && j.CDrop != 0 && !t.null && (!t.sure || t.lo < s.hi-int(j.CDrop)) {
			if m := t.most(); m.Cmp(loss) > 0 {
				loss = m
			}
		}
		s.err.Add(s.err, loss)
		if !t.null && (empty || grid < s.grid) {
			s.grid, empty = grid, false
		}
	}
	return s
}

// execute is one execution of the instruction.
func (e *bounder) execute(products []known, c *known) known {
	n := max(int(e.p.Lanes), 1)
	d := e.lane(dealt(products, 0, n), e.start(0, c))
	for r := 1; r < n; r++ {
		d = e.late(d, e.lane(dealt(products, r, n), e.start(r, c)), e.p.Late)
	}
	if e.p.Start != mma.StartC && c != nil {
		d = e.late(d, *c, e.p.Late)
	}
	return e.round(d, e.p.Out)
}

func (e *bounder) late(a, b known, r mma.Round) known {
	return e.round(e.sum([]known{a, b}, nil, mma.Join{}), r)
}

// zero is +0.
func zero() known { return known{x: new(big.Int), err: new(big.Int), null: true} }

// start is what the accumulator of a lane holds before the first step.
func (e *bounder) start(r int, c *known) *known {
	switch {
	case e.p.Start == mma.StartC && r == 0 && c != nil:
		return c
	case e.p.Start == mma.StartEmpty:
		return nil
	}
	z := zero()
	return &z
}

// lane takes products L at a time.
func (e *bounder) lane(products []known, acc *known) known {
	l := int(e.p.L)
	if l == 0 {
		l = len(products)
	}
	for lo := 0; lo < len(products); lo += l {
		d := e.step(products[lo:min(lo+l, len(products))], acc)
		if lo+l < len(products) && e.p.In.Acc != mma.KeepSub {
			d = e.flushAcc(d)
		}
		acc = &d
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

// step is one step: the stages, the join with the accumulator, Post and Acc.
func (e *bounder) step(products []known, acc *known) known {
	sums := e.stage(products, e.p.Stage0, e.p.Scale == mma.ScaleGroup)
	sums = e.stage(sums, e.p.Stage1, false)
	d := e.sum(sums, acc, e.p.Join)
	return e.round(e.round(d, e.p.Join.Post), e.p.Acc)
}

// stage sums the groups of a stage.
func (e *bounder) stage(terms []known, s mma.Stage, scale bool) []known {
	if s.Sum == mma.Off {
		return terms
	}
	var sums []known
	for _, g := range mma.Groups(&s, terms) {
		t := e.group(g, s)
		if s.Fixed && !t.null {
			t.lo, t.hi = 0, 0
		}
		if scale {
			t = e.scaled(t, g[0].element)
		}
		sums = append(sums, t)
	}
	return sums
}

// scaled multiplies a sum by the scales of an element's block.
func (e *bounder) scaled(t known, element int) known {
	if e.scales == nil {
		return t
	}
	for _, s := range e.scales[element/int(e.f.Block)] {
		if s.mant.Sign() == 0 {
			return zero()
		}
		t.x, t.err = times(t.x, s), times(t.err, s)
		t.grid, t.lo, t.hi = t.grid+s.q, t.lo+s.e, t.hi+s.e
	}
	return t
}

// times multiplies a number by a scale. It is a multiple of what is shifted out: see
// read.
func times(x *big.Int, s operand) *big.Int {
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
		groups := mma.Groups(&pairs, terms)
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

// dealt returns the terms r, r+n, r+2n, ...
func dealt[T any](terms []T, r, n int) []T {
	var out []T
	for ; r < len(terms); r += n {
		out = append(out, terms[r])
	}
	return out
}
