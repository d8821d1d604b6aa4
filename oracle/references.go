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
	Eval     func(f mma.Formats, d *mma.Dot) uint64 // code of D, rounded to nearest even; f must be supported
	supports func(f mma.Formats) error

	// The reference as a program, for Program. Eval does not read it: a test of package
	// devices/reference compares the two.
	wide  fp.ID // format of the chain's accumulator; None: the sum is exact
	twice bool  // products are rounded to that format, too
	order mma.Order
}

// Supports returns an error if the reference cannot keep its promises for
// operands of the given formats.
func (r *Reference) Supports(f mma.Formats) error {
	results := f
	results.D, results.Mode = f.D.Result(), 0
	if err := r.supports(results); err != nil || f == results {
		return err
	}
	p := r.Program(f)
	return p.Validate(results, max(1, int(f.Block)))
}

// References lists the references.
var References = []Reference{
	{"exact", "exact value, rounded once to nearest even", exactCode, supportsExact, fp.None, false, mma.Ascending},
	{"fma32", "FP32 fused multiply-adds, first element first", chain(fma32, false), supports32, fp.FP32, false, mma.Ascending},
	{"fma32-rev", "FP32 fused multiply-adds, last element first", chain(fma32, true), supports32, fp.FP32, false, mma.Descending},
	{"fma64", "FP64 fused multiply-adds, first element first", chain(fma64, false), supports64, fp.FP64, false, mma.Ascending},
	{"fma64-rev", "FP64 fused multiply-adds, last element first", chain(fma64, true), supports64, fp.FP64, false, mma.Descending},
	{"mul32", "FP32 multiplications and additions, first element first", chain(mulAdd32, false), supports32, fp.FP32, true, mma.Ascending},
	{"mul32-rev", "FP32 multiplications and additions, last element first", chain(mulAdd32, true), supports32, fp.FP32, true, mma.Descending},
	{"mul64", "FP64 multiplications and additions, first element first", chain(mulAdd64, false), supports64, fp.FP64, true, mma.Ascending},
	{"mul64-rev", "FP64 multiplications and additions, last element first", chain(mulAdd64, true), supports64, fp.FP64, true, mma.Descending},
	{"mul", "products alone, without c: multiplications and additions in D's format, the first product added to nothing", mulAlone, supportsAlone, alone, true, mma.Ascending},
}

// alone is Reference.wide of a chain in D's own format that begins with its first product.
const alone fp.ID = 255

// Program returns the reference for results in D's format, or for the flags of such results. All
// its roundings are in the mode that f asks for, to nearest even if it asks for none. Its K is the
// length of the whole dot product: a reference rounds to D's format once.
//
// For operands that the reference refuses (Supports) it is a program, but not the reference.
func (r *Reference) Program(f mma.Formats) mma.Params {
	p := r.nearest(f.D.Result())
	if f.Conversion() { // nothing is added, not even +0: zero keeps its sign (IEEE 754 section 5.4.2)
		p.Start = mma.StartEmpty
	}
	for _, place := range mma.Roundings {
		if to := place.At(&p); f.Mode != 0 && to.Frac != 0 {
			if to.Mode = f.Mode; to.Over == mma.OverInf {
				to.Over = mma.OverIEEE
			}
		}
	}
	return p
}

// nearest is Program to nearest even.
func (r *Reference) nearest(d fp.ID) mma.Params {
	p := mma.FMA(d)
	if r.wide == fp.None {
		p.L = 0
		return p
	}
	if r.wide == alone {
		p.Prod.Round, p.Start = p.Acc, mma.StartEmpty
		return p
	}
	p.Order, p.Acc = r.order, mma.To(r.wide, fp.RNE)
	if r.twice {
		p.Prod.Round = p.Acc
	}
	if r.wide != d {
		p.Out = mma.To(d, fp.RNE)
	}
	return p
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

func exactCode(f mma.Formats, d *mma.Dot) uint64 { return nearest(exactSum(f, d), f.D) }

func chain(c func(mma.Formats, *mma.Dot, bool) uint64, reverse bool) func(mma.Formats, *mma.Dot) uint64 {
	return func(f mma.Formats, d *mma.Dot) uint64 { return c(f, d, reverse) }
}

// supportsExact refuses results that cannot be what a sum may be: negative, zero, too large or a NaN.
func supportsExact(f mma.Formats) error {
	switch d := f.D.Get(); {
	case d.Integer():
		return fmt.Errorf("a sum can be too large for %s, and then the exact value does not say whether it wraps around or saturates", f.D)
	case (!d.Signed || d.NoZero) && !(f.Conversion() && d.PowersOfTwo()):
		return fmt.Errorf("a sum can be negative or zero, which %s cannot hold", f.D)
	case !d.HasNaN():
		return fmt.Errorf("a sum can be a NaN, which %s does not have", f.D)
	}
	return nil
}

// native754 refuses formats that are described, and integers, which no table of native numbers has.
func native754(f mma.Formats) error {
	for _, id := range []fp.ID{f.A, f.B, f.C, f.D, f.Scale} {
		if id > fp.One {
			return fmt.Errorf("a chain does not know %s", id)
		}
	}
	return nil
}

// supports32 refuses FP64, results without infinities, and products that are not exact in
// FP64.
func supports32(f mma.Formats) error {
	if err := native754(f); err != nil {
		return err
	}
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
	if err := native754(f); err != nil {
		return err
	}
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

// supportsAlone refuses c, results without infinities, and products that are rounded twice.
func supportsAlone(f mma.Formats) error {
	switch {
	case f.C != fp.None:
		return fmt.Errorf("there is no place for c, which is %s", f.C)
	case f == mma.Formats{A: fp.FP64, B: fp.FP64, D: fp.FP64}:
		return nil
	}
	return supports32(f)
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
