package kernel

import (
	"context"
	"fmt"
	"maps"
	"slices"

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
	in := &mma.Batch{Formats: f, Shape: mma.Shape{M: o.M, N: o.N, K: o.K, Tiles: 1}, A: o.A, B: o.B}
	d := make([]byte, o.M*o.N*f.D.Width())
	return d, f.D, u.Run(ctx, in, d)
}

// shapeRange is the shapes that are drawn for two sides.
type shapeRange struct {
	Ks    []int // nil: any
	M, N  []mma.Range
	Block int // K is a multiple of it
}

// shapesOf returns the shapes that both sides take.
func shapesOf(sides ...*Side) (*shapeRange, error) {
	s := &shapeRange{}
	for _, side := range sides {
		if side.Kernel != nil {
			continue
		}
		ks := slices.Sorted(maps.Keys(side.Box))
		if s.Ks != nil {
			ks = slices.DeleteFunc(ks, func(k int) bool { return !slices.Contains(s.Ks, k) })
		}
		if s.Ks = ks; len(ks) == 0 {
			return nil, fmt.Errorf("the sides have no K in common")
		}
		for _, u := range side.Box {
			s.M, s.N = append(s.M, u.Instruction().M), append(s.N, u.Instruction().N)
		}
	}
	return s, nil
}

// takes reports whether both sides take a number of rows or columns.
func takes(ranges []mma.Range, n int) bool {
	return !slices.ContainsFunc(ranges, func(r mma.Range) bool { return r != mma.Range{} && !r.Contains(n) })
}
