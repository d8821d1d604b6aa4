//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// vector is narrow in vector instructions, a row by 8 columns (AVX2) or two rows
// by 8 columns (AVX-512) at a time. The steps of a dot product are done one after
// the other, each for all outputs of a few tiles: their scratch space stays in
// the first cache.
type vector struct {
	n      *narrow
	level  simd.Level
	kind   simd.Kind
	bias   [32]uint8 // from exponent codes to exponent fields
	consts simd.Consts
}

// vectorState is one worker's scratch space.
type vectorState struct {
	gridState
	small    any // of narrow
	a, b     []float32
	ea, eb   []uint8
	e        []uint8
	decoding simd.Half
	largest  simd.Largest
	step     simd.Step
}

// newVector returns the kernel, or nil if the processor or the program is not
// made for it.
func newVector(n *narrow, level simd.Level) kernel {
	if level < simd.AVX2 || n.width != 2 || !vectorFits(n) {
		return nil
	}
	v := &vector{n: n, level: level, consts: vectorConsts(n)}
	for i := range v.bias {
		v.bias[i] = uint8(127 + n.step.lowest)
	}
	switch {
	case n.d.ID == fp.FP16:
		v.kind = simd.Rounded
	case n.acc.Frac == 23 && mostSum(n)+math.Ldexp(1, int(n.f)+1) < 1<<31:
		v.kind = simd.Fitting
	}
	return v
}

// vectorFits says whether sums stay within 32 bits and a sign, and accumulators
// without products keep their value.
func vectorFits(n *narrow) bool {
	p := &n.m.params
	acc := n.acc
	switch {
	case n.l%4 != 0 || n.f < int32(acc.Frac) || n.floor > n.emin-int32(acc.Frac)+n.f:
		return false
	case n.d.ID == fp.FP32:
		if acc.Mode != fp.RZ || p.Special.TinySign && acc.Frac != 23 || acc.Emin != -126 || acc.Emax != 127 {
			return false
		}
	case n.d.ID == fp.FP16:
		if acc != mma.To(fp.FP16, fp.RNE) {
			return false
		}
	default:
		return false
	}
	return mostSum(n) < 1<<31 && n.f >= 2
}

// mostSum is a bound of the sum of a step's products in units of its alignment.
func mostSum(n *narrow) float64 {
	significand := func(f *fp.Format) float64 { return 2 - math.Ldexp(1, -int(f.FracBits)) }
	return math.Ldexp(float64(n.l)*significand(n.a.f)*significand(n.b.f), int(n.f))
}

func vectorConsts(n *narrow) (c simd.Consts) {
	lowest := n.step.lowest // exponent of code 0
	small := math.Float32bits(float32(math.Ldexp(1, -25)))
	if n.m.params.Special.TinySign {
		small = math.MaxUint32 // no magnitude
	}
	for i := range c.Abs {
		c.Abs[i], c.Sign[i], c.Finite[i], c.One[i], c.Inverse[i] = 0x7fffffff, 1<<31, 0x7f7fffff, 1, 254<<23
		c.QNaN[i] = math.Float32bits(nan32(n.d, n.nan))
		c.Floor[i], c.Emin[i] = 127+n.floor, 127+n.emin
		c.Unit[i] = 2*127 + n.f
		c.Keep[i] = math.MaxUint32 << (23 - n.acc.Frac)
		c.Small[i] = int32(small)
		c.Null[i], c.Special[i] = 127+lowest+2*codeOne, 127+lowest+2*(codeOne+29)
	}
	return c
}

// nan32 returns the NaN of a code of FP16 or FP32 with its fraction where FP32 has
// it.
func nan32(f *fp.Format, code uint64) float32 {
	if f.ID == fp.FP16 {
		code = (code&0x8000)<<16 | 0x7f800000 | (code&0x3ff)<<13
	}
	return math.Float32frombits(uint32(code))
}

func (v *vector) name() string { return "float32 " + (Portable + Path(v.level-simd.Portable)).String() }

func (v *vector) newState() any { return &vectorState{small: v.n.newState()} }

func (v *vector) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*vectorState)
	perTile := 5*in.K*(in.M+in.N) + 2*in.K*in.N + in.M*in.N*in.K/v.n.l
	eachGrid(&st.gridState, in, out, perTile,
		func(g *grid) { v.grid(st, g, out) },
		func(in *mma.Batch, out []byte) { v.n.run(in, out, st.small) })
}

// grid does a grid.
func (v *vector) grid(st *vectorState, g *grid, out []byte) {
	in, k, l := g.in, g.in.K, v.n.l
	steps, outputs := k/l, g.outputs()
	special := v.decode(st, ofA, g.rowCodes(2), &st.a, &st.ea, (g.rows-in.M)*k)
	special = v.decode(st, ofB, st.turnColumns(g.columnCodes(2), 2), &st.b, &st.eb, 0) || special
	st.e = resize(st.e, steps*outputs)
	st.largest = simd.Largest{
		A: &st.ea[0], B: &st.eb[0], E: &st.e[0],
		Tiles: int64(g.tiles), Groups: int64(g.groups), Rows: int64(g.rows), Steps: int64(steps), L: int64(l),
		ARow: int64(k), ATile: int64(in.M * k), EStep: int64(outputs), Bias: v.bias,
	}
	st.largest.Run(v.level)
	x := &st.step
	x.Consts = v.consts
	x.Tiles, x.Groups, x.Rows, x.L4 = int64(g.tiles), int64(g.groups), int64(g.rows), int64(4*l)
	x.ARow, x.ATile, x.BGroup = int64(4*k), int64(4*k*in.M), int64(4*k*8)
	x.C, x.D = st.accumulators(out)
	for s := range steps {
		x.A, x.B, x.E = &st.a[s*l], &st.b[s*l*8], &st.e[s*outputs]
		x.Run(v.level, v.kind, special)
		x.C = x.D
	}
	st.scatter(out)
}

// decode decodes codes and says whether some value is Inf or NaN. Behind the
// values there is room for more, which are whatever.
func (v *vector) decode(st *vectorState, of int, src []byte, val *[]float32, code *[]uint8, more int) bool {
	src = st.filled(of, src, 64)
	n := len(src) / 2
	*val, *code = resize(*val, n+more), resize(*code, n+more)
	st.decoding = simd.Half{Src: &src[0], Val: &(*val)[0], Code: &(*code)[0], N: int64(n)}
	return st.decoding.Run(v.level)
}
