package gemm

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// dequantized returns operands whose elements have been multiplied by their scales.
func dequantized(k *schedule.Kernel, o *Operands) (*Operands, error) {
	a, b, err := k.Dequantization()
	if err != nil {
		return nil, err
	}
	out := *o
	if out.A, err = times(a, o.A, o.ScaleA, k.ScaleA, o.M, o.K); err != nil {
		return nil, err
	}
	out.B, err = times(b, o.B, o.ScaleB, k.ScaleB, o.N, o.K)
	return &out, err
}

// times multiplies the elements of lines of a matrix by their scales.
func times(i *mma.Instruction, codes []byte, scales []uint64, b *schedule.Blocks, lines, depth int) ([]byte, error) {
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 1, Tiles: lines * depth})
	in.A = codes
	for n := range lines * depth {
		mma.Store(in.B, i.B.Width(), n, scales[b.Index(n/depth, n%depth, depth)])
		mma.Store(in.C, i.C.Width(), n, i.C.Get().SignBit())
	}
	out := make([]byte, lines*depth*i.D.Width())
	m.Run(in, out)
	return out, nil
}
