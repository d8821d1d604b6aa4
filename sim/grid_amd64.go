//go:build !purego

package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// grid is some tiles of a batch as the vector routines see them: outputs in groups
// of 8 columns and in rows, a multiple of 4 of them.
//
// Eight tiles of one output are taken together as 8 rows and 8 columns, of whose
// outputs only the diagonal is used: the buffers of A, B and scales are the same.
type grid struct {
	in           *mma.Batch
	diagonal     bool
	from, tiles  int
	groups, rows int // of a tile
}

// eachGrid calls f for all grids of a batch. A grid has as many tiles, of perTile bytes
// each, as fit into about scratchBytes. Tiles of one output that are left over after
// grouping go to rest.
func eachGrid(st *gridState, in *mma.Batch, out []byte, perTile int, f func(g *grid), rest func(in *mma.Batch, out []byte)) {
	st.grid = grid{in: in}
	if in.M == 1 && in.N == 1 {
		full := in.Tiles / 8 * 8
		if full < in.Tiles {
			st.part(&st.rest, in, full, in.Tiles)
			rest(&st.rest, out[full*in.Formats.D.Width():])
		}
		st.eights = *in
		st.eights.M, st.eights.N, st.eights.Tiles = 8, 8, full/8
		st.grid = grid{in: &st.eights, diagonal: true}
	}
	g := &st.grid
	g.groups, g.rows = (g.in.N+7)/8, (g.in.M+3)&^3
	chunk := max(1, scratchBytes/perTile)
	for ; g.from < g.in.Tiles; g.from += chunk {
		g.tiles = min(chunk, g.in.Tiles-g.from)
		f(g)
	}
}

// scratchBytes is about how much of the first-level cache a grid should take.
const scratchBytes = 32 << 10

// gridState is the scratch space that all vector kernels need.
type gridState struct {
	grid         grid
	eights, rest mma.Batch
	c, d         []byte // accumulators, if the batch does not have them in this layout
	zeros        []byte // of an instruction without C
	columns      []byte // B's columns, filled up to whole groups
	turned       []byte // the same, transposed: by group, k and column
	turn         simd.Transpose
	last         [2][]byte // codes of A and of B, filled up to the number that a routine takes at once
}

// part makes b the tiles from..to-1 of in, in the same buffers.
func (st *gridState) part(b, in *mma.Batch, from, to int) {
	*b = *in
	b.Tiles = to - from
	k, s := in.K, in.Blocks(in.K)
	cut := func(buf []byte, n int) []byte { return buf[from*n : to*n] }
	b.A, b.B = cut(in.A, in.M*k*in.Formats.A.Width()), cut(in.B, in.N*k*in.Formats.B.Width())
	b.C = cut(in.C, in.M*in.N*in.Formats.C.Width())
	b.SA, b.SB = cut(in.SA, in.M*s*in.Scale.Width()), cut(in.SB, in.N*s*in.Scale.Width())
}

// outputs is the number of outputs of a grid, including those that only fill it up.
func (g *grid) outputs() int { return g.tiles * g.groups * g.rows * 8 }

// accumulators returns the first elements of C and D, laid out
// [tile][group][row][column]: those of the batch if it has this layout. Without C they
// are zeros of D's format. After the computation call scatter.
func (st *gridState) accumulators(out []byte) (c, d *byte) {
	g := &st.grid
	in := g.in
	at, n := g.from*in.M*in.N, g.outputs()
	w, wd := in.Formats.C.Width(), in.Formats.D.Width()
	switch {
	case w == 0:
		st.zeros = resize(st.zeros, wd*n)
		c = &st.zeros[0]
	case g.asIs():
		c = &in.C[w*at]
	default:
		st.c = resize(st.c, w*n)
		g.pieces(w, func(scratch, batch, n int) { copy(st.c[scratch:], in.C[batch:][:n]) })
		c = &st.c[0]
	}
	if g.asIs() {
		return c, &out[wd*at]
	}
	st.d = resize(st.d, wd*n)
	return c, &st.d[0]
}

// scatter copies D to the batch, unless it was computed there.
func (st *gridState) scatter(out []byte) {
	if !st.grid.asIs() {
		w := st.grid.in.Formats.D.Width()
		st.grid.pieces(w, func(scratch, batch, n int) { copy(out[batch:][:n], st.d[scratch:]) })
	}
}

// asIs reports whether the batch's outputs have the layout of a grid already.
func (g *grid) asIs() bool { return !g.diagonal && g.in.N == 8 && g.in.M == g.rows }

// pieces calls f for each part of a row that is contiguous in both layouts, with its
// offsets and size in bytes.
func (g *grid) pieces(w int, f func(scratch, batch, n int)) {
	m, n := g.in.M, g.in.N
	for t := range g.tiles {
		for group := range g.groups {
			for i := range m {
				scratch := ((t*g.groups+group)*g.rows + i) * 8
				if g.diagonal {
					f((scratch+i)*w, ((g.from+t)*8+i)*w, w)
				} else {
					f(scratch*w, (((g.from+t)*m+i)*n+8*group)*w, min(8, n-8*group)*w)
				}
			}
		}
	}
}

// rowCodes and columnCodes return the codes of A and of B, of w bytes each.
func (g *grid) rowCodes(w int) []byte {
	return g.in.A[w*g.from*g.in.M*g.in.K:][:w*g.tiles*g.in.M*g.in.K]
}

func (g *grid) columnCodes(w int) []byte {
	return g.in.B[w*g.from*g.in.N*g.in.K:][:w*g.tiles*g.in.N*g.in.K]
}

// turnColumns returns the codes of columns by group, k and column. w is the size of a
// code in bytes, or of several codes that stand beside each other in a column and are to
// stay together.
func (st *gridState) turnColumns(src []byte, w int) []byte {
	g := &st.grid
	in := g.in
	groups := g.tiles * g.groups
	inK := in.K * in.Formats.B.Width() / w
	k := (inK + 16/w - 1) &^ (16/w - 1) // as many as simd.Transpose turns
	if in.N%8 != 0 || k != inK {
		st.fillColumns(src, w, inK, k)
		src = st.columns
	}
	st.turned = resize(st.turned, len(src))
	st.turn = simd.Transpose{Src: &src[0], Dst: &st.turned[0], Groups: int64(groups), K: int64(k)}
	st.turn.Run(w)
	if k != inK { // close the gaps between groups
		for i := range groups {
			copy(st.turned[8*w*i*inK:], st.turned[8*w*i*k:][:8*w*inK])
		}
	}
	return st.turned[:8*w*groups*inK]
}

// fillColumns copies columns and fills them up to whole groups and from inK values to k.
func (st *gridState) fillColumns(src []byte, w, inK, k int) {
	g := &st.grid
	n := g.in.N
	st.columns = resize(st.columns, w*g.tiles*g.groups*8*k)
	clear(st.columns)
	for j := range g.tiles * n {
		to := j/n*g.groups*8 + j%n
		copy(st.columns[w*to*k:], src[w*j*inK:][:w*inK])
	}
}

// Indexes of what there is for A and for B.
const (
	ofA = iota
	ofB
)

// filled returns codes, filled up with zeros to a multiple of n bytes.
func (st *gridState) filled(of int, src []byte, n int) []byte {
	if len(src)%n == 0 {
		return src
	}
	last := resize(st.last[of], (len(src)+n-1)/n*n)
	clear(last[copy(last, src):])
	st.last[of] = last
	return last
}
