package schedule

import (
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Cast is how an operand is rounded to a narrower format, or multiplied by a number of the code's own and rounded,
// before it is multiplied.
type Cast struct {
	// Format is one with infinities, or one without, such as E4M3, in which what is too large, and an infinity,
	// is a NaN.
	Format fp.ID `json:"format"`
	// Round is "" to nearest even; to nearest "away" from zero where two are as near; to "zero"; or
	// "drop", by which bits are dropped of all codes: a NaN that has no other bits becomes an
	// infinity. drop needs a format with the exponents of the operand, such as BF16 of FP32.
	Round string `json:"round,omitempty"`
	// Saturate: what is too large, and an infinity, becomes the largest number.
	Saturate bool `json:"saturate,omitempty"`
	// Factor multiplies the operand before, rounded to FP32. Format may then be that of the operand.
	Factor float64 `json:"factor,omitempty"`
}

// Casts reports whether a unit casts operands.
func (u *Unit) Casts() bool { return u.CastA != nil || u.CastB != nil }

// cast makes an operation cast its operands.
func (u *Unit) cast(i *mma.Instruction) (err error) {
	if i.Params.In.A, err = u.CastA.narrow(i.A.Get()); err != nil {
		return fmt.Errorf("cast_a: %w", err)
	}
	if i.Params.In.B, err = u.CastB.narrow(i.B.Get()); err != nil {
		return fmt.Errorf("cast_b: %w", err)
	}
	return nil
}

// narrow returns a cast of operands of a format as a part of a program.
func (c *Cast) narrow(in *fp.Format) (n mma.Narrow, err error) {
	if c == nil {
		return n, nil
	}
	if c.Format == fp.None {
		return n, errors.New(`there is no "format"`)
	}
	to := c.Format.Get()
	if c.Factor != 0 && to == in && !in.Integer() {
		return n, oneOf("round", c.Round, []string{"", "away", "zero"})
	}
	if c.before() && in.Specials == fp.IEEE && !in.Integer() {
		if to.FracBits >= in.FracBits || to.Emax() > in.Emax() || to.Emin() < in.Emin() {
			return n, fmt.Errorf("%s is not narrower than %s", to.Name, in.Name)
		}
		return n, oneOf("round", c.Round, []string{"", "away", "zero"})
	}
	switch {
	case in.Specials != fp.IEEE || to.Specials != fp.IEEE || in.Integer() || to.Integer():
		return n, fmt.Errorf("of %s to %s: only a cast of a format with infinities to one with a NaN can be described", in.Name, to.Name)
	case to.FracBits >= in.FracBits || to.Emax() > in.Emax() || to.Emin() < in.Emin():
		return n, fmt.Errorf("%s is not narrower than %s", to.Name, in.Name)
	}
	n.Frac = mma.Frac(to.FracBits)
	sameRange := to.Emax() == in.Emax() && to.Emin() == in.Emin()
	if !sameRange {
		n.To = c.Format
	}
	if c.Saturate {
		n.Over = mma.OverSat
	}
	switch c.Round {
	case "":
		n.Mode = fp.RNE
	case "away":
		n.Mode = fp.RNA
	case "zero":
		n.Mode = fp.RZ
		if n.Over == mma.OverInf {
			n.Over = mma.OverIEEE
		}
	case "drop":
		if !sameRange || c.Saturate {
			return n, errors.New(`"drop" needs a format with the exponents of the operand, and does not saturate`)
		}
	default:
		return n, oneOf("round", c.Round, []string{"", "away", "zero", "drop"})
	}
	return n, nil
}
