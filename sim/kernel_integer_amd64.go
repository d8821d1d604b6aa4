//go:build !purego

package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// intVectors is intSums in vector instructions. Narrow dot products, whose a and b have as many
// bytes as d, as processors have them, are computed side by side; others in tiles.
type intVectors struct {
	*intSums
	level         simd.Level
	narrow, tiles bool // which of the two routines can do it
	saturates     bool
	xor           bool // and wraps, in tiles
	mixed         bool // of unsigned bytes and signed ones
	sum           simd.IntegerSum
	consts        simd.Integers
}

// intVectorsState is one worker's scratch space.
type intVectorsState struct {
	gridState
	sums           intSumsState
	a, b           []byte // of narrow dot products
	lastDots       [4][64]byte
	dots           simd.Integers
	wordsA, wordsB []int16
	codes          simd.IntegerCodes
	args           simd.IntegerTiles
}

// newIntVectors returns the kernel, or nil if the processor or the kernel does not support the
// program.
func newIntVectors(s *intSums, level simd.Level) kernel {
	f, k, width := s.m.formats, s.m.k, s.m.formats.A.Width()
	if in := &s.m.params.In; level < simd.AVX2 || in.ZeroA != 0 || in.ZeroB != 0 || s.step != k || f.B.Width() != width || f.C != f.D && f.C != fp.None {
		return nil
	}
	t := &intVectors{intSums: s, level: level, narrow: k*width == f.D.Width(), saturates: s.acc.wrap == 0, xor: s.m.params.Prod.Xor,
		mixed: s.a == fp.U8 && s.b == fp.S8}
	long := s.acc.wrap == 32 || s.acc == rangeOf(31)
	short := width == 1 && (s.a != fp.U8 || s.b != fp.U8) // products have 16 bits
	switch {
	case long && width == 1 && s.sums == anyInteger:
		t.sum, t.tiles = simd.FourBytes, k%2 == 0
	case long && s.a == fp.S16 && s.b == fp.S16 && s.sums == anyInteger:
		t.sum = simd.TwoWords
	case long && short && !t.saturates && s.group == 2 && s.sums == rangeOf(15):
		t.sum = simd.TwoPairs
	case short && f.D == fp.S16 && f.C == fp.None && s.acc == rangeOf(15) && s.sums == anyInteger:
		t.sum = simd.OnePair
	default:
		return nil
	}
	if !t.narrow && !t.tiles || t.xor && (t.narrow || t.saturates) {
		return nil
	}
	for i := range t.consts.MaskA {
		t.consts.MaskA[i], t.consts.SignA[i] = uint16(s.a.Get().CodeMask()), uint16(s.a.Get().SignBit())
		t.consts.MaskB[i], t.consts.SignB[i] = uint16(s.b.Get().CodeMask()), uint16(s.b.Get().SignBit())
	}
	return t
}

func (t *intVectors) name() string {
	if t.narrow {
		return "integer " + (Portable + Path(t.level-simd.Portable)).String()
	}
	return "integer avx2"
}

func (t *intVectors) newState() any { return &intVectorsState{dots: t.consts} }

func (t *intVectors) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*intVectorsState)
	switch {
	case t.narrow && in.K == t.m.k:
		t.eachDot(st, in, out)
	case t.tiles:
		eachGrid(&st.gridState, in, out, 2*in.K*(in.M+2*in.N), func(g *grid) { t.grid(st, g, out) },
			func(in *mma.Batch, out []byte) { t.intSums.run(in, out, &st.sums) })
	default:
		t.intSums.run(in, out, &st.sums)
	}
}

// eachDot computes narrow dot products.
func (t *intVectors) eachDot(st *intVectorsState, in *mma.Batch, out []byte) {
	width := in.D.Width()
	if in.M == 1 && in.N == 1 {
		t.sideBySide(st, in.A, in.B, in.C, out)
		return
	}
	chunk := max(1, scratchBytes/(4*width*in.M*in.N))
	for from := 0; from < in.Tiles; from += chunk {
		part := &st.rest
		st.part(part, in, from, min(from+chunk, in.Tiles))
		st.spread(part, width)
		t.sideBySide(st, st.a, st.b, part.C, out[width*from*in.M*in.N:][:len(st.a)])
	}
}

// spread gives every output of a batch operands of its own: width bytes of A and of B.
func (st *intVectorsState) spread(in *mma.Batch, width int) {
	row := width * in.N
	st.a, st.b = resize(st.a, row*in.M*in.Tiles), resize(st.b, row*in.M*in.Tiles)
	for i := range in.M * in.Tiles {
		copy(st.b[row*i:], in.B[i/in.M*row:][:row])
		a := st.a[row*i:][:row]
		for n := copy(a, in.A[width*i:][:width]); n < row; n *= 2 {
			copy(a[n:], a[:n])
		}
	}
}

// sideBySide computes narrow dot products that have operands of their own.
func (t *intVectors) sideBySide(st *intVectorsState, a, b, c, d []byte) {
	if len(c) == 0 {
		st.zeros = resize(st.zeros, len(d))
		c = st.zeros
	}
	x, n := &st.dots, len(d)&^63
	if n > 0 {
		x.A, x.B, x.C, x.D, x.N = &a[0], &b[0], &c[0], &d[0], int64(n)
		x.Run(t.level, t.sum, t.saturates, t.mixed)
	}
	if n < len(d) {
		last := &st.lastDots
		for i, src := range [][]byte{a, b, c} {
			copy(last[i][:], src[n:])
		}
		t.sideBySide(st, last[0][:], last[1][:], last[2][:], last[3][:])
		copy(d[n:], last[3][:])
	}
}

// grid computes the outputs of one grid of tiles.
func (t *intVectors) grid(st *intVectorsState, g *grid, out []byte) {
	in, k := g.in, g.in.K
	st.wordsA = st.words(st.wordsA, st.filled(ofA, g.rowCodes(1), 16), (g.rows-in.M)*k, &t.consts.MaskA, &t.consts.SignA)
	st.wordsB = st.words(st.wordsB, st.filled(ofB, st.turnColumns(g.columnCodes(1), 2), 16), 0, &t.consts.MaskB, &t.consts.SignB)
	x := &st.args
	x.Tiles, x.Groups, x.Rows, x.Pairs = int64(g.tiles), int64(g.groups), int64(g.rows), int64(t.m.k/2)
	x.ARow, x.ATile, x.BGroup = int64(2*k), int64(2*k*in.M), int64(2*k*8)
	x.C, x.D = st.accumulators(out)
	for at := 0; at < k; at += t.m.k {
		x.A, x.B = &st.wordsA[at], &st.wordsB[8*at]
		x.Run(t.saturates, t.xor)
		x.C = x.D
	}
	st.scatter(out)
}

// words makes words of codes, with room for more after them.
func (st *intVectorsState) words(dst []int16, src []byte, more int, mask, sign *[16]uint16) []int16 {
	dst = resize(dst, len(src)+more)
	st.codes = simd.IntegerCodes{Src: &src[0], Dst: &dst[0], N: int64(len(src)), Mask: *mask, Sign: *sign}
	st.codes.Run()
	return dst
}
