package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unchecked are what may become of the exponent field of a sum that is beyond those of numbers, where
// nobody looks at it: it keeps its low bits.
var unchecked = map[string]*struct {
	text  string
	meets func(f *fp.Format, exp int32) bool
}{
	"wraps-over":  {"the exponent field of %s wraps around where it overflows", func(f *fp.Format, exp int32) bool { return exp > f.Emax() }},
	"wraps-under": {"the exponent field of %s wraps around where it underflows", func(f *fp.Format, exp int32) bool { return exp < f.Emin() }},
}

// wrap makes change one that does so to sums of some numbers; some becomes true where it does.
func (r *runner) wrap(change *sim.Change, numbers []int, some *bool) {
	var x fp.Dyadic
	var mode fp.Mode
	f, field := r.f.D.Get(), unchecked[r.effect.Do]
	change.Sum = func(_ int, v fp.Dyadic, _ int32) fp.Dyadic { x = v; return v }
	change.Round = func(_ int, round *mma.Round) *mma.Round { mode = round.Mode; return round }
	change.Result = func(sum int, code uint64) uint64 {
		if x.IsZero() || mode == 0 || !slices.Contains(numbers, sum) {
			return code
		}
		got, exp := wrapped(f, x, mode)
		x = fp.Dyadic{}
		if !field.meets(f, exp) {
			return code
		}
		*some = true
		return got
	}
}

// wrapped is the code of a number whose exponent field has too few bits, and its exponent once it is rounded.
func wrapped(f *fp.Format, x fp.Dyadic, mode fp.Mode) (uint64, int32) {
	exp := x.Exponent()
	x.Q -= exp
	one := f.FromFloat64(1)
	code := f.Encode(x, mode, fp.OverInf)
	unit := uint64(1) << (f.FracBits + f.Low)
	carry := code&^f.SignBit()/unit - one/unit
	field := (uint64(int64(code&^f.SignBit()/unit) + int64(exp))) * unit & f.CodeMask() &^ f.SignBit()
	return code&f.SignBit() | field | code&(unit-1), exp + int32(carry)
}
