package oracle

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Flags returns the exceptions of IEEE 754 section 7 that the operations of a program raise on one
// dot product: each of its roundings may be inexact, overflow or underflow, and operands and sums
// may be invalid. f.D is the format of the flags (fp.ID.WithFlags), and p is valid for f: no standard
// says which exceptions a unit has to raise that aligns or flushes.
func Flags(p *mma.Params, f mma.Formats, d *mma.Dot) fp.Flags {
	rule := f.D.Flags()
	f.D = f.D.Result()
	x := NewEvaluator(p, f, len(d.A))
	x.e.rule = rule
	signals := f.C != fp.None && decode(f.C, d.C).signals
	for i := range d.A {
		signals = signals || decode(f.A, d.A[i]).signals || decode(f.B, d.B[i]).signals
	}
	if signals {
		x.e.raised |= fp.FlagInvalid
	}
	x.Eval(d)
	return x.e.raised
}

// roundWithFlags is round, and raises what this rounding of t raises.
func (e *evaluator) roundWithFlags(t *term, r *mma.Round) {
	exact := *t
	e.roundTo(t, r, r.Short(e.f.D))
	switch {
	case exact.kind == NotANumber && exact.invalid:
		e.raised |= fp.FlagInvalid
	case exact.kind != Finite || exact.isZero() || r.Frac == 0:
	default:
		e.raised |= lossOf(exact, *t, r, e.rule.TinyBefore())
	}
}

// lossOf returns the exceptions of rounding a number to a format.
func lossOf(exact, rounded term, r *mma.Round, tinyBefore bool) fp.Flags {
	unbounded := exact // rounded as if exponents had no ends
	unbounded.toMultiple(exact.log2()-int(r.Frac), r.Mode)
	tiny := unbounded
	if tinyBefore {
		tiny = exact
	}
	switch {
	case unbounded.log2() > int(r.Emax):
		return fp.FlagOverflow | fp.FlagInexact
	case sameNumber(exact, rounded):
		return 0
	case tiny.below(int(r.Emin)):
		return fp.FlagUnderflow | fp.FlagInexact
	}
	return fp.FlagInexact
}
