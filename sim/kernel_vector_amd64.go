//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// vector is narrow in vector instructions, a row by 8 columns (AVX2) or two rows
// by 8 columns (AVX-512) at a time. With AVX-512 a vector has the products of one row
// and two values of k: one load puts these into all lanes, which it could not do with
// values of two rows. The steps of a dot product are done one after the other, each
// for all outputs of a few tiles: their scratch space stays in the first-level cache.
type vector struct {
	n      *narrow
	level  simd.Level
	kind   simd.Kind
	pair   int       // how many values of k a column of B has together
	bias   [32]uint8 // from exponent codes to exponent fields
	null   [32]uint8 // the least exponent field of a product that is not zero
	consts simd.Consts
	bytes  [2]simd.Byte // how codes of one byte of A and of B are decoded
}

// vectorState is one worker's scratch space.
type vectorState struct {
	gridState
	small   any // of narrow
	a, b    []float32
	ea, eb  []uint8
	e       []uint8
	half    simd.Half
	bytes   simd.Byte
	largest simd.Largest
	step    simd.Step
}

// newVector returns the kernel, or nil if the processor or the kernel does not support
// the program.
func newVector(n *narrow, level simd.Level) kernel {
	if level < simd.AVX2 || !vectorFits(n) {
		return nil
	}
	v := &vector{n: n, level: level, pair: 1, consts: vectorConsts(n), bytes: [2]simd.Byte{newByte(n.a.f), newByte(n.b.f)}}
	if level >= simd.AVX512 {
		v.pair = 2
	}
	for i := range v.bias {
		v.bias[i] = uint8(127 + n.step.lowest)
		v.null[i] = v.bias[i] + 2*codeOne
	}
	switch {
	case n.d.ID == fp.FP16:
		v.kind = simd.Rounded
	case n.acc.Frac == 23 && mostSum(n)+math.Ldexp(1, int(n.f)+1) < 1<<31:
		v.kind = simd.Fitting
	}
	return v
}

// vectorFits reports whether sums stay within 32 bits and a sign, and accumulators
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
	all, c := mostSum(n), math.Ldexp(1, int(n.f)+1)
	withC := all * float64((n.l+4)/8*4) / float64(n.l) // the products that are added to C in simd.Step
	return all+c < 1<<32 && withC+c < 1<<31 && n.f >= 2
}

// mostSum returns a bound of the sum of a step's products, in units of its alignment.
func mostSum(n *narrow) float64 {
	significand := func(f *fp.Format) float64 { return 2 - math.Ldexp(1, -int(f.FracBits)) }
	return math.Ldexp(float64(n.l)*significand(n.a.f)*significand(n.b.f), int(n.f))
}

// newByte returns the constants with which a format of one byte is decoded.
func newByte(f *fp.Format) (x simd.Byte) {
	if f.Width > 1 {
		return x
	}
	x.Left, x.SignLeft = int64(10-f.FracBits), int64(15-f.ExpBits-f.FracBits)
	for i := range x.Top {
		x.Magnitude[i], x.Top[i], x.SignBit[i] = 1<<(f.ExpBits+f.FracBits)-1, uint16(f.MaxFinite()), 1<<15
		if f.HasInf() {
			x.Top[i] = uint16(f.InfCode(false))
		}
	}
	for i := range x.Factor {
		x.Factor[i] = float32(math.Ldexp(1, 15-int(f.Bias)))
	}
	return x
}

func vectorConsts(n *narrow) (c simd.Consts) {
	lowest := n.step.lowest // exponent of code 0
	field := func(e int32) int32 { return int32(uint32(e) << 23) }
	small := math.Float32bits(float32(math.Ldexp(1, -25)))
	if n.m.params.Special.TinySign {
		small = math.MaxUint32 // no magnitude
	}
	for i := range c.Abs {
		c.Abs[i], c.Sign[i], c.Finite[i], c.One[i], c.Inverse[i] = 0x7fffffff, 1<<31, 0x7f7fffff, 1, 254<<23
		c.QNaN[i] = math.Float32bits(nan32(n.d, n.nan))
		c.Exponent[i], c.Infinite[i] = 255<<23, 0x00110000
		c.Floor[i], c.Emin[i] = field(max(0, 127+n.floor)), field(127+n.emin)
		c.Unit[i] = field(2*127 + n.f)
		c.Keep[i] = math.MaxUint32 << (23 - n.acc.Frac)
		c.Small[i] = int32(small)
		c.Null[i], c.Special[i] = field(127+lowest+2*codeOne), field(127+lowest+2*(codeOne+29))
	}
	return c
}

// nan32 returns a NaN of FP16 or FP32 as FP32, with its fraction at the top.
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

// grid computes the outputs of one grid of tiles.
func (v *vector) grid(st *vectorState, g *grid, out []byte) {
	in, k, l := g.in, g.in.K, v.n.l
	steps, outputs := k/l, g.outputs()
	inf := v.decode(st, ofA, g.rowCodes(v.n.width), &st.a, &st.ea, (g.rows-in.M)*k)
	inf = v.decode(st, ofB, st.turnColumns(g.columnCodes(v.n.width), v.n.width*v.pair), &st.b, &st.eb, 0) || inf
	st.e = resize(st.e, steps*outputs)
	st.largest = simd.Largest{
		A: &st.ea[0], B: &st.eb[0], E: &st.e[0],
		Tiles: int64(g.tiles), Groups: int64(g.groups), Rows: int64(g.rows), Steps: int64(steps), L: int64(l),
		ARow: int64(k), ATile: int64(in.M * k), EStep: int64(outputs), Bias: v.bias, Null: v.null,
	}
	st.largest.Run(v.level)
	x := &st.step
	x.Consts = v.consts
	x.Tiles, x.Groups, x.Rows, x.L4 = int64(g.tiles), int64(g.groups), int64(g.rows), int64(4*l)
	x.ARow, x.ATile, x.BGroup = int64(4*k), int64(4*k*in.M), int64(4*k*8)
	x.AnyNull = st.largest.AnyNull
	x.C, x.D = st.accumulators(out)
	for s := range steps {
		x.A, x.B, x.E = &st.a[s*l], &st.b[s*l*8], &st.e[s*outputs]
		x.Run(v.level, v.kind, inf)
		x.C = x.D
	}
	st.scatter(out)
}

// decode decodes codes and reports whether some value is Inf. There is room for more
// values after them, with unspecified contents.
func (v *vector) decode(st *vectorState, of int, src []byte, val *[]float32, code *[]uint8, more int) bool {
	w := v.n.width
	src = st.filled(of, src, 32*w)
	n := len(src) / w
	*val, *code = resize(*val, n+more), resize(*code, n+more)
	if w == 1 {
		x := &st.bytes
		*x = v.bytes[of]
		x.Src, x.Val, x.Code, x.N = &src[0], &(*val)[0], &(*code)[0], int64(n)
		return x.Run(v.level)
	}
	st.half = simd.Half{Src: &src[0], Val: &(*val)[0], Code: &(*code)[0], N: int64(n)}
	return st.half.Run(v.level)
}
