package kernel

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Side is what multiplies matrices: a kernel or a black box.
type Side struct {
	Name    string
	Unit    *mma.Instruction // whose operands it takes
	Kernel  *schedule.Kernel // nil: a black box
	Options gemm.Options
	// Modelled: it is a kernel, all of whose units are models.
	Modelled bool
	Box      map[int]devices.Unit // by K: units without C whose dot products are whole elements
}

// Multiply returns D and its format.
func (s *Side) Multiply(ctx context.Context, o *gemm.Operands) ([]byte, fp.ID, error) {
	if s.Kernel != nil {
		return gemm.Multiply(ctx, s.Kernel, o, s.Options)
	}
	u := s.Box[o.K]
	if u == nil {
		return nil, 0, fmt.Errorf("%s has no product of K = %d", s.Name, o.K)
	}
	f := u.Instruction().Formats
	in := &mma.Batch{Formats: f, Shape: mma.Shape{M: o.M, N: o.N, K: o.K, Tiles: 1}, A: o.A, B: o.B, C: o.C, SA: o.SA, SB: o.SB}
	if o.SA == nil && f.Scale != fp.None {
		in.SA, in.SB = boxScales(o.ScaleA, s.Unit), boxScales(o.ScaleB, s.Unit)
	}
	d := make([]byte, o.M*o.N*f.D.Width())
	return d, f.D, u.Run(ctx, in, d)
}
