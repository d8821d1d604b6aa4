package schedule

import (
	"cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Operands returns a unit as one that takes A and B as they are given.
func (k *Kernel) Operands(unit *mma.Instruction) *mma.Instruction {
	if k.Dequantize == nil {
		return unit
	}
	given := *unit
	given.A, given.B = k.Dequantize.A, k.Dequantize.B
	return &given
}

// Dequantization returns the instructions that multiply an element of A, and one of B, by its scale. Subnormal
// numbers and NaNs are those of the first schedule's unit.
func (k *Kernel) Dequantization() (a, b *mma.Instruction, err error) {
	unit, err := cmp.Or(k.Schedules[0].Unit, k.Unit).Resolve()
	if err != nil {
		return nil, nil, err
	}
	of := func(from, to fp.ID) *mma.Instruction {
		i, e := Arithmetic(from, Side(unit.D), to, Rounding{}, unit)
		if err == nil {
			err = e
		}
		return i
	}
	return of(k.Dequantize.A, unit.A), of(k.Dequantize.B, unit.B), err
}
