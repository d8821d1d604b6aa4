// Package tiling turns batches of any shape into batches for units that execute tiles of
// one shape and one K: children, GPUs, instructions of the CPU.
package tiling

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Repeat runs an instruction on a batch whose K is a multiple of the instruction's: it
// calls step, which runs the instruction once, for each part of K, with C = the previous D.
func Repeat(inst *mma.Instruction, in *mma.Batch, out []byte, step func(in *mma.Batch, out []byte) error) error {
	k := inst.K
	if in.K == k {
		return step(in, out)
	}
	if in.K%k != 0 || inst.C == fp.None || inst.C != inst.D {
		return fmt.Errorf("%s has K = %d and c %s, d %s: it cannot be repeated for dot products of %d elements", inst.FullName(), k, inst.C, inst.D, in.K)
	}
	part := mma.NewBatch(in.Formats, mma.Shape{M: in.M, N: in.N, K: k, Tiles: in.Tiles})
	copy(part.C, in.C)
	for from := 0; from < in.K; from += k {
		sliceK(part, in, from)
		if err := step(part, out); err != nil {
			return err
		}
		copy(part.C, out)
	}
	return nil
}

// Fit returns how many rows (or columns) tiles of an instruction should have for a batch
// with n: the smallest number in r that is at least n, or else the largest in r.
func Fit(r mma.Range, n int) int {
	if n <= r.Min {
		return r.Min
	}
	step := max(r.Step, 1)
	return min(r.Min+(n-r.Min+step-1)/step*step, r.Min+(r.Max-r.Min)/step*step)
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

// Tiling is a batch cut into tiles of another size, filled up with zeros. A tile
// of one dot product becomes the corner of a tile of zeros.
type Tiling struct {
	// Tiles is the batch to run.
	Tiles  *mma.Batch
	in     *mma.Batch
	down   int // how many of Tiles the rows of a tile of in take
	across int // how many its columns take
}

// Cut cuts a batch into tiles of m rows and n columns.
func Cut(in *mma.Batch, m, n int) *Tiling {
	t := &Tiling{in: in, down: (in.M + m - 1) / m, across: (in.N + n - 1) / n}
	t.Tiles = mma.NewBatch(in.Formats, mma.Shape{M: m, N: n, K: in.K, Tiles: in.Tiles * t.down * t.across})
	rowA, rowB := in.K*in.Formats.A.Width(), in.K*in.Formats.B.Width()
	rowS := in.Blocks(in.K) * in.Scale.Width()
	for tile := range t.Tiles.Tiles {
		src, i, j := t.place(tile)
		copyRows(t.Tiles.A, in.A, rowA, tile*m, src*in.M+i, min(m, in.M-i))
		copyRows(t.Tiles.SA, in.SA, rowS, tile*m, src*in.M+i, min(m, in.M-i))
		copyRows(t.Tiles.B, in.B, rowB, tile*n, src*in.N+j, min(n, in.N-j))
		copyRows(t.Tiles.SB, in.SB, rowS, tile*n, src*in.N+j, min(n, in.N-j))
		t.eachRow(tile, in.Formats.C.Width(), func(small, large []int) {
			copy(t.Tiles.C[small[0]:small[1]], in.C[large[0]:large[1]])
		})
	}
	return t
}

// place returns the tile of in, and the row and column in it, where a tile of
// Tiles begins.
func (t *Tiling) place(tile int) (src, row, col int) {
	src, part := tile/(t.down*t.across), tile%(t.down*t.across)
	return src, part / t.across * t.Tiles.M, part % t.across * t.Tiles.N
}

// copyRows copies n rows of the given number of bytes.
func copyRows(dst, src []byte, bytes, to, from, n int) {
	copy(dst[to*bytes:], src[from*bytes:(from+n)*bytes])
}

// eachRow calls f for each row of outputs that a tile of Tiles and its tile of in have in
// common, with the row's place in either: first byte and end. width is the bytes of an
// output.
func (t *Tiling) eachRow(tile, width int, f func(small, large []int)) {
	src, i, j := t.place(tile)
	rows, cols := min(t.Tiles.M, t.in.M-i), min(t.Tiles.N, t.in.N-j)
	for r := range rows {
		small := (tile*t.Tiles.M + r) * t.Tiles.N * width
		large := ((src*t.in.M+i+r)*t.in.N + j) * width
		f([]int{small, small + cols*width}, []int{large, large + cols*width})
	}
}

// Collect copies the outputs of Tiles to their places among those of in.
func (t *Tiling) Collect(res, out []byte) {
	for tile := range t.Tiles.Tiles {
		t.eachRow(tile, t.in.Formats.D.Width(), func(small, large []int) {
			copy(out[large[0]:large[1]], res[small[0]:small[1]])
		})
	}
}
