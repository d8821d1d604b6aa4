package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// machine is the general interpreter's state for one dot product at a time.
type machine struct {
	m     *Model
	p     *mma.Params
	trace *Trace
	fault *Fault // nil: everything works

	change *Change // of DotChanged; else nil
	sums   int     // with it: the number of the last sum
	// With it, of the last sum: whether its accumulator is a number other than zero, and its sign.
	accNonZero, accMinus bool
	element              int // the k of the product

	a, b, s decoder // of A, B and scales
	fc, fd  *fp.Format

	// The current dot product, decoded.
	va, vb   []operand
	partA    operand // the parts that the current pass multiplies
	partB    operand
	vsa, vsb []operand
	random   uint64  // code of b: with a rounding by RS, its random bits
	scale    operand // with ScaleRound: the rounded product of the current block's scales
	codeC    uint64
	c        term // C of the current instruction
	noC      bool // the current instruction has no C

	rows tile // decoded operands

	terms   []term // terms of the current sum: products, then what the stages made of them
	lanes   []term // their accumulators
	member  []term // terms of the group being summed: part of terms, or dealt
	dealt   []term // terms of an interleaved group
	scratch []term
	side    []term // terms of one sign
	wide    wide
	first   int // position of the step's first product; with Order Ascending also its k

	join           cut // how the last sum of a step is aligned, but for the accumulator's place
	stage0, stage1 cut
	rounds         struct{ products, sums, results bool } // whether Prod.Round, Join.Post and Out do anything
	exact          int32                                  // Prod.Round does nothing to products below 2^exact

	// Origins of the terms in terms, member and group; kept only while tracing.
	origin, memberOrigin, levelOrigin []origin
}

// tile holds the decoded operands of a tile.
type tile struct{ a, b, sa, sb []operand }

func newMachine(m *Model) *machine {
	f := m.formats
	x := &machine{
		m: m, p: &m.params,
		fc: format(f.C), fd: f.D.Get(),
		terms: make([]term, 0, m.k+1),
		lanes: make([]term, max(1, int(m.params.Lanes))),
	}
	if f.Scale != fp.None {
		x.s = newDecoder(f.Scale.Get(), &mma.Params{}, mma.Narrow{})
	}
	x.prepare()
	return x
}

// prepare takes from the program what does not change from one dot product to the next.
func (x *machine) prepare() {
	p, f, none := x.p, x.m.formats, mma.Round{}
	a, b := operandFormats(p, f)
	x.a, x.b = newDecoder(a.Get(), p, p.In.A).withZero(int64(p.In.ZeroA)), newDecoder(b.Get(), p, p.In.B).withZero(int64(p.In.ZeroB))
	x.join, x.stage0, x.stage1 = joinCut(p), stageCut(&p.Stage0), stageCut(&p.Stage1)
	x.rounds.products, x.rounds.sums, x.rounds.results = p.Prod.Round != none, p.Join.Post != none, p.Out != none
	if x.exact = -1 << 30; p.Prod.Round.Frac == 0 && p.Prod.Round.Flush == mma.NoFlush {
		x.exact = int32(p.Prod.Round.Emax)
	}
}

func operands(buf []operand, n int) []operand {
	if cap(buf) < n {
		return make([]operand, n)
	}
	return buf[:n]
}

// load takes the operands of a dot product.
func (x *machine) load(d *mma.Dot) {
	x.resize(len(d.A), len(d.B), len(d.SA), len(d.SB))
	x.a.decodeCodes(x.rows.a, d.A)
	x.b.decodeCodes(x.rows.b, d.B)
	x.s.decodeCodes(x.rows.sa, d.SA)
	x.s.decodeCodes(x.rows.sb, d.SB)
	x.va, x.vb, x.vsa, x.vsb = x.rows.a, x.rows.b, x.rows.sa, x.rows.sb
	x.codeC = d.C
}

func (x *machine) resize(a, b, sa, sb int) {
	r := &x.rows
	r.a, r.b = operands(r.a, a), operands(r.b, b)
	r.sa, r.sb = operands(r.sa, sa), operands(r.sb, sb)
}

// loadTile decodes the rows and columns of tile t of a batch.
func (x *machine) loadTile(in *mma.Batch, t int) {
	m, n, k, s := in.M, in.N, in.K, in.Blocks(in.K)
	x.resize(m*k, n*k, m*s, n*s)
	x.a.decodeRow(x.rows.a, in.A, t, m*k)
	x.b.decodeRow(x.rows.b, in.B, t, n*k)
	if s > 0 {
		x.s.decodeRow(x.rows.sa, in.SA, t, m*s)
		x.s.decodeRow(x.rows.sb, in.SB, t, n*s)
	}
}

// loadOutput takes the operands of output i of the tile last loaded.
func (x *machine) loadOutput(in *mma.Batch, t, i int) {
	k, s := in.K, in.Blocks(in.K)
	row, col := i/in.N, i%in.N
	x.va, x.vb = x.rows.a[row*k:(row+1)*k], x.rows.b[col*k:(col+1)*k]
	x.vsa, x.vsb = x.rows.sa[row*s:(row+1)*s], x.rows.sb[col*s:(col+1)*s]
	if x.fc != nil {
		x.codeC = mma.Load(in.C, int(x.fc.Width), t*in.M*in.N+i)
	}
}

// run executes the instruction on every K elements in turn and returns D.
func (x *machine) run() uint64 {
	code := x.codeC
	k := x.m.k
	for from := 0; from < len(x.va); from += k {
		if x.trace != nil {
			x.trace.exec = from / k
		}
		x.noC = x.fc == nil && from == 0
		switch {
		case from > 0:
			x.c = x.accumulator(x.fd, code, x.p.In.C)
		case x.noC:
			x.c = zeroTerm(false)
		default:
			x.c = x.accumulator(x.fc, x.codeC, x.p.In.C)
		}
		d := x.encode(x.instruction(from))
		if x.p.Special.NaN != mma.NaNOfC || x.c.kind != NaN {
			code = d
		}
		if x.has(Result) && x.fault.wrong(func(i int) bool { return code>>i&1 != 0 }) {
			code ^= 1 << x.fault.Bit
		}
	}
	if x.trace != nil {
		x.trace.Result = code
	}
	return code
}

// accumulator decodes and conditions C, or the D of the previous execution.
func (x *machine) accumulator(f *fp.Format, code uint64, flush mma.InFlush) term {
	var narrow narrower
	if x.p.In.NarrowC != (mma.Narrow{}) {
		narrow = newNarrower(x.p.In.NarrowC, f)
		code &^= x.p.In.NarrowC.Unread(f)
	}
	n := f.Decode(code)
	switch n.Class {
	case fp.NaN:
		if x.p.In.NaNInf {
			return narrow.of(infTerm(n.Neg))
		}
		return x.nanTerm(f, code)
	case fp.Inf:
		if x.p.In.InfNaN {
			return x.nanTerm(f, f.QuietNaN(n.Neg))
		}
		return narrow.of(infTerm(n.Neg))
	}
	t := term{Dyadic: f.Dyadic(n), e: n.Exp}
	if n.Class == fp.Zero {
		t.kind = Null
	}
	return flushTerm(narrow.of(t), f.Emin(), flush)
}

// flushTerm applies an input flush to an accumulator.
func flushTerm(t term, emin int32, flush mma.InFlush) term {
	if flush == mma.KeepSub || t.kind >= Inf {
		return t
	}
	if t.IsZero() || t.Exponent() < emin {
		return zeroTerm(t.Neg && flush == mma.FlushSign)
	}
	return t
}

// instruction runs the program on the K elements that begin at from.
func (x *machine) instruction(from int) term {
	lanes := len(x.lanes)
	for r := range x.lanes {
		x.lanes[r] = x.lane(from, r, lanes)
	}
	s := x.lanes[0]
	if lanes > 1 {
		s = x.merge()
	}
	if x.p.Tail {
		s = x.steps(s, true, origin{Kind: FromAcc}, from, span{x.p.InLanes(x.m.k), x.m.k, lanes, 1})
	}
	switch {
	case x.p.Start == mma.StartC || x.noC || x.p.Leaf != mma.NoLeaf:
	case x.fc == nil:
		s = x.addLateC(s, &x.p.Acc)
	default:
		s = x.addLateC(s, &x.p.Late)
	}
	if !x.rounds.results {
		return s
	}
	return x.rounded("out", s, &x.p.Out)
}

// addLateC adds c after the last step.
func (x *machine) addLateC(s term, r *mma.Round) term {
	acc, c := origin{Kind: FromAcc}, origin{Kind: FromC}
	if x.p.Special.CLeft {
		return x.addLate(&x.c, &s, c, acc, r)
	}
	return x.addLate(&s, &x.c, acc, c, r)
}

// addLate adds t to s after the last step.
func (x *machine) addLate(s, t *term, from, what origin, r *mma.Round) term {
	c := cut{acc: -1, rd: r.Mode == fp.RD}
	if x.trace != nil {
		x.trace.begin(Late, 0, []origin{from, what})
	}
	pair := [2]term{*s, *t}
	return x.rounded("late", x.fuse(pair[:], &c), r)
}

// span is the positions at, at+stride, ... below end, in the sequence of products, that
// one lane takes. A tail counts as one more lane.
type span struct{ at, end, lane, stride int }

// lane runs one accumulator over its products.
func (x *machine) lane(from, r, lanes int) term {
	acc, hasAcc := zeroTerm(false), true
	what := origin{Kind: FromZero}
	switch {
	case x.p.Start == mma.StartC && r == 0:
		acc = x.c
		if !x.noC {
			what.Kind = FromC
		}
	case x.p.Start == mma.StartEmpty, x.p.Bare:
		hasAcc = false
	}
	return x.steps(acc, hasAcc, what, from, span{r, x.p.InLanes(x.m.k), r, lanes})
}

// steps adds the products of s, L at a time, to the accumulator acc, or to none at first
// without hasAcc: those of one pass after the other, or of all passes in each step.
func (x *machine) steps(acc term, hasAcc bool, what origin, from int, s span) term {
	l := x.p.Step(x.m.k) * s.stride
	runs, passes := max(1, len(x.m.passes)), 1
	if x.p.Together {
		runs, passes = 1, runs
	}
	for run := range runs {
		for at := s.at; at < s.end; at += l {
			x.terms, x.origin = x.terms[:0], x.origin[:0]
			for i := at; i < min(s.end, at+l); i += s.stride {
				k := from + x.m.order[i]
				if x.m.passes == nil {
					x.push(k, &x.va[k], &x.vb[k])
					continue
				}
				for pass := range passes {
					x.pushParts(k, x.m.passes[run+pass])
				}
			}
			if x.trace != nil {
				x.trace.startStep(s.lane, run*x.m.k+at)
			}
			x.first = from + at
			acc = x.step(acc, hasAcc, what)
			hasAcc, what = true, origin{Kind: FromAcc}
		}
	}
	return acc
}

// pushParts appends the product of the parts of element i that a pass multiplies.
func (x *machine) pushParts(i int, p mma.Pass) {
	x.partA, x.partB = x.a.part(&x.va[i], p.A), x.b.part(&x.vb[i], p.B)
	x.push(i, &x.partA, &x.partB)
}

// push appends the product of a and b, which are element i or parts of it.
func (x *machine) push(i int, a, b *operand) {
	var sa, sb *operand
	if x.s.f != nil && x.p.Scale == mma.ScaleProduct {
		sa, sb = x.scales(i)
	}
	x.element, x.random = i, b.code
	t := x.product(a, b, sa, sb)
	if x.has(Multiplier) {
		t = x.faultyProduct(t)
	}
	x.term(t, origin{FromProduct, i})
	if x.trace != nil {
		x.trace.product(i, a, b, t)
	}
}

// term appends a term to those that are being added.
func (x *machine) term(t term, what origin) {
	x.terms = append(x.terms, t)
	if x.trace != nil {
		x.origin = append(x.origin, what)
	}
}

// scales returns the scales of element i; with ScaleRound, their rounded product and 1.
func (x *machine) scales(i int) (sa, sb *operand) {
	block := i / int(x.m.formats.Block)
	sa, sb = &x.vsa[block], &x.vsb[block]
	r := &x.p.ScaleRound
	switch isNaN := sa.class == fp.NaN || sb.class == fp.NaN; {
	case *r == mma.Round{}, isNaN && x.p.Special.NaN != mma.NaNZero:
		return sa, sb
	case isNaN:
		x.scale = operand{class: fp.Zero}
	default:
		x.scale = x.roundedScale(sa, sb, r)
	}
	return &x.scale, &one
}

// one is the scale 1.
var one = operand{sig: 1, class: fp.Finite}

// roundedScale returns the rounded product of two scales that are numbers.
func (x *machine) roundedScale(sa, sb *operand, r *mma.Round) operand {
	if sa.class == fp.Zero || sb.class == fp.Zero {
		return operand{class: fp.Zero}
	}
	t := term{Dyadic: fp.Dyadic{Lo: sa.sig * sb.sig, Q: sa.q + sb.q}}
	switch t = x.round(t, r); {
	case t.kind == Inf:
		return operand{class: fp.Inf}
	case t.IsZero():
		return operand{class: fp.Zero}
	}
	low := t.Low()
	return operand{sig: t.Lo >> (low - t.Q), q: low, e: t.e, class: fp.Finite}
}

// step reduces the products in x.terms, adds the accumulator if there is one,
// and rounds.
func (x *machine) step(acc term, hasAcc bool, what origin) term {
	j := &x.p.Join
	leaf := mma.NoLeaf
	if hasAcc {
		if what.Kind == FromAcc {
			acc = flushTerm(acc, x.fd.Emin(), x.p.In.Acc)
		}
		if j.CNorm && acc.kind == Finite && !acc.IsZero() {
			acc.e = acc.Exponent()
		}
		if x.p.Start == mma.StartC {
			leaf = x.p.Leaf
		}
	}
	if leaf != mma.NoLeaf {
		x.leaf(leaf, mma.LeafFirst, mma.LeafLast, &acc, what)
	}
	x.stage(Stage0, &x.p.Stage0)
	if x.s.f != nil && x.p.Scale == mma.ScaleGroup {
		x.scaleGroups()
	}
	if leaf != mma.NoLeaf {
		x.leaf(leaf, mma.SumFirst, mma.SumLast, &acc, what)
	}
	x.stage(Stage1, &x.p.Stage1)
	c := &x.join
	c.acc = -1
	if hasAcc && leaf == mma.NoLeaf {
		if j.CLost != 0 && x.lost(acc) {
			acc = zeroTerm(false)
		}
		c.acc = len(x.terms)
		x.term(acc, what)
	}
	if x.trace != nil {
		x.trace.begin(Join, 0, x.origin)
	}
	if x.has(Aligner) {
		x.faultyAddends(c)
	}
	t := x.fuse(x.terms, c)
	if x.fault != nil {
		t = x.faultySum(t, c)
	}
	if x.rounds.sums {
		t = x.rounded("post", t, &j.Post)
	}
	return x.rounded("acc", t, &x.p.Acc)
}

// joinCut is how the last sum of a step is aligned, but for the place of the accumulator.
func joinCut(p *mma.Params) cut {
	j := &p.Join
	c := cut{Align: j.Align, acc: -1, cf: j.CF, cmode: j.CMode, cdrop: j.CDrop, beside: j.CBeside, grid: j.CGrid, plus: j.Plus}
	c.rd = j.Post.Mode == fp.RD || j.Post == (mma.Round{}) && p.Acc.Mode == fp.RD
	if j.Apart {
		c.apart = &p.Acc
		if j.Post != (mma.Round{}) {
			c.apart = &j.Post
		}
	}
	return c
}

// lost reports whether an infinite or NaN accumulator is dropped (mma.Join.CLost).
func (x *machine) lost(acc term) bool {
	least, far := x.p.Join.CLost, false
	if acc.kind < Inf {
		return false
	}
	for i := range x.terms {
		if x.terms[i].kind >= Inf {
			return false
		}
		far = far || x.terms[i].kind == Finite && x.terms[i].e >= int32(least)
	}
	return far
}

// scaleGroups multiplies the group sums that Stage0 left by their scales.
// Groups are adjacent and in ascending order (mma.Params.Validate), so that the
// number of a group gives its elements.
func (x *machine) scaleGroups() {
	for i := range x.terms {
		sa, sb := x.scales(x.first + i*int(x.p.Stage0.Group))
		x.terms[i] = x.scaleGroup(x.terms[i], sa, sb)
	}
}

func (x *machine) scaleGroup(t term, sa, sb *operand) term {
	zero := sa.class == fp.Zero || sb.class == fp.Zero
	inf := sa.class == fp.Inf
	switch {
	case t.kind == NaN:
		return t
	case sa.class == fp.NaN:
		return x.nanTerm(x.s.f, sa.code)
	case sb.class == fp.NaN:
		return x.nanTerm(x.s.f, sb.code)
	case t.kind == invalid:
		return t
	case t.kind == Inf && zero, inf && t.kind != Inf && t.IsZero():
		return term{kind: invalid}
	case t.kind == Inf, inf:
		return infTerm(t.Neg)
	case t.kind == Null || zero:
		return zeroTerm(t.Neg)
	}
	t.scale(sa, sb)
	return t
}

// rounded is round with a trace.
func (x *machine) rounded(name string, t term, r *mma.Round) term {
	if x.has(Increment) {
		t = x.faultyRound(t, r)
	}
	if x.change != nil && x.change.Round != nil {
		r = x.change.Round(x.sums, r)
	}
	u := x.round(t, r)
	if x.change != nil && x.change.Zero != nil && x.accNonZero && u.kind < Inf && u.IsZero() && !t.IsZero() {
		u.Neg = x.change.Zero(x.sums, u.Neg, x.accMinus, false)
	}
	if x.change != nil && x.change.Result != nil && *r != (mma.Round{}) {
		u = x.changeResult(u)
	}
	if x.trace != nil && *r != (mma.Round{}) {
		x.trace.rounded(name, r, u)
	}
	return u
}

// changeResult makes the result of a sum that of a broken unit, if it is one of D's format.
func (x *machine) changeResult(t term) term {
	if t.kind > Inf || x.fd.Integer() {
		return t
	}
	code := x.encode(t)
	if n := x.fd.Decode(code); t.kind < Inf && (n.Class != fp.Finite || x.fd.Dyadic(n).Low() > t.Low()) && !t.IsZero() {
		return t // it has more bits
	}
	other := x.change.Result(x.sums, code)
	if other == code {
		return t
	}
	switch n := x.fd.Decode(other); n.Class {
	case fp.Zero:
		return zeroTerm(n.Neg)
	case fp.Inf:
		return infTerm(n.Neg)
	case fp.NaN:
		return x.roundedNaN(term{kind: invalid})
	default:
		d := x.fd.Dyadic(n)
		return term{Dyadic: d, e: max(d.Exponent(), x.fd.Emin())}
	}
}

// encode returns the code of the final term in D's format, in which it is
// representable already, or +0 if it is negative and the format has no sign.
func (x *machine) encode(t term) uint64 {
	switch {
	case t.kind == NaN:
		return x.nanCode(t)
	case t.Neg && !x.fd.Signed:
		return 0
	case t.kind == Inf:
		if x.fd.HasInf() {
			return x.fd.InfCode(t.Neg)
		}
		return x.nanCode(x.roundedNaN(term{kind: invalid}))
	}
	return x.fd.Encode(t.Dyadic, fp.RNE, fp.OverInf)
}
