package kernel

import (
	"context"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// boxSide is the most rows, and columns, of what black boxes multiply for Schedules: every element may
// take a child process a while.
const boxSide = 16

// Schedules finds the schedules of two units without C, whose dot products are elements of a product of
// matrices, where the two differ: kernels of a single schedule that have the bits of A and of B on so many
// new elements. nil: none were found.
func Schedules(ctx context.Context, units [2]devices.Unit, z Fuzz) (kernels *[2]*schedule.Kernel, checked int, err error) {
	for i, side := range []**Side{&z.A, &z.B} {
		u := small{units[i], *units[i].Instruction()}
		for _, r := range []*mma.Range{&u.inst.M, &u.inst.N} {
			if *r == (mma.Range{}) {
				*r = mma.Range{Min: 1, Max: boxSide}
			}
		}
		*side = &Side{Name: u.inst.Name, Unit: &u.inst, Box: map[int]devices.Unit{u.inst.K: &u}}
	}
	found, _, err := z.compare(ctx)
	if err != nil || found.Sides == nil {
		return nil, 0, err
	}
	if kernels = &found.Sides.kernels; places(kernels[0]) || places(kernels[1]) {
		return nil, 0, nil
	}
	return kernels, found.Sides.Checked, nil
}

// small is a unit that is asked for small matrices.
type small struct {
	devices.Unit
	inst mma.Instruction
}

func (u *small) Instruction() *mma.Instruction { return &u.inst }

// LabelOf is the parts of the schedules in which two kernels differ.
func LabelOf(a, b *schedule.Kernel) string {
	near := likewise([2]*schedule.Kernel{a, b}, math.MaxInt)
	s := Sides{Fields: fieldsOf(near[0], near[1]), kernels: near}
	return s.Label()
}

// LabelWords is LabelOf with what its parts are.
func LabelWords(a, b *schedule.Kernel) string {
	parts := strings.Split(LabelOf(a, b), "+")
	for i, label := range parts {
		parts[i] += labelOf(label)
	}
	return strings.Join(parts, "; ")
}
