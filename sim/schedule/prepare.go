package schedule

import (
	"cmp"
	"errors"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Preparation is what becomes of operands before a unit has them; the zero Preparation: nothing.
type Preparation struct {
	// Given is the formats of A and B as they are given, if they are multiplied by the scales of these blocks.
	Given          Quantized
	ScaleA, ScaleB Blocks
	// CastA and CastB round A and B to formats without infinities, or multiply them before, of which no program is;
	// their numbers, and a NaN, are what the unit then has.
	CastA, CastB Cast
}

// Preparation returns what becomes of operands before any unit of a valid kernel has them.
func (k *Kernel) Preparation() (p Preparation) {
	if k.Dequantize != nil {
		p.Given, p.ScaleA, p.ScaleB = *k.Dequantize, *k.ScaleA, *k.ScaleB
	}
	u := k.FirstUnit()
	if u != nil {
		p.CastA, p.CastB = u.before()
	}
	return p
}

// before returns the casts of a unit that are no part of its program.
func (u *Unit) before() (a, b Cast) {
	if u.CastA.before() {
		a = *u.CastA
	}
	if u.CastB.before() {
		b = *u.CastB
	}
	return a, b
}

// before reports whether a cast is to a format without infinities, or has a factor.
func (c *Cast) before() bool {
	if c == nil || c.Format == fp.None {
		return false
	}
	f := c.Format.Get()
	return c.Factor != 0 || !f.Integer() && f.HasNaN() && !f.HasInf() && f.Signed
}

// checkPreparation returns an error if operands cannot be prepared, or units need them prepared in different ways.
func (k *Kernel) checkPreparation() error {
	p := k.Preparation()
	if k.Dequantize != nil {
		if _, _, err := k.Dequantization(); err != nil {
			return err
		}
	}
	units := []*Unit{k.Unit}
	for i := range k.Schedules {
		units = append(units, k.Schedules[i].Unit)
		for n := range k.Schedules[i].Levels {
			if t := k.Schedules[i].Levels[n].Tail; t != nil {
				units = append(units, t.Unit)
			}
		}
	}
	for _, u := range units {
		if u == nil {
			continue
		}
		if a, b := u.before(); a != p.CastA || b != p.CastB {
			return errors.New("one unit multiplies operands, or casts them to a format without infinities, and another does not, or in another way")
		}
	}
	return nil
}

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
	unit, err := k.FirstUnit().Resolve()
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

// Steps returns the instructions of x*y + z by which a cast of a Preparation is done, all with z = -0: one with y = Factor
// if there is a Factor, one that rounds to its format, with y = 1, and one that takes the result back.
func (c *Cast) Steps(operand fp.ID) (all []*mma.Instruction, err error) {
	plain := &mma.Instruction{}
	add := func(from, y, to fp.ID, r Rounding) {
		i, e := Arithmetic(from, y, to, r, plain)
		all, err = append(all, i), cmp.Or(err, e)
	}
	from := operand
	if c.Factor != 0 {
		add(operand, fp.FP32, fp.FP32, Rounding{})
		from = fp.FP32
	}
	add(from, from, c.Format, Rounding{Saturate: c.Saturate, Round: c.Round})
	add(c.Format, c.Format, operand, Rounding{})
	return all, err
}
