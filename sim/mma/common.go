package mma

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Instructions for FP8 of OCP and for AMD's FNUZ formats give other meanings to the same bits.
// They are compared by value: Formats with Common have the codes of OCP, and only those whose
// values both formats have.

// fnuz maps a format of OCP to the FNUZ format of the same fields.
var fnuz = map[fp.ID]fp.ID{fp.E4M3: fp.E4M3FNUZ, fp.E5M2: fp.E5M2FNUZ}

// commonNotes say what only one of the formats has, by the format of OCP.
var commonNotes = map[fp.ID]string{
	fp.E4M3: "only e4m3 has 256 to 448, -0 and the NaNs 7f and ff; only e4m3fnuz has odd multiples of 2^-10 and the NaN 80",
	fp.E5M2: "only e5m2 has infinities, -0 and the NaNs 7d to 7f and fd to ff; only e5m2fnuz has odd multiples of 2^-17 and the NaN 80",
}

// CommonOf returns the Formats by which operands in a format of OCP and in the FNUZ format of the
// same fields are compared by value. Not ok: the formats differ in something else. A and B have to
// have the same format, because one conversion stands for both.
func CommonOf(f, g Formats) (Formats, bool) {
	if fnuz[f.A] != g.A {
		f, g = g, f
	}
	common := f
	common.Common = true
	if f.A != f.B || fnuz[f.A] != g.A || fnuz[f.B] != g.B || common.checkCommon() != nil {
		return Formats{}, false
	}
	f.A, f.B = g.A, g.B
	return common, f == g
}

// checkCommon returns an error if operands cannot be compared by value.
func (f *Formats) checkCommon() error {
	if f.Common && (f.A != f.B || fnuz[f.A] == fp.None || fnuz[f.C] != fp.None || fnuz[f.D] != fp.None) {
		return fmt.Errorf("%s and %s have no FNUZ formats to be compared with by value", f.A, f.B)
	}
	return nil
}

// CommonNote says what the formats that are compared by value do not have in common.
func (f Formats) CommonNote() string {
	return fmt.Sprintf("%s and %s mean different numbers by the same bits: inputs are numbers that both have, and are compared by value; %s", f.A, fnuz[f.A], commonNotes[f.A])
}

// ByValue returns an instruction as one of Formats with Common: one for FNUZ operands reads those of
// OCP, with the exponents that they have in its own format.
func (i *Instruction) ByValue() (*Instruction, error) {
	j := *i
	j.Formats.Common = true
	for ocp, id := range fnuz {
		if i.A == id && i.B == id {
			j.A, j.B, j.Params.In.Widen = ocp, ocp, id
			if i.Params.In.Widen != fp.None {
				return nil, fmt.Errorf("%s widens its operands: it has no other ones", i.FullName())
			}
		}
	}
	j.Unknown |= FacetNaN | FacetZero
	return &j, j.Formats.Validate()
}

// Shared returns a code of OCP if the FNUZ format has its value too, and else one beside it whose
// value both have.
func Shared(id fp.ID, code uint64) uint64 {
	f, most := id.Get(), fnuz[id].Get().MaxFinite()
	limit := most - uint64(fnuz[id].Get().Bias-f.Bias)<<f.FracBits // the same value in OCP's codes
	mag := code &^ f.SignBit()
	if mag > limit {
		code &^= 1 << f.FracBits
	}
	if mag == 0 {
		return 0
	}
	return code
}

// Share makes the operands of tiles shared ones, from a tile on.
func (b *Batch) Share(tile int) {
	if !b.Common {
		return
	}
	for _, x := range []struct {
		codes []byte
		id    fp.ID
		from  int
	}{{b.A, b.Formats.A, tile * b.M * b.K}, {b.B, b.Formats.B, tile * b.N * b.K}} {
		for n, code := range x.codes[x.from:] {
			x.codes[x.from+n] = byte(Shared(x.id, uint64(code)))
		}
	}
}

// IsShared reports whether a dot product has operands that its formats allow.
func (f Formats) IsShared(d *Dot) bool {
	if !f.Common {
		return true
	}
	for n := range d.A {
		if Shared(f.A, d.A[n]) != d.A[n] || Shared(f.B, d.B[n]) != d.B[n] {
			return false
		}
	}
	return true
}

// ToFNUZ returns the code of the FNUZ format with the value of a shared code of OCP.
func ToFNUZ(id fp.ID, code uint64) uint64 {
	return fnuz[id].Get().FromFloat64(id.Get().Float64(code))
}
