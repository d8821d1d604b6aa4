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
	small   any    // of narrow, for tiles of few outputs
	columns []byte // B's columns, filled up to whole groups and to a multiple of 8
	turned  []byte // the same, by k
	last    []byte // A's codes, if their number is not a multiple of 32
	a, b    []float32
	ea, eb  []uint8
	e       []uint8
	c, d    []byte // accumulators, if they do not stand in the batch as they should
	zeros   []byte // of an instruction without C
	turn    simd.Transpose
	decode  simd.Half
	largest simd.Largest
	step    simd.Step
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

// chunkBytes is the scratch space that a few tiles should have.
const chunkBytes = 20 << 10

func (v *vector) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*vectorState)
	if in.M*in.N < 16 {
		v.n.run(in, out, st.small)
		return
	}
	perTile := 5*in.K*(in.M+in.N) + 2*in.K*in.N + in.M*in.N*in.K/v.n.l
	chunk := max(1, chunkBytes/perTile)
	for from := 0; from < in.Tiles; from += chunk {
		v.tiles(st, in, out, from, min(chunk, in.Tiles-from))
	}
}

// part is some tiles of a batch.
type part struct {
	level        simd.Level
	in           *mma.Batch
	from, tiles  int
	groups, rows int // of a tile, with what fills them up
	width        int // of an accumulator
}

// tiles does some tiles of a batch.
func (v *vector) tiles(st *vectorState, in *mma.Batch, out []byte, from, tiles int) {
	p := &part{v.level, in, from, tiles, (in.N + 7) / 8, (in.M + 3) &^ 3, in.Formats.D.Width()}
	special := st.decodeA(p)
	special = st.decodeB(p) || special
	k, l := in.K, v.n.l
	steps, outputs := k/l, tiles*p.groups*8*p.rows
	st.e = resize(st.e, steps*outputs)
	st.largest = simd.Largest{
		A: &st.ea[0], B: &st.eb[0], E: &st.e[0],
		Tiles: int64(tiles), Groups: int64(p.groups), Rows: int64(p.rows), Steps: int64(steps), L: int64(l),
		ARow: int64(k), ATile: int64(in.M * k), EStep: int64(outputs), Bias: v.bias,
	}
	st.largest.Run(v.level)
	x := &st.step
	x.Consts = v.consts
	x.Tiles, x.Groups, x.Rows, x.L4 = int64(tiles), int64(p.groups), int64(p.rows), int64(4*l)
	x.ARow, x.ATile, x.BGroup = int64(4*k), int64(4*k*in.M), int64(4*k*8)
	d := st.accumulators(p, out)
	for s := range steps {
		x.A, x.B, x.E = &st.a[s*l], &st.b[s*l*8], &st.e[s*outputs]
		x.Run(v.level, v.kind, special)
		x.C = x.D
	}
	if d != nil {
		p.scatter(out, d)
	}
}

// decodeA decodes the rows and says whether some value is Inf or NaN. What fills
// the rows up is whatever.
func (st *vectorState) decodeA(p *part) bool {
	in := p.in
	n := p.tiles * in.M * in.K
	src := in.A[2*p.from*in.M*in.K:][:2*n]
	if n%32 != 0 {
		st.last = resize(st.last, 2*whole(n))
		clear(st.last[copy(st.last, src):])
		src = st.last
	}
	slack := (p.rows - in.M) * in.K
	st.a, st.ea = resize(st.a, whole(n)+slack), resize(st.ea, whole(n)+slack)
	return st.decodeHalves(p, src, st.a, st.ea)
}

// whole is the number of codes that are decoded for n of them.
func whole(n int) int { return (n + 31) &^ 31 }

// decodeB turns and decodes the columns.
func (st *vectorState) decodeB(p *part) bool {
	in := p.in
	k := (in.K + 7) &^ 7
	src := in.B[2*p.from*in.N*in.K:][:2*p.tiles*in.N*in.K]
	if in.N%8 != 0 || k != in.K {
		st.fillColumns(p, src, k)
		src = st.columns
	}
	groups := p.tiles * p.groups
	n := whole(groups * 8 * in.K)
	st.turned = resize(st.turned, max(len(src), 2*n))
	st.turn = simd.Transpose{Src: &src[0], Dst: &st.turned[0], Groups: int64(groups), K: int64(k)}
	st.turn.Run()
	if k != in.K { // groups move together
		for g := range groups {
			copy(st.turned[16*g*in.K:], st.turned[16*g*k:][:16*in.K])
		}
	}
	st.b, st.eb = resize(st.b, n), resize(st.eb, n)
	return st.decodeHalves(p, st.turned[:2*n], st.b, st.eb)
}

// fillColumns copies columns and fills them up to whole groups and to k values.
func (st *vectorState) fillColumns(p *part, src []byte, k int) {
	n := p.in.N
	st.columns = resize(st.columns, 2*p.tiles*p.groups*8*k)
	clear(st.columns)
	for j := range p.tiles * n {
		to := j/n*p.groups*8 + j%n
		copy(st.columns[2*to*k:], src[2*j*p.in.K:][:2*p.in.K])
	}
}

func (st *vectorState) decodeHalves(p *part, src []byte, val []float32, code []uint8) bool {
	st.decode = simd.Half{Src: &src[0], Val: &val[0], Code: &code[0], N: int64(len(src) / 2)}
	return st.decode.Run(p.level)
}

// accumulators sets C and D of the first step. It returns D if it is not the
// batch's.
func (st *vectorState) accumulators(p *part, out []byte) []byte {
	in, x := p.in, &st.step
	at, n := p.width*p.from*in.M*in.N, p.width*p.tiles*p.rows*p.groups*8
	asIs := in.N == 8 && in.M == p.rows
	switch {
	case in.Formats.C == fp.None:
		st.zeros = resize(st.zeros, n)
		x.C = &st.zeros[0]
	case asIs:
		x.C = &in.C[at]
	default:
		st.c = resize(st.c, n)
		p.gather(st.c, in.C)
		x.C = &st.c[0]
	}
	if asIs {
		x.D = &out[at]
		return nil
	}
	st.d = resize(st.d, n)
	x.D = &st.d[0]
	return st.d
}

// gather copies accumulators from a batch's buffer to [tile][group][row][column].
func (p *part) gather(to, batch []byte) {
	p.pieces(func(scratch, at, n int) { copy(to[scratch:], batch[at:][:n]) })
}

// scatter copies them back.
func (p *part) scatter(batch, from []byte) {
	p.pieces(func(scratch, at, n int) { copy(batch[at:][:n], from[scratch:]) })
}

// pieces calls f for each part of a row that stands together in both places, with
// its offsets and size in bytes.
func (p *part) pieces(f func(scratch, batch, n int)) {
	m, n, w := p.in.M, p.in.N, p.width
	for t := range p.tiles {
		for g := range p.groups {
			for i := range m {
				f(((t*p.groups+g)*p.rows+i)*8*w, (((p.from+t)*m+i)*n+8*g)*w, min(8, n-8*g)*w)
			}
		}
	}
}
