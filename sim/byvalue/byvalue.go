// Package byvalue compares instructions for FP8 of OCP with those for AMD's FNUZ formats, which
// give other meanings to the same bits: mma.Formats with Common have the codes of OCP, and only
// those whose values both formats have.
//
// The API of this package is not promised: it may change in any version.
package byvalue

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// notes say what only one of the formats has, by the format of OCP.
var notes = map[fp.ID]string{
	fp.E4M3: "only e4m3 has 256 to 448, -0 and the NaNs 7f and ff; only e4m3fnuz has odd multiples of 2^-10 and the NaN 80",
	fp.E5M2: "only e5m2 has infinities, -0 and the NaNs 7d to 7f and fd to ff; only e5m2fnuz has odd multiples of 2^-17 and the NaN 80",
}

// Formats returns the mma.Formats by which operands in a format of OCP and in the FNUZ format of the
// same fields are compared by value. Not ok: the formats differ in something else.
func Formats(f, g mma.Formats) (mma.Formats, bool) {
	if f.A.FNUZ() != g.A {
		f, g = g, f
	}
	common := f
	common.Common = true
	if f.A.FNUZ() != g.A || f.B.FNUZ() != g.B || common.Validate() != nil {
		return mma.Formats{}, false
	}
	f.A, f.B = g.A, g.B
	return common, f == g
}

// Note says what the formats that are compared by value do not have in common.
func Note(f mma.Formats) string {
	formats, only := fmt.Sprintf("%s and %s", f.A, f.A.FNUZ()), notes[f.A]
	if f.B != f.A {
		formats, only = fmt.Sprintf("%s, and %s and %s,", formats, f.B, f.B.FNUZ()), only+"; "+notes[f.B]
	}
	return formats + " mean different numbers by the same bits: inputs are numbers that both have, and are compared by value; " + only
}

// Instruction returns an instruction as one of mma.Formats with Common: one for FNUZ operands reads those of
// OCP, with the exponents that they have in its own format.
func Instruction(i *mma.Instruction) (*mma.Instruction, error) {
	j := *i
	j.Formats.Common = true
	for ocp := range notes {
		if i.A == ocp.FNUZ() {
			j.A, j.Params.In.Widen = ocp, i.A
			if i.Params.In.Widen != fp.None {
				return nil, fmt.Errorf("%s widens its operands: it has no other ones", i.FullName())
			}
		}
		if i.B == ocp.FNUZ() {
			j.B = ocp
		}
	}
	j.Unknown |= mma.FacetNaN | mma.FacetZero
	return &j, j.Formats.Validate()
}

// shared returns a code of OCP if the FNUZ format has its value too, and else one beside it whose
// value both have.
func shared(id fp.ID, code uint64) uint64 {
	f, most := id.Get(), id.FNUZ().Get().MaxFinite()
	limit := most - uint64(id.FNUZ().Get().Bias-f.Bias)<<f.FracBits // the same value in OCP's codes
	mag := code &^ f.SignBit()
	if mag > limit {
		code &^= 1 << f.FracBits
	}
	if mag == 0 {
		return 0
	}
	return code
}

// Share makes the operands of a batch's tiles shared ones, from a tile on.
func Share(b *mma.Batch, tile int) {
	if !b.Common {
		return
	}
	for _, x := range []struct {
		codes []byte
		id    fp.ID
		from  int
	}{{b.A, b.Formats.A, tile * b.M * b.K}, {b.B, b.Formats.B, tile * b.N * b.K}} {
		for n, code := range x.codes[x.from:] {
			x.codes[x.from+n] = byte(shared(x.id, uint64(code)))
		}
	}
}

// IsShared reports whether a dot product has operands that formats allow.
func IsShared(f mma.Formats, d *mma.Dot) bool {
	if !f.Common {
		return true
	}
	for n := range d.A {
		if shared(f.A, d.A[n]) != d.A[n] || shared(f.B, d.B[n]) != d.B[n] {
			return false
		}
	}
	return true
}

// ToFNUZ returns the code of the FNUZ format with the value of a code of OCP, or of the shared one
// beside it.
func ToFNUZ(id fp.ID, code uint64) uint64 {
	return id.FNUZ().Get().FromFloat64(id.Get().Float64(shared(id, code)))
}
