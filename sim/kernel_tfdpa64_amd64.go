//go:build !purego

package sim

import (
	"math"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// tfdpa64 is the kernel of T-FDPA and ST-FDPA (arXiv:2511.10909, Alg. 7 and 8) on
// operands of any format, in vector instructions on float64: see simd.Dot for how it cuts.
type tfdpa64 struct {
	m *Model
	l int
	operands64

	sums  simd.Sums
	fp32  bool       // accumulators are FP32 and rounded toward zero, as the sums are made
	emin  [2]float64 // the least that C and later accumulators count as
	round simd.Round
	nan   uint32 // code of a NaN result as FP32
}

// tfdpa64State is one worker's scratch space.
type tfdpa64State struct {
	decoded64
	acc, sum []float64
	c32      []float32
	fused    simd.Fused
	round    simd.Round
	convert  simd.Convert
}

// newTFDPA64 returns the kernel, or nil if it does not support the program.
func newTFDPA64(m *Model, level simd.Level) kernel {
	p, f := &m.params, m.formats
	l := p.Step(m.k)
	if level < simd.AVX2 || !isTruncated(p) || l%4 != 0 || m.k%l != 0 {
		return nil
	}
	if f.Scale != fp.None && (f.Scale != fp.E8M0 || f.Block%8 != 0 || m.k%int(f.Block) != 0) {
		return nil
	}
	known := func(id fp.ID) bool { return id == fp.FP32 || id == fp.FP16 }
	w := &tfdpa64{m: m, l: l}
	if !known(f.D) || f.C != fp.None && !known(f.C) || !w.setFormats(f, level) || !w.setRound(p.Acc) {
		return nil
	}
	// The sum of a step stays below 2^52 units.
	if math.Ldexp(4*float64(l)+2, int(p.Join.Align.F)) > 1<<52 {
		return nil
	}
	w.nan = math.Float32bits(nan32(f.D.Get(), newMachine(m).nanCode(term{kind: NaN})))
	w.fp32 = f.D == fp.FP32 && f.C != fp.FP16 && p.Acc.Mode == fp.RZ && !p.Special.TinySign
	w.nanKinds = !w.fp32
	w.setSums(p)
	return w
}

// isTruncated reports whether a program has the shape of Alg. 7, whatever its numbers.
func isTruncated(p *mma.Params) bool {
	q := mma.Params{L: p.L, Join: mma.Join{Align: mma.Align{F: p.Join.Align.F, Mode: fp.RZ, Floor: p.Join.Align.Floor}}, Acc: p.Acc}
	q.Special = mma.Special{NaN: p.Special.NaN, TinySign: p.Special.TinySign}
	return q == *p && p.Join.Align.F != 0 && !p.Special.OperandNaN()
}

// setRound sets the rounding, and reports whether the kernel supports it.
func (w *tfdpa64) setRound(r mma.Round) bool {
	mode, ok := controls[r.Mode]
	d := w.m.formats.D.Get()
	if !ok || r.Frac == 0 || uint8(r.Frac) > d.FracBits || r.Flush != mma.NoFlush || r.Over != mma.OverInf ||
		int32(r.Emin) != d.Emin() || int32(r.Emax) != d.Emax() {
		return false
	}
	w.round = simd.Round{
		Control: mode, ExpMask: 0x7ff << 52, Sign: math.MinInt64, Emin: math.Ldexp(1, int(r.Emin)),
		Shift: (52 - int64(r.Frac)) << 52, Over: math.Ldexp(1, int(r.Emax)+1),
	}
	if w.m.params.Special.TinySign {
		w.round.TinySign = 1
	}
	return true
}

func (w *tfdpa64) setSums(p *mma.Params) {
	w.emin = [2]float64{w.round.Emin, w.round.Emin}
	if c := w.m.formats.C; c != fp.None {
		w.emin[0] = math.Ldexp(1, int(c.Get().Emin()))
	}
	w.sums = simd.Sums{
		ExpMask: 0x7ff << 52, Abs: math.MaxInt64, SignBit: math.MinInt64, Shift: (52 - int64(p.Join.Align.F)) << 52,
		Emin: w.round.Emin, Last: w.round.Shift, Over: w.round.Over, QNaN: int64(w.nan),
		Inf32: 0x7f800000, Fraction32: 0x7fffff, Hidden: 1 << 52, Rebias: (1023 - 127) << 52, Two: 2, Bit13: 1 << 13,
	}
	w.setFloor(p.Join.Align.Floor)
	if !w.fp32 {
		return
	}
	// The exponents of Inf and NaN make U, which a sum begins at (see the documentation of
	// internal/simd/gen), infinite. Infinities of C count as larger than all products, and
	// yet small enough that no sum overflows on the way.
	w.sums.Keep, w.sums.Most = -1<<(52-p.Acc.Frac), 0x1p900
	special := 2047 - (52 - int(p.Join.Align.F))
	for i := range w.largest.Cap {
		w.largest.Cap[i] = uint16(1<<13 + special)
	}
}

func (w *tfdpa64) name() string {
	return "float64 " + (Portable + Path(w.level-simd.Portable)).String()
}

func (w *tfdpa64) newState() any { return &tfdpa64State{} }

func (w *tfdpa64) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*tfdpa64State)
	perTile := in.K*(11*in.M+26*in.N) + 26*in.M*in.N
	eachGrid(&st.gridState, in, out, perTile, func(g *grid) { w.grid(st, g, out) }, w.m.runGeneral)
}

// grid computes the outputs of one grid of tiles.
func (w *tfdpa64) grid(st *tfdpa64State, g *grid, out []byte) {
	w.decode(&st.decoded64)
	n := g.outputs()
	c, d := st.accumulators(out)
	if w.fp32 {
		for at := 0; at < g.in.K; at += w.l {
			w.step(st, at, c, d)
			c = d
		}
		st.scatter(out)
		return
	}
	st.acc, st.sum = resize(st.acc, n), resize(st.sum, n)
	acc, sum := bytesOf(st.acc), bytesOf(st.sum)
	w.load(st, c, n)
	for at := 0; at < g.in.K; at += w.l {
		w.step(st, at, acc, sum)
		st.round = w.round
		st.round.Src, st.round.Dst, st.round.N = &st.sum[0], &st.acc[0], int64(n)
		st.round.Run(w.level)
	}
	w.store(st, d, n)
	st.scatter(out)
}

// bytesOf returns the first byte of numbers.
func bytesOf[T float32 | float64](s []T) *byte { return (*byte)(unsafe.Pointer(&s[0])) }

func floats32(p *byte) *float32 { return (*float32)(unsafe.Pointer(p)) }

// step computes one step: its products begin at number at of the dot product.
func (w *tfdpa64) step(st *tfdpa64State, at int, acc, sum *byte) {
	d := &st.decoded64
	w.largestOf(d, &st.e, at, w.l)
	n := st.grid.outputs()
	x := &st.fused.Sums
	*x = w.sums
	x.E, x.Acc, x.Sum, x.N = &st.e[0], acc, sum, int64(n)
	x.Least = w.emin[1]
	if at == 0 {
		x.Least = w.emin[0]
	}
	if st.special {
		x.Kinds = w.sumKinds(d, at, w.l)
	}
	if w.fp32 && w.level >= simd.AVX512 {
		w.products(d, &st.fused.Dot, at, w.l)
		st.fused.Run(st.special)
		return
	}
	st.parts = resize(st.parts, 3*n)
	x.Parts = &st.parts[0]
	x.Prepare(w.level, w.fp32)
	w.addProducts(d, at, w.l)
	x.Finish(w.level, w.fp32, st.special)
}

// load takes C.
func (w *tfdpa64) load(st *tfdpa64State, c *byte, n int) {
	if id := w.m.formats.C; id == fp.FP16 || id == fp.None && w.m.formats.D == fp.FP16 {
		st.c32 = resize(st.c32, n)
		x := &st.widen
		x.Src, x.Dst, x.N = c, bytesOf(st.c32), int64(n)
		for i := range x.Small {
			x.Small[i], x.Abs[i] = -1, 0x7fffffff
		}
		x.Half()
		c = bytesOf(st.c32)
	}
	st.convert = simd.Convert{Src: c, Dst: bytesOf(st.acc), N: int64(n)}
	st.convert.FromFloat32(w.level)
}

// store writes D.
func (w *tfdpa64) store(st *tfdpa64State, d *byte, n int) {
	x := &st.convert
	*x = simd.Convert{Src: bytesOf(st.acc), Dst: d, N: int64(n), QNaN: int64(w.nan)}
	half := w.m.formats.D == fp.FP16
	if half {
		st.c32 = resize(st.c32, n)
		x.Dst = bytesOf(st.c32)
	}
	x.ToFloat32(w.level)
	if half {
		x.Src, x.Dst = x.Dst, d
		x.NarrowHalf()
	}
}
