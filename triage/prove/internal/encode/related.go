package encode

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Properties relate the result of a dot product to that of another one that is made of it. These
// are the operands of the other one, over the same variables.

// withoutProducts returns a copy whose factors may be changed: it has other products.
func (in *Inputs) withoutProducts() Inputs {
	other := *in
	other.products = map[productKey]number{}
	return other
}

// Swapped returns the operands with two products in each other's places; both are of one block
// of scales.
func (in *Inputs) Swapped(i, j int) *Inputs {
	other := in.withoutProducts()
	other.a, other.b = slices.Clone(in.a), slices.Clone(in.b)
	other.a[i], other.a[j] = in.a[j], in.a[i]
	other.b[i], other.b[j] = in.b[j], in.b[i]
	return &other
}

// Exchanged returns the operands with a in the place of b, which has the same format.
func (in *Inputs) Exchanged() *Inputs {
	other := in.withoutProducts()
	other.a, other.b, other.sa, other.sb = in.b, in.a, in.sb, in.sa
	return &other
}

// Negated returns the operands with the signs of all a and of c changed.
func (in *Inputs) Negated() *Inputs {
	other := in.withoutProducts()
	other.a = slices.Clone(in.a)
	for i := range other.a {
		other.a[i].sign = in.negated(in.a[i])
	}
	if in.c.f != nil {
		other.c.sign = in.negated(in.c)
	}
	return &other
}

// negated is the other sign; in a format without -0, zero and the NaN keep their own.
func (in *Inputs) negated(o operand) *graph.Node {
	if o.f.Specials == fp.NegZeroNaN {
		return in.Ite(in.And(in.Eq(o.field, in.Int(0)), in.Eq(o.frac, in.Int(0))), o.sign, in.Not(o.sign))
	}
	return in.Not(o.sign)
}

// WithAnotherC returns the operands with a c that has variables of its own.
func (in *Inputs) WithAnotherC() *Inputs {
	other := *in
	other.c = in.operand("c'", in.Formats.C)
	return &other
}

// OrderOfC is Order of c, which must be no NaN.
func (in *Inputs) OrderOfC() *graph.Node { return in.Order(in.c.f, in.codeOf(in.c)) }

// NumbersOfC returns booleans that are 1 if c is no NaN.
func (in *Inputs) NumbersOfC() []*graph.Node {
	if _, nan := in.specials(&in.c); !nan.Is(0) {
		return []*graph.Node{in.Not(nan)}
	}
	return nil
}

// codeOf is the code of an operand, in its lowest bits.
func (in *Inputs) codeOf(o operand) *graph.Node {
	frac := int(o.f.FracBits)
	field := in.Ite(o.special, in.Int(1<<o.f.ExpBits-1), o.field)
	return in.Add(in.Left(o.sign, frac+int(o.f.ExpBits)), in.Left(field, frac), o.frac)
}

// Finite returns booleans that are 1 if no operand is an infinity or a NaN.
func (in *Inputs) Finite() []*graph.Node {
	var all []*graph.Node
	for _, o := range in.operands() {
		inf, nan := in.specials(o)
		if either := in.Or(inf, nan); !either.Is(0) {
			all = append(all, in.Not(either))
		}
	}
	return all
}

// Order is an integer that is smaller than another one's if the number with the code is
// smaller, and 0 for both zeros. The code is one of Program's results or of codeOf.
func (in *Inputs) Order(f *fp.Format, code *graph.Node) *graph.Node {
	bits := in.Int(int(f.ExpBits) + int(f.FracBits))
	size := in.Low(code, bits)
	return in.Ite(in.Shr(code, bits), in.Neg(size), size)
}

// IsNaN reports whether a code is a NaN.
func (in *Inputs) IsNaN(f *fp.Format, code *graph.Node) *graph.Node {
	bits := int(f.ExpBits) + int(f.FracBits)
	size := in.Low(code, in.Int(bits))
	all := in.AddInt(in.Left(in.Int(1), bits), -1)
	switch f.Specials {
	case fp.IEEE:
		return in.Less(in.Left(in.Int(1<<f.ExpBits-1), int(f.FracBits)), size)
	case fp.OnesNaN:
		return in.Eq(size, all)
	case fp.NegZeroNaN:
		return in.Eq(code, in.AddInt(all, 1))
	}
	return in.Int(0)
}
