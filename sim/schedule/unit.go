package schedule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Raw is JSON that is kept as it is.
type Raw = json.RawMessage

// Resolve returns the instruction that a unit is.
func (u *Unit) Resolve() (*mma.Instruction, error) {
	i, err := u.instruction()
	if err != nil {
		return nil, fmt.Errorf("unit: %w", err)
	}
	return i, checkUnit(i)
}

func (u *Unit) instruction() (*mma.Instruction, error) {
	given := 0
	for _, is := range []bool{u.Instruction != "", len(u.Model) > 0, u.Op != "", u.Given != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, errors.New(`give one of "instruction", "model" and "op"`)
	}
	switch {
	case u.Op == "" && (u.In != 0 || u.Product != 0 || u.Acc != 0 || u.Sum != 0 || u.Start+u.Subnormals != "" || u.Casts()):
		return nil, errors.New(`"in", "cast_a", "cast_b", "product", "acc", "sum", "start" and "subnormals" belong to "op"`)
	case u.Given != nil:
		return u.Given, nil
	case u.Op != "":
		return u.operation()
	case u.Instruction != "":
		arch, name, ok := strings.Cut(u.Instruction, "/")
		if !ok {
			return nil, fmt.Errorf(`"instruction" is %q, not ARCH/NAME`, u.Instruction)
		}
		return mma.Lookup(arch, name)
	}
	return mma.ReadModel(u.Model)
}

// operation returns an IEEE 754 operation as an instruction of one product.
func (u *Unit) operation() (*mma.Instruction, error) {
	if u.Acc == fp.None {
		return nil, errors.New(`"op" needs "acc", the format of the accumulator`)
	}
	if err := cmp.Or(oneOf("start", u.Start, []string{"", "empty", "second"}), oneOf("subnormals", u.Subnormals, []string{"", "zero"})); err != nil {
		return nil, err
	}
	in := cmp.Or(u.In, u.Acc)
	i := &mma.Instruction{Arch: "ieee", Name: u.Op, K: 1, Formats: mma.Formats{A: in, B: in, C: u.Acc, D: u.Acc}, Params: mma.FMA(u.Acc)}
	switch u.Op {
	case "fma":
		if u.Product != fp.None {
			return nil, errors.New(`"product" belongs to "op": "mul-add"`)
		}
	case "mul-add":
		i.Params.Prod.Round = mma.To(cmp.Or(u.Product, u.Acc), fp.RNE)
	default:
		return nil, fmt.Errorf(`"op" is %q, not fma or mul-add`, u.Op)
	}
	if u.Sum != fp.None {
		i.Params.Acc, i.Params.Out = mma.To(u.Sum, fp.RNE), i.Params.Acc
	}
	if u.Subnormals == "zero" {
		flush(&i.Params)
	}
	if err := u.cast(i); err != nil {
		return nil, err
	}
	return i, i.Params.Validate(i.Formats, 1)
}

// flush makes zeros of subnormal operands and results.
func flush(p *mma.Params) {
	p.In.Sub, p.In.C = mma.FlushSign, mma.FlushSign
	if p.Acc.Flush = mma.FlushAfter; p.Out != (mma.Round{}) {
		p.Out.Flush = mma.FlushAfter
	}
	if p.Prod.Round != (mma.Round{}) {
		p.Prod.Round.Flush = mma.FlushAfter
	}
}

// checkUnit returns an error if an instruction cannot add the products of a schedule.
func checkUnit(i *mma.Instruction) error {
	switch {
	case i.Refuse != "":
		return fmt.Errorf("%s has no model: %s", i.FullName(), i.Refuse)
	case i.C != i.D:
		return fmt.Errorf("%s does not take its own results as C", i.FullName())
	}
	return nil
}

// converted returns the conversion of a sum of integers to a format of floating-point numbers, to nearest even. It
// is no program of package mma: interpreters know it by its formats.
func converted(x, d fp.ID) (*mma.Instruction, error) {
	i := &mma.Instruction{Arch: "ieee", Name: "convert", K: 1, Formats: mma.Formats{A: x, B: fp.One, C: d, D: d}}
	if x != fp.S32 || d != fp.FP32 && d != fp.FP64 {
		return i, fmt.Errorf("%s is not converted to %s: only s32 to fp32 or fp64 is", x, d)
	}
	return i, nil
}

// Arithmetic returns x*y + z in a format as an instruction of one product: every sum,
// multiplication and conversion of a kernel is one. NaNs have the code that like gives.
func Arithmetic(x, y, d fp.ID, r Rounding, like *mma.Instruction) (*mma.Instruction, error) {
	i := &mma.Instruction{Arch: "ieee", Name: "fma", K: 1, Formats: mma.Formats{A: x, B: y, C: d, D: d}, Params: mma.FMA(d)}
	if r := like.Params.Special.NaN; r == mma.NaNOnes || r == mma.NaNQuietNeg {
		i.Params.Special.NaN = r
	}
	if like.Arch == i.Arch && like.Params.Acc.Flush != mma.NoFlush || r.Subnormals == "zero" {
		flush(&i.Params)
	}
	switch r.Round {
	case "away":
		i.Params.Acc.Mode = fp.RNA
	case "zero":
		if i.Params.Acc.Mode = fp.RZ; i.Params.Acc.Over == mma.OverInf {
			i.Params.Acc.Over = mma.OverIEEE
		}
	}
	if r.Saturate {
		i.Params.Acc.Over = mma.OverSat
	}
	return i, i.Params.Validate(i.Formats, 1)
}
