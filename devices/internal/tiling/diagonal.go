package tiling

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Diagonal packs a batch of tiles of one dot product into tiles of n rows and
// columns: each holds n of them on its diagonal. The other outputs, with C = 0 and the A
// and B of different dot products, are ignored.
type Diagonal struct {
	// Tiles is the batch to run.
	Tiles *mma.Batch
	n     int
	dots  int
}

// Pack packs a batch, which must have M = N = 1.
func Pack(in *mma.Batch, n int) *Diagonal {
	d := &Diagonal{n: n, dots: in.Tiles}
	d.Tiles = mma.NewBatch(in.Formats, mma.Shape{M: n, N: n, K: in.K, Tiles: (in.Tiles + n - 1) / n})
	// In the batch every dot product has a row and a column of its own, in the same order.
	copy(d.Tiles.A, in.A)
	copy(d.Tiles.B, in.B)
	copy(d.Tiles.SA, in.SA)
	copy(d.Tiles.SB, in.SB)
	w := in.Formats.C.Width()
	for i := range d.dots {
		copy(d.Tiles.C[d.at(i)*w:][:w], in.C[i*w:])
	}
	return d
}

// at returns the place of a dot product among the outputs of Tiles.
func (d *Diagonal) at(i int) int { return i/d.n*d.n*d.n + i%d.n*(d.n+1) }

// Collect copies the outputs of Tiles to their places among those of the batch.
func (d *Diagonal) Collect(res, out []byte) {
	w := d.Tiles.D.Width()
	for i := range d.dots {
		copy(out[i*w:][:w], res[d.at(i)*w:])
	}
}
