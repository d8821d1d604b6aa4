package oracle

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Reference is a common arithmetic that any unit can be compared with.
type Reference struct {
	Name     string
	Title    string
	Eval     func(f mma.Formats, d *mma.Dot) uint64 // code of D; f must be supported
	supports func(f mma.Formats) error
}

// Supports returns an error if the reference cannot keep its promises for
// operands of the given formats.
func (r *Reference) Supports(f mma.Formats) error { return r.supports(f) }

// References lists the references.
var References = []Reference{
	{"exact", "exact value, rounded once to nearest even", exactCode, supportsAll},
	{"fma32", "FP32 fused multiply-adds, first element first", chain(fma32, false), supports32},
	{"fma32-rev", "FP32 fused multiply-adds, last element first", chain(fma32, true), supports32},
	{"fma64", "FP64 fused multiply-adds, first element first", chain(fma64, false), supports64},
	{"fma64-rev", "FP64 fused multiply-adds, last element first", chain(fma64, true), supports64},
	{"mul32", "FP32 multiplications and additions, first element first", chain(mulAdd32, false), supports32},
	{"mul32-rev", "FP32 multiplications and additions, last element first", chain(mulAdd32, true), supports32},
	{"mul64", "FP64 multiplications and additions, first element first", chain(mulAdd64, false), supports64},
	{"mul64-rev", "FP64 multiplications and additions, last element first", chain(mulAdd64, true), supports64},
}

// FindReference returns the reference of a name.
func FindReference(name string) (*Reference, bool) {
	for i := range References {
		if References[i].Name == name {
			return &References[i], true
		}
	}
	return nil, false
}

func exactCode(f mma.Formats, d *mma.Dot) uint64 { return ExactDot(f, d).Code() }

func chain(c func(mma.Formats, *mma.Dot, bool) uint64, reverse bool) func(mma.Formats, *mma.Dot) uint64 {
	return func(f mma.Formats, d *mma.Dot) uint64 { return c(f, d, reverse) }
}

func supportsAll(mma.Formats) error { return nil }

// supports32 refuses FP64, results without infinities, and products that are not exact in
// FP64.
func supports32(f mma.Formats) error {
	for _, id := range []fp.ID{f.A, f.B, f.C, f.D} {
		if id == fp.FP64 {
			return fmt.Errorf("an FP32 chain cannot hold %s", id)
		}
	}
	if !f.D.Get().HasInf() {
		return fmt.Errorf("a chain can give infinities, which %s does not have", f.D)
	}
	if bits := scaledBits(f.A, f.Scale) + scaledBits(f.B, f.Scale); bits > 53 {
		return fmt.Errorf("scaled products of %d bits are not exact in FP64", bits)
	}
	return nil
}

// supports64 refuses operands that are not exact in FP64 once they are scaled, and results
// without infinities.
func supports64(f mma.Formats) error {
	for _, id := range []fp.ID{f.A, f.B} {
		if id == fp.FP64 && (f.Scale != fp.None || f.Down != 0) {
			return fmt.Errorf("scaled %s operands are not exact in FP64", id)
		}
	}
	if !f.D.Get().HasInf() {
		return fmt.Errorf("a chain can give infinities, which %s does not have", f.D)
	}
	return nil
}

// scaledBits is the number of significant bits of an operand times its scale.
// A power of two, as in E8M0, adds none.
func scaledBits(id, scale fp.ID) int {
	bits := int(id.Get().FracBits) + 1
	if scale != fp.None && scale.Get().FracBits != 0 {
		bits += int(scale.Get().FracBits) + 1
	}
	return bits
}
