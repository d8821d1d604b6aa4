package tiling

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Single turns a batch into one with the same dot products, each a tile of its own, in the
// same order: both have the same D. They share the buffer of C.
func Single(in *mma.Batch) *mma.Batch {
	out := mma.NewBatch(in.Formats, mma.Shape{M: 1, N: 1, K: in.K, Tiles: in.Dots()})
	out.C = in.C
	rowS := in.Blocks(in.K) * in.Scale.Width()
	for _, o := range []struct {
		dst, src []byte
		bytes    int // of a row
		down     bool
	}{
		{out.A, in.A, in.K * in.Formats.A.Width(), true}, {out.SA, in.SA, rowS, true},
		{out.B, in.B, in.K * in.Formats.B.Width(), false}, {out.SB, in.SB, rowS, false},
	} {
		dst := o.dst
		for i := range in.Dots() {
			tile, at := i/(in.M*in.N), i%(in.M*in.N)
			row := tile*in.N + at%in.N
			if o.down {
				row = tile*in.M + at/in.N
			}
			dst = dst[copy(dst, o.src[row*o.bytes:(row+1)*o.bytes]):]
		}
	}
	return out
}
