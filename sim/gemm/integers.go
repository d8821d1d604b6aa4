package gemm

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// integers converts sums of integers to FP32 or FP64: no program of package mma does.
type integers struct{}

func (integers) Run(_ context.Context, in *mma.Batch, out []byte) error {
	from, to := in.Formats.A, in.Formats.D
	x, y := from.Get(), to.Get()
	for i := range len(out) / to.Width() {
		mma.Store(out, to.Width(), i, y.FromFloat64(x.Float64(mma.Load(in.A, from.Width(), i))))
	}
	return nil
}
