package gemm

import (
	"context"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// dequantized returns operands whose elements have been multiplied by their scales.
func dequantized(ctx context.Context, k *schedule.Kernel, o *Operands) (*Operands, error) {
	a, b, err := k.Dequantization()
	if err != nil {
		return nil, err
	}
	out := *o
	if out.A, err = times(ctx, a, o.A, o.ScaleA, k.ScaleA, o.M, o.K); err != nil {
		return nil, err
	}
	out.B, err = times(ctx, b, o.B, o.ScaleB, k.ScaleB, o.N, o.K)
	return &out, err
}

// times multiplies the elements of lines of a matrix by their scales.
func times(ctx context.Context, i *mma.Instruction, codes []byte, scales []uint64, b *schedule.Blocks, lines, depth int) ([]byte, error) {
	out := make([]byte, lines*depth*i.D.Width())
	if a := i.Params.Acc; i.A.Width() == 1 && i.B == fp.FP32 && i.D == fp.FP32 && a.Flush == mma.NoFlush { // FP64 has all products
		values := make([]float64, 256)
		for code := range values {
			values[code] = i.A.Get().Float64(uint64(code))
		}
		for n, code := range codes {
			v := float32(values[code] * float64(math.Float32frombits(uint32(scales[b.Index(n/depth, n%depth, depth)]))))
			bits := uint64(math.Float32bits(v))
			if v != v {
				bits = nanCode(i)
			}
			mma.Store(out, 4, n, bits)
		}
		return out, nil
	}
	unit, err := newUnits(nil).of(i)
	if err != nil {
		return nil, err
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 1, Tiles: lines * depth})
	in.A = codes
	for n := range lines * depth {
		mma.Store(in.B, i.B.Width(), n, scales[b.Index(n/depth, n%depth, depth)])
		mma.Store(in.C, i.C.Width(), n, i.C.Get().SignBit())
	}
	return out, unit.Run(ctx, in, out)
}
