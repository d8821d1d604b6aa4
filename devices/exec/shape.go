package exec

import "github.com/mmafuzz/mmafuzz/sim/mma"

// some returns tiles from..from+n-1 of a batch, in its own buffers.
func some(in *mma.Batch, from, n int) *mma.Batch {
	if n == in.Tiles {
		return in
	}
	part := *in
	part.Tiles = n
	for _, buf := range []*[]byte{&part.A, &part.B, &part.C, &part.SA, &part.SB} {
		tile := len(*buf) / in.Tiles
		*buf = (*buf)[from*tile : (from+n)*tile]
	}
	return &part
}

// sliceK copies elements from..from+part.K-1 of the factors of a batch, and their
// scales.
func sliceK(part, in *mma.Batch, from int) {
	cut := func(dst, src []byte, width, n, of, from int) {
		n, of, from = n*width, of*width, from*width
		for row := 0; row*n < len(dst); row++ {
			copy(dst[row*n:(row+1)*n], src[row*of+from:])
		}
	}
	cut(part.A, in.A, in.Formats.A.Width(), part.K, in.K, from)
	cut(part.B, in.B, in.Formats.B.Width(), part.K, in.K, from)
	n, of := in.Blocks(part.K), in.Blocks(in.K)
	if n > 0 {
		w := in.Scale.Width()
		cut(part.SA, in.SA, w, n, of, from/int(in.Block))
		cut(part.SB, in.SB, w, n, of, from/int(in.Block))
	}
}

// tiling is a batch cut into tiles of another size, filled up with zeros. A tile
// of one dot product becomes the corner of a tile of zeros.
type tiling struct {
	in, cut *mma.Batch
	down    int // tiles of cut for the rows of a tile of in
	across  int // and for its columns
}

func newTiling(in *mma.Batch, m, n int) *tiling {
	t := &tiling{in: in, down: (in.M + m - 1) / m, across: (in.N + n - 1) / n}
	t.cut = mma.NewBatch(in.Formats, mma.Shape{M: m, N: n, K: in.K, Tiles: in.Tiles * t.down * t.across})
	rowA, rowB := in.K*in.Formats.A.Width(), in.K*in.Formats.B.Width()
	rowS := in.Blocks(in.K) * in.Scale.Width()
	for tile := range t.cut.Tiles {
		src, i, j := t.place(tile)
		copyRows(t.cut.A, in.A, rowA, tile*m, src*in.M+i, min(m, in.M-i))
		copyRows(t.cut.SA, in.SA, rowS, tile*m, src*in.M+i, min(m, in.M-i))
		copyRows(t.cut.B, in.B, rowB, tile*n, src*in.N+j, min(n, in.N-j))
		copyRows(t.cut.SB, in.SB, rowS, tile*n, src*in.N+j, min(n, in.N-j))
		t.eachRow(tile, in.Formats.C.Width(), func(small, large []int) {
			copy(t.cut.C[small[0]:small[1]], in.C[large[0]:large[1]])
		})
	}
	return t
}

// place returns the tile of in, and the row and column in it, where a tile of
// cut begins.
func (t *tiling) place(tile int) (src, row, col int) {
	src, part := tile/(t.down*t.across), tile%(t.down*t.across)
	return src, part / t.across * t.cut.M, part % t.across * t.cut.N
}

// copyRows copies n rows of so many bytes.
func copyRows(dst, src []byte, bytes, to, from, n int) {
	copy(dst[to*bytes:], src[from*bytes:(from+n)*bytes])
}

// eachRow calls f with the places, first byte and end, of each row of outputs
// that a tile of cut and its tile of in have in common; width is an output's.
func (t *tiling) eachRow(tile, width int, f func(small, large []int)) {
	src, i, j := t.place(tile)
	rows, cols := min(t.cut.M, t.in.M-i), min(t.cut.N, t.in.N-j)
	for r := range rows {
		small := (tile*t.cut.M + r) * t.cut.N * width
		large := ((src*t.in.M+i+r)*t.in.N + j) * width
		f([]int{small, small + cols*width}, []int{large, large + cols*width})
	}
}

// collect copies the outputs of cut to where they belong in in's.
func (t *tiling) collect(res, out []byte) {
	for tile := range t.cut.Tiles {
		t.eachRow(tile, t.in.Formats.D.Width(), func(small, large []int) {
			copy(out[large[0]:large[1]], res[small[0]:small[1]])
		})
	}
}
