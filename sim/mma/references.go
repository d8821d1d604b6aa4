package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// Reference is a common arithmetic that any unit can be compared with, as a
// program. Package oracle has the same ones under the same names and computes them
// in other ways; a test of package devices/reference compares the two.
type Reference struct {
	Name  string
	wide  fp.ID // format of the chain's accumulator; None: the sum is exact
	twice bool  // products are rounded to that format, too
	order Order
}

// References lists the references.
var References = []Reference{
	{"exact", fp.None, false, Ascending},
	{"fma32", fp.FP32, false, Ascending},
	{"fma32-rev", fp.FP32, false, Descending},
	{"fma64", fp.FP64, false, Ascending},
	{"fma64-rev", fp.FP64, false, Descending},
	{"mul32", fp.FP32, true, Ascending},
	{"mul32-rev", fp.FP32, true, Descending},
	{"mul64", fp.FP64, true, Ascending},
	{"mul64-rev", fp.FP64, true, Descending},
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

// Program returns the reference for results in a format. Its K is the length of the
// whole dot product: a reference rounds to D's format once.
//
// For operands that the reference refuses (oracle.Reference.Supports) it is a program, but
// not the reference.
func (r *Reference) Program(d fp.ID) Params {
	p := Params{Acc: To(d, fp.RNE), Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
	if r.wide == fp.None {
		return p
	}
	p.L, p.Order, p.Acc = 1, r.order, To(r.wide, fp.RNE)
	if r.twice {
		p.Prod.Round = p.Acc
	}
	if r.wide != d {
		p.Out = To(d, fp.RNE)
	}
	return p
}
