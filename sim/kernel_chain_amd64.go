//go:build !purego

package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chain is the kernel of what the processor's own FP32 and FP64 arithmetic
// computes: chains of fused multiply-adds (arXiv:2511.10909, Alg. 3 and 4), of
// multiplications and additions, each rounded, and of rounded products that are
// added in pairs, then to the accumulator (Alg. 1 and 2). Its rounding mode and flushing are set as the program wants them.
type chain struct {
	m       *Model
	level   simd.Level
	l       int  // 1, 2 or 4 products are added in pairs; 0: a chain of FMAs, or of rounded products
	rounded bool // the products of a chain are rounded
	double  bool
	control int64
	widen   fp.ID // format of A and B where that is not D's
	small   int32 // factors of magnitudes up to this become +0
	smallC  int32
	nan     uint64 // code of a NaN result
	patch   bool   // the code depends on the operands: the general interpreter gives it
}

// chainState is one worker's scratch space.
type chainState struct {
	gridState
	a, b  []byte
	order []uint32
	wide  simd.Widen
	args  simd.Chain
	tiny  simd.Tiny
	tinyA []uint8 // of simd.Tiny
	tinyB []uint8
}

// newChain returns the kernel, or nil if the program is not such a chain.
func newChain(m *Model, level simd.Level) kernel {
	if level < simd.AVX2 {
		return nil
	}
	p, f := &m.params, m.formats
	c := &chain{m: m, level: level, double: f.D == fp.FP64, small: -1, smallC: -1}
	if f.C != f.D && f.C != fp.None || f.D != fp.FP32 && f.D != fp.FP64 || f.A != f.B || f.Scale != fp.None {
		return nil
	}
	if f.A != f.D {
		if f.D != fp.FP32 || f.A != fp.FP16 && f.A != fp.BF16 {
			return nil
		}
		c.widen = f.A
	}
	if !c.isFMA(p) && !c.isAddMul(p) {
		return nil
	}
	c.patch = p.Special.OperandNaN()
	c.nan = f.D.Get().QuietNaN(false)
	if !c.patch {
		c.nan = newMachine(m).nanCode(term{kind: NaN})
	}
	return c
}

// controls are the bits of MXCSR for a rounding mode.
var controls = map[fp.Mode]int64{fp.RNE: 0, fp.RD: simd.RoundDown, fp.RU: simd.RoundUp, fp.RZ: simd.RoundZero}

// round sets control for a rounding and reports whether the processor has it.
func (c *chain) round(r mma.Round) bool {
	mode, ok := controls[r.Mode]
	want := mma.To(c.m.formats.D, r.Mode)
	want.Flush, want.Over = r.Flush, r.Over
	c.control = mode
	return ok && r == want && (r.Mode == fp.RNE && r.Over == mma.OverInf || r.Over == mma.OverIEEE)
}

// isFMA reports whether a program is a chain of FMAs or of multiplications and additions,
// and sets what the kernel needs to know.
func (c *chain) isFMA(p *mma.Params) bool {
	if !isChain(p, c.m.k) || !c.round(p.Acc) {
		return false
	}
	c.rounded = p.Prod.Round != mma.Round{}
	switch p.Acc.Flush {
	case mma.NoFlush:
	case mma.FlushAfter:
		c.control |= simd.FlushResults
	default:
		return false
	}
	flushed := p.Acc.Flush != mma.NoFlush
	switch (mma.Input{Sub: p.In.Sub, C: p.In.C}) {
	case mma.Input{}:
		return p.In.Acc == mma.KeepSub || c.m.k == 1
	case mma.Input{Sub: mma.FlushSign, C: mma.FlushSign}:
		if c.rounded && !flushed {
			return false // the processor would flush products, too, as operands of the addition
		}
		c.control |= simd.FlushOperands
		// FP16's subnormals are normal as FP32: the processor does not flush them.
		return c.widen != fp.FP16 && (p.In.Acc == mma.FlushSign || p.In.Acc == mma.KeepSub && flushed || c.m.k == 1)
	}
	return false
}

// isAddMul reports whether a program rounds products to FP32 and adds them, in groups of
// 1, 2 or 4, to the accumulator, and sets what the kernel needs to know.
//
// Products of FP16 and their sums are multiples of 2^-48: whether they are flushed does not matter.
//
// The processor flushes what is tiny after rounding without a lower exponent bound.
// Rounding with such a bound would give another result only between 2^-126-2^-150 and
// 2^-126-2^-151, where there is no product of two significands of 11 bits and no sum
// of two numbers of FP32.
func (c *chain) isAddMul(p *mma.Params) bool {
	r, x := p.Acc, *p
	if c.widen == fp.FP16 {
		x.Prod.Round.Flush, x.Stage0.Round.Flush = r.Flush, r.Flush
	}
	q := mma.Params{
		In: p.In, Prod: mma.Product{Round: r}, L: p.L, Stage0: mma.Stage{Sum: mma.Pairwise, Round: r}, Acc: r,
		Special: mma.Special{NaN: p.Special.NaN, NegZero: true, TinySign: true},
	}
	c.l = p.Step(c.m.k)
	if q != x || c.l != 1 && c.l != 2 && c.l != 4 || c.m.k%c.l != 0 || c.widen == fp.None || !c.round(r) || p.Special.OperandNaN() {
		return false
	}
	switch r.Flush {
	case mma.NoFlush:
	case mma.FlushAfter, mma.FlushResult:
		c.control |= simd.FlushResults
	default:
		return false
	}
	least := int32(1) << 23 // FP32's smallest normal number
	switch p.In.C {
	case mma.KeepSub:
	case mma.FlushPlus:
		c.smallC = least - 1
	default:
		return false
	}
	if c.widen == fp.FP16 {
		least = (127 - 14) << 23
	}
	switch p.In.Sub {
	case mma.KeepSub:
	case mma.FlushPlus:
		c.small = least - 1
	default:
		return false
	}
	return p.In == mma.Input{Sub: p.In.Sub, C: p.In.C}
}

func (c *chain) name() string {
	switch {
	case c.l > 0:
		return "addmul avx2"
	case c.rounded:
		return "muladd avx2"
	case !c.double && c.level >= simd.AVX512:
		return "fma avx512"
	}
	return "fma avx2"
}

func (c *chain) newState() any { return &chainState{} }

func (c *chain) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*chainState)
	if need := in.K; len(st.order) < need {
		st.order = c.sequence(need)
	}
	w := in.Formats.D.Width()
	eachGrid(&st.gridState, in, out, w*in.K*(in.M+2*in.N),
		func(g *grid) { c.grid(st, g, out) },
		func(in *mma.Batch, out []byte) { c.few(st, in, out) })
	if c.patch {
		c.patchNaNs(in, out)
	}
}

// longChain is from how many products on a lane of a grid is faster than the general interpreter.
const longChain = 8

// few computes fewer dot products than a grid has lanes, in a lane of a grid each if they are long.
func (c *chain) few(st *chainState, in *mma.Batch, out []byte) {
	if in.K < longChain {
		c.m.runGeneral(in, out)
		return
	}
	st.grid = grid{in: in, groups: 1, rows: 4, tiles: in.Tiles}
	c.grid(st, &st.grid, out)
}

// sequence returns the order in which k products are taken: those of the
// instruction, repeated.
func (c *chain) sequence(k int) []uint32 {
	all := make([]uint32, k)
	for i := range all {
		all[i] = uint32(i/c.m.k*c.m.k + c.m.order[i%c.m.k])
	}
	return all
}

// grid computes the outputs of one grid of tiles.
func (c *chain) grid(st *chainState, g *grid, out []byte) {
	in, k, w := g.in, g.in.K, g.in.Formats.D.Width()
	x := &st.args
	x.A, x.B = c.rows(st), c.columns(st)
	x.Tiles, x.Groups, x.Rows = int64(g.tiles), int64(g.groups), int64(g.rows)
	x.ARow, x.ATile, x.BGroup = int64(w*k), int64(w*k*in.M), int64(w*k*8)
	x.Control = c.control
	for i := range x.Abs {
		x.Abs[i], x.SmallC[i] = 0x7fffffff, c.smallC
	}
	for i := range x.QNaN {
		x.QNaN[i] = c.nan
		if !c.double {
			x.QNaN[i] |= c.nan << 32
		}
	}
	x.C, x.D = st.accumulators(out)
	once := c.m.k
	if c.l == 0 {
		once = k // between two FMAs the end of an instruction does nothing but set a NaN's code
	}
	for at := 0; at < k; at += once {
		x.Order, x.N = &st.order[at], int64(once)
		switch {
		case c.l > 0:
			x.AddMul(c.l)
		case c.rounded && c.double:
			x.MulAdd64()
		case c.rounded:
			x.MulAdd32()
		case c.double:
			x.FMA64()
		case c.findTiny(st):
			x.TinyFMA32()
		default:
			x.FMA32()
		}
		x.C = x.D
	}
	st.scatter(out)
}

// findTiny finds subnormal operands, if there is a routine that makes use of that.
func (c *chain) findTiny(st *chainState) bool {
	g, x := &st.grid, &st.args
	k := g.in.K
	if c.level < simd.AVX512 || c.widen == fp.FP16 || k%16 != 0 || c.control&simd.FlushOperands != 0 {
		return false
	}
	st.tinyA, st.tinyB = resize(st.tinyA, g.tiles*g.rows/4*k), resize(st.tinyB, g.tiles*g.groups*k)
	st.tiny = simd.Tiny{
		A: floats32(x.A), B: floats32(x.B), TinyA: &st.tinyA[0], TinyB: &st.tinyB[0],
		Tiles: x.Tiles, Groups: x.Groups, Rows: x.Rows, K: int64(k), ARow: x.ARow, ATile: x.ATile,
	}
	st.tiny.Run()
	x.TinyA, x.TinyB, x.K = &st.tinyA[0], &st.tinyB[0], int64(k)
	return true
}

// rows returns A in D's format, with as many rows as the routine reads.
func (c *chain) rows(st *chainState) *byte {
	g := &st.grid
	in := g.in
	w := in.Formats.A.Width()
	src := g.rowCodes(w)
	more := w * (g.rows - in.M) * in.K
	if c.widen == fp.None && more == 0 {
		return &src[0]
	}
	if c.widen != fp.None {
		st.a = c.widened(st, ofA, st.a, src, 2*more)
		return &st.a[0]
	}
	st.a = resize(st.a, len(src)+more)
	copy(st.a, src)
	return &st.a[0]
}

// columns returns B in D's format, by k.
func (c *chain) columns(st *chainState) *byte {
	wb := st.grid.in.Formats.B.Width()
	turned := st.turnColumns(st.grid.columnCodes(wb), wb)
	if c.widen == fp.None {
		return &turned[0]
	}
	st.b = c.widened(st, ofB, st.b, turned, 0)
	return &st.b[0]
}

// widened converts codes of 2 bytes to FP32, with room for more bytes after them.
func (c *chain) widened(st *chainState, of int, dst, src []byte, more int) []byte {
	src = st.filled(of, src, 16)
	dst = resize(dst, 2*len(src)+more)
	x := &st.wide
	x.Src, x.Dst, x.N = &src[0], &dst[0], int64(len(src)/2)
	for i := range x.Small {
		x.Small[i], x.Abs[i] = c.small, 0x7fffffff
	}
	if c.widen == fp.FP16 {
		x.Half()
	} else {
		x.Brain()
	}
	return dst
}

// patchNaNs computes NaN results again, with the general interpreter.
func (c *chain) patchNaNs(in *mma.Batch, out []byte) {
	x := c.m.machines.Get().(*machine)
	defer c.m.machines.Put(x)
	x.trace = nil
	d := c.m.formats.D.Get()
	n := in.M * in.N
	for t := range in.Tiles {
		loaded := false
		for i := range n {
			code := mma.Load(out, int(d.Width), t*n+i)
			if code&^d.SignBit() <= d.InfCode(false) {
				continue
			}
			if !loaded {
				x.loadTile(in, t)
				loaded = true
			}
			x.loadOutput(in, t, i)
			mma.Store(out, int(d.Width), t*n+i, x.run())
		}
	}
}
