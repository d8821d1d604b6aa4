package devices

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Func returns the unit that computes an instruction with a Go function: your own
// implementation, to be compared with a model or with any other unit.
//
// dot gets one dot product of the instruction's formats, with K elements, and
// returns the code of D. Operands are codes too: i.A.Get() is the format of A, and its
// Float64 converts a code; math.Float32bits makes the code of an FP32 result. dot
// must give the same result for the same operands, must not keep or change d, and is
// called by several goroutines at once. Where more than K elements are asked for, it
// is called repeatedly with C = the previous D. A result with more bits than D has is an
// error of Run.
//
// Of the instruction, Name, Formats and K are needed. The unit is a black box:
// Params, if there are any, are what a campaign first believes about it. Without, the codes of
// its NaNs count as unknown: they are compared by class, unless bits are asked for.
func Func(i *mma.Instruction, dot func(d *mma.Dot) uint64) Unit {
	if i.Params == (mma.Params{}) {
		unknown := *i
		unknown.Unknown |= mma.FacetNaN
		i = &unknown
	}
	return &funcUnit{i, dot}
}

type funcUnit struct {
	inst *mma.Instruction
	dot  func(*mma.Dot) uint64
}

func (u *funcUnit) Instruction() *mma.Instruction { return u.inst }
func (u *funcUnit) Model() *mma.Params            { return nil }

func (u *funcUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	var wide error
	mask := u.inst.D.Get().CodeMask()
	dot := func(d *mma.Dot) uint64 {
		code := u.dot(d)
		if code > mask && wide == nil {
			wide = fmt.Errorf("the function of %s returns %x for %s: a result has format %s, whose codes have %d bits",
				u.inst.Name, code, mma.FormatDot(u.inst.Formats, d), u.inst.D, u.inst.D.Get().CodeBits())
		}
		return code
	}
	return tiling.Repeat(u.inst, in, out, func(in *mma.Batch, out []byte) error {
		return cmp.Or(tiling.EachDot(ctx, in, out, dot), wide)
	})
}
