package mma

import (
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// The types in this file refine the stages of a program: they describe where multipliers
// and adders deviate from exact multiplication and integer addition. The zero value is
// what almost all known units do.

// Narrow rounds finite operands to fewer fraction bits: FP32 to the 10 of TF32, or the
// significand to the bits that a multiplier takes. With e = max(floor(log2|x|), emin of
// the format) the result is a multiple of 2^(e-Frac). One that is beyond the format's
// largest exponent overflows.
//
// Without a Mode, all but the top Frac bits of the format's fraction are read as zero,
// in NaNs too: a NaN that is left with a zero fraction becomes an infinity.
type Narrow struct {
	Frac Frac    `json:"frac,omitzero"` // 0: all bits
	Mode fp.Mode `json:"mode,omitzero"`
	// To is a format that gives the range of the results: its emin and its largest
	// exponent. Over is what becomes of a number beyond the range; OverSat needs no Mode
	// where all bits are kept.
	To   fp.ID `json:"to,omitzero"`
	Over Over  `json:"over,omitzero"`
}

var narrowRows = []Row{
	{key: "narrow.frac", Words: "fraction bits of %s that are multiplied", Brief: "fraction bits of %s", Refined: 1, Encoded: anyValue, most: MaxFrac, span: operandSpan},
	{key: "in.narrowc.frac", Words: "fraction bits of %s that are added", Brief: "fraction bits of %s", Refined: 1, Encoded: anyValue, most: MaxFrac, span: operandSpan},
	{key: "narrow.mode", Words: "how %s is rounded to these", Brief: "rounding of %s", Refined: 1, Encoded: int(fp.RTO)},
	{key: "narrow.to", Words: "format within whose range %s is", Brief: "range of %s", Refined: 1, Encoded: anyValue},
	{key: "in.a.over", Label: "overflow", Words: "what becomes of an %s that is too large", Brief: "overflow of %s", Refined: 1, Encoded: int(OverSat)},
	{key: "narrow.over", Label: "overflow", Words: "what becomes of a %s that is too large", Brief: "overflow of %s", Refined: 1, Encoded: int(OverSat)},
}

// Unread returns the bits of a code that a Narrow without a Mode takes away.
func (n Narrow) Unread(f *fp.Format) uint64 {
	if n.Frac == 0 || n.Mode != 0 {
		return 0
	}
	return (1<<(f.FracBits-uint8(n.Frac)) - 1) << f.Low
}

// Rounding returns what a Narrow does to numbers and infinities of a format: a rounding
// to Frac bits, and the exponent emin of the type's documentation. Frac is 0 if it does
// nothing.
func (n Narrow) Rounding(f *fp.Format) (r Round, emin int32) {
	if n.Mode == 0 && n.Over == OverInf {
		return Round{}, 0
	}
	r, emin = Round{Frac: n.Frac, Mode: max(n.Mode, fp.RNE), Emax: Exp(f.Emax()), Over: n.Over}, f.Emin()
	if r.Frac == 0 {
		r.Frac = Frac(f.FracBits)
	}
	if n.To != fp.None {
		r.Emax, emin = min(r.Emax, Exp(n.To.Get().Emax())), max(emin, n.To.Get().Emin())
	}
	return r, emin
}

// check checks a Narrow of operands of format f, which Input.Widen converts to w: with a
// Mode, or without Frac, it applies to w.
func (n Narrow) check(f, w *fp.Format) error {
	if n.Mode != 0 || n.Frac == 0 {
		f = w
	}
	if n.To != fp.None {
		if t := n.To.Get(); t.Specials != fp.IEEE || t.Emin() < f.Emin() || t.Emax() > f.Emax() {
			return fmt.Errorf("to: the range of %s is not within that of %s", t.Name, f.Name)
		}
	}
	switch {
	case n.Mode == 0 && n.To != fp.None:
		return errors.New("to is set but mode is not")
	case n.Mode == 0 && n.Over != OverInf && (n.Over != OverSat || n.Frac != 0):
		return errors.New("over is set but mode is not")
	case n.Over == OverWrap || n.Over != OverInf && f.Specials != fp.IEEE:
		return fmt.Errorf("over: %s has no infinity", f.Name)
	case n.Frac == 0 && n.Mode != 0 && n.To == fp.None:
		return errors.New("mode is set but frac is not")
	case n.Frac != 0 && uint8(n.Frac) >= f.FracBits:
		return fmt.Errorf("frac = %d is not below the %d bits of %s", n.Frac, f.FracBits, f.Name)
	}
	return nil
}

// Gate describes what a zero operand does to an infinity or a NaN that it is multiplied
// by. A product that is gated counts as a zero of its sign.
type Gate = Enum[gateNames]

// The gates.
const (
	GateOff         Gate = iota // 0*Inf and 0*NaN are NaN
	GateInf                     // 0*Inf is a zero
	GateAll                     // 0*Inf and 0*NaN are zeros: nothing is multiplied
	GateSkip                    // nothing is added either: every product with a zero factor is -0
	GateSkipNumbers             // GateSkip, but 0*Inf and 0*NaN are NaN
)

// Sticky describes what becomes of the bits that an alignment cuts off: one bit, set if
// any term has lost a bit that is not zero. The sticky bit raises the magnitude of the sum
// or, where Align.Mode is RD, its value, as in two's complement. A sum that is zero stays
// zero, except with StickyBelow and StickyLast where Align.Mode is RD. Terms and
// accumulator may be cut at different places: the grid of the sum is then the finer of the
// two.
type Sticky = Enum[stickyNames]

// The sticky bits.
const (
	StickyOff   Sticky = iota
	StickyRound        // seen only by the next rounding, below every bit that it can keep
	StickyBelow        // a bit below the last one of the grid
	StickyLast         // ORed into the last bit of the grid
)

// Negate describes how an adder negates terms. Omitting the +1 of two's-complement
// negation makes a term's magnitude one unit of the grid larger. An accumulator that is
// dropped is not negated.
type Negate = Enum[negateNames]

// The negations.
const (
	NegateExact        Negate = iota
	NegateFlip                // the bits of negative terms are flipped, without adding 1
	NegateFrame               // the same, but of terms whose sign differs from the accumulator's or, in a sum without one, from the first term's (RDNA3)
	NegateFlipNumbers         // NegateFlip, but not of null terms
	NegateFrameNumbers        // NegateFrame, but not of null terms
)

// NegatesRelative reports whether terms are negated if their sign differs from that of the
// accumulator or the first term, and not if they are negative.
func (a *Align) NegatesRelative() bool {
	return a.Negate == NegateFrame || a.Negate == NegateFrameNumbers
}

// NegatesNull reports whether null terms are negated like others.
func (a *Align) NegatesNull() bool { return a.Negate < NegateFlipNumbers }

// Refined reports whether a program has a value that its row says makes it refined: conclusions
// that know only the terms and sums that almost all known units have do not hold for it.
func (p *Params) Refined() bool {
	all := Fields()
	for i := range all {
		if f, v := &all[i], all[i].int(p); v != 0 && f.Refined != 0 && (v >= f.Refined || v < 0) {
			return true
		}
	}
	return false
}
