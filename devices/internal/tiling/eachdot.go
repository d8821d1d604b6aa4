package tiling

import (
	"context"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var dots = sync.Pool{New: func() any { return new(mma.Dot) }}

// EachDot computes a batch one dot product after the other: dot returns the code of
// D. It must not keep d, which is filled anew for every call. The only error is that of a
// context that has ended.
func EachDot(ctx context.Context, in *mma.Batch, out []byte, dot func(d *mma.Dot) uint64) error {
	d := dots.Get().(*mma.Dot)
	defer dots.Put(d)
	if len(d.A) != in.K || len(d.SA) != in.Blocks(in.K) {
		*d = *mma.NewDot(in.Formats, in.K)
	}
	d.C = 0
	width := in.D.Width()
	for i := range in.Dots() {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		in.Get(i, d)
		mma.Store(out, width, i, dot(d))
	}
	return nil
}
