package kernel

import (
	"context"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// boxSide is the rows, and columns, of what black boxes multiply for Schedules: enough for an inference, and
// not many, since every element may take a child process a while.
const boxSide = 16

// Schedules finds the schedules of two units whose dot products are elements of a product of
// matrices, where the two differ: kernels of a single schedule. nil: none were found.
func Schedules(ctx context.Context, units [2]devices.Unit, z Fuzz) (*triage.Sums, error) {
	for i, side := range []**Side{&z.A, &z.B} {
		u := small{units[i], *units[i].Instruction()}
		for _, r := range []*mma.Range{&u.inst.M, &u.inst.N} {
			if !r.Contains(boxSide) || *r == (mma.Range{}) { // units take any number
				*r = mma.Range{Min: boxSide, Max: boxSide}
			}
		}
		*side = &Side{Name: u.inst.Name, Unit: &u.inst, Box: map[int]devices.Unit{u.inst.K: &u}}
	}
	z.C = z.A.Unit.C != fp.None
	found, _, err := z.compare(ctx)
	if err != nil || found.Sides == nil || places(found.Sides.kernels[0]) || places(found.Sides.kernels[1]) {
		return nil, err
	}
	return &triage.Sums{Kernels: found.Sides.kernels, Label: found.Sides.Label(), Checked: found.Sides.Checked}, nil
}

// small is a unit that is asked for small matrices.
type small struct {
	devices.Unit
	inst mma.Instruction
}

func (u *small) Instruction() *mma.Instruction { return &u.inst }

// LabelWords is labels of schedules with what they are.
func LabelWords(labels string) string {
	parts := strings.Split(labels, "+")
	for i, label := range parts {
		parts[i] += labelOf(label)
	}
	return strings.Join(parts, "; ")
}
