package defect

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Scope is what conditions are about.
type Scope string

// The scopes.
const (
	OfCase    Scope = "" // the dot product as a whole
	OfProduct Scope = "product"
	OfOperand Scope = "operand" // a or b of a product
	OfPair    Scope = "pair"    // two products
	OfSum     Scope = "sum"     // a sum of the computation, with its rounding
)

// kind is what the values of a feature are, and so which conditions are tried on it.
type kind int

const (
	number kind = iota // any comparison
	flag               // 0 or 1
	class              // a numberClass
	code               // a code of a format: single bits, and all bits together
	choice             // a number whose order means nothing: equality alone
)

// feature is a row of a table. Its texts are those of text.go.
type feature struct {
	name string
	kind kind
	noun string // "c's exponent"; of a flag a sentence: "the result overflows"
	not  string // of a flag: the opposite
	cost int    // how far-fetched it is: of conditions that separate the same, the cheapest is taken
}

// numberClass orders the classes of numbers such that thresholds mean something.
type numberClass = int64

const (
	isZero numberClass = iota
	isSubnormal
	isNormal
	isInf
	isNaN
)

// classOf returns the class of a code.
func classOf(f *fp.Format, c uint64) numberClass {
	n := f.Decode(c)
	switch {
	case n.Class == fp.Zero:
		return isZero
	case n.Class == fp.Inf:
		return isInf
	case n.Class == fp.NaN:
		return isNaN
	case f.Dyadic(n).Exponent() < f.Emin():
		return isSubnormal
	}
	return isNormal
}

// codeFeatures are those of every code: an operand or the result.
func codeFeatures(of, noun string) []feature {
	return []feature{
		{of + ".class", class, noun, "", 1},
		{of + ".neg", flag, noun + " is negative", noun + " is positive", 1},
		{of + ".exp", number, "the exponent of " + noun, "", 2},
		{of + ".frac", code, "the fraction of " + noun, "", 3},
		{of + ".code", code, noun, "", 3},
		{of + ".mag", number, "the code of the magnitude of " + noun, "", 4},
	}
}

// codeValues are the values of codeFeatures.
func codeValues(vs []int64, id fp.ID, c uint64) []int64 {
	if id == fp.None {
		return append(vs, absent, absent, absent, absent, absent, absent)
	}
	f := id.Get()
	k := classOf(f, c)
	exp := int64(absent)
	if k == isNormal || k == isSubnormal {
		exp = int64(f.Decode(c).Exp)
	}
	return append(vs, k, truth(c&f.SignBit() != 0), exp, int64(c&(1<<(f.FracBits+f.Low)-1)), int64(c&f.CodeMask()), int64(c&f.CodeMask()&^f.SignBit()))
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// sumFeatures are those of a sum and of the rounding of the result.
func sumFeatures(of string) []feature {
	return []feature{
		{of + ".tie", flag, "it is a tie of two numbers", "it is no tie", 1},
		{of + ".ones", flag, "the significand is all ones before it is rounded", "the significand is not all ones before it is rounded", 1},
		{of + ".carry", flag, "rounding carries into the next power of two", "rounding does not carry into the next power of two", 1},
		{of + ".up", flag, "rounding increases the magnitude", "rounding does not increase the magnitude", 2},
		{of + ".inexact", flag, "it is rounded", "it is exact", 2},
		{of + ".overflow", flag, "rounding overflows", "rounding does not overflow", 1},
		{of + ".cancels", flag, "the terms cancel altogether", "the terms do not cancel altogether", 1},
		{of + ".lost", number, "the number of leading places that cancel", "", 2},
		{of + ".E-s", number, "the largest exponent of a term minus that of the sum", "", 3},
		{of + ".E", number, "the largest exponent of a term", "", 2},
		{of + ".cut", number, "the number of terms of which alignment cuts bits", "", 2},
	}
}

// The tables of the features.
var (
	caseFeatures = concat(
		codeFeatures("c", "c"), codeFeatures("d", "the result"),
		sumFeatures("last"),
		[]feature{
			{"d.max", flag, "the result is the largest number of its format", "the result is not the largest number of its format", 2},
			{"c-p", number, "the exponent of c minus the largest exponent of a product", "", 2},
			{"maxp", number, "the largest exponent of a product", "", 2},
			{"minp", number, "the smallest exponent of a product", "", 3},
			{"spread", number, "the largest minus the smallest exponent of a product", "", 3},
			{"products", number, "the number of products that are not zero", "", 2},
			{"negatives", number, "the number of negative products", "", 2},
			{"subnormals", number, "the number of subnormal operands", "", 2},
			{"specials", number, "the number of infinite and NaN operands", "", 2},
			{"c.opposed", flag, "c and a product have opposite signs", "c and the products have the same sign", 2},
			{"signs", flag, "the products have both signs", "the products have one sign", 2},
			{"lost", number, "the exponent of the largest term minus that of the result", "", 2},
		})
	numberFeatures = []feature{
		{"k", choice, "the number of the product", "", 1},
		{"k.bits", code, "the number of the product", "", 2},
		{"k.at", number, "the number of the product", "", 1},
	}
	termFeatures = concat(
		[]feature{
			{"p.neg", flag, "the product is negative", "the product is positive", 1},
			{"p.exp", number, "the exponent of the product", "", 2},
			{"p.wide", flag, "the product of the significands is 2 or more", "the product of the significands is below 2", 2},
			{"p.shift", number, "the number of places by which the product is aligned", "", 2},
			{"p.cut", flag, "alignment cuts bits of the product", "alignment cuts no bits of the product", 1},
			{"p-c", number, "the exponent of the product minus that of c", "", 2},
			{"p.top", number, "the exponent of the product's value", "", 3},
			{"p.top-c", number, "the exponent of the product's value minus that of c", "", 3},
			{"before.zero", flag, "the product before it is zero", "the product before it is not zero", 3},
			{"before.neg", flag, "the product before it is negative", "the product before it is positive", 3},
			{"p-before", number, "the exponent of the product minus that of the one before it", "", 3},
			{"after.zero", flag, "the product after it is zero", "the product after it is not zero", 3},
			{"after.neg", flag, "the product after it is negative", "the product after it is positive", 3},
			{"p-after", number, "the exponent of the product minus that of the one after it", "", 3},
			{"p.tie", flag, "the product is a tie of two numbers", "the product is no tie", 2},
			{"p.carry", flag, "rounding the product carries into the next power of two", "rounding the product does not carry into the next power of two", 2},
			{"p.up", flag, "rounding increases the magnitude of the product", "rounding does not increase the magnitude of the product", 3},
			{"p.inexact", flag, "the product is rounded", "the product is exact", 3},
			{"p.largest", flag, "no product has a larger exponent", "another product has a larger exponent", 2},
			{"p.c", flag, "the product and c have opposite signs", "the product and c have the same sign", 2},
			{"a=b", flag, "a and b have the same code", "a and b have different codes", 2},
		},
		codeFeatures("sa", "the scale of a"), codeFeatures("sb", "the scale of b"))
	productFeatures = concat(numberFeatures, codeFeatures("a", "a"), codeFeatures("b", "b"), termFeatures)
	operandFeatures = concat(
		[]feature{{"side", choice, "the side of the operand", "", 1}},
		codeFeatures("x", "it"), codeFeatures("y", "the other factor"), numberFeatures, termFeatures)
	pairFeatures = []feature{
		{"i", choice, "the number of the first product", "", 1},
		{"j", choice, "the number of the second product", "", 1},
		{"pair", choice, "the numbers of the two products", "", 1},
		{"pair.neg", choice, "the signs of two products", "", 1},
		{"j-i", number, "the distance of two products", "", 2},
		{"exps", number, "the difference of two products' exponents", "", 1},
		{"tops", number, "the difference of the exponents of two products' values", "", 2},
		{"opposed", flag, "two products have opposite signs", "two products have the same sign", 1},
		{"cancel", flag, "two products cancel", "two products do not cancel", 1},
		{"equal", flag, "two products are equal", "two products are different", 1},
		{"a=a", flag, "two products have the same a", "two products have different a", 2},
		{"b=b", flag, "two products have the same b", "two products have different b", 2},
	}
	stepFeatures = concat(
		[]feature{
			{"step", choice, "the number of the sum", "", 1},
			{"s.exp", number, "the exponent of the sum", "", 2},
			{"s.neg", flag, "the sum is negative", "the sum is positive", 1},
			{"s.zero", flag, "the sum is zero", "the sum is not zero", 1},
			{"s.opposed", flag, "terms of the sum have opposite signs", "terms of the sum have the same sign", 2},
			{"s.apart", number, "the exponent of the first term minus that of the last", "", 2},
		}, sumFeatures("s"))
)

// scopes are the features of each scope: those of the case, and then its own.
var scopes = map[Scope][]feature{
	OfCase: caseFeatures, OfProduct: concat(caseFeatures, productFeatures),
	OfOperand: concat(caseFeatures, operandFeatures),
	OfPair:    concat(caseFeatures, pairFeatures), OfSum: concat(caseFeatures, stepFeatures),
}

// column returns the number of a feature in a scope, -1 if there is none.
func column(s Scope, name string) int {
	return slices.IndexFunc(scopes[s], func(f feature) bool { return f.name == name })
}

func concat(parts ...[]feature) (all []feature) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// widthOf returns the bits of a code feature, for conditions on single bits.
func (s *search) widthOf(name string) int {
	f := s.f
	formats := map[string]fp.ID{"a": f.A, "b": f.B, "x": f.A, "y": f.A, "c": f.C, "d": f.D, "sa": f.Scale, "sb": f.Scale}
	for of, id := range formats {
		if id == fp.None {
			continue
		}
		switch name {
		case of + ".code":
			return int(id.Get().CodeBits())
		case of + ".frac":
			return int(id.Get().FracBits + id.Get().Low)
		}
	}
	return bits.Len(uint(len(s.samples[0].dot.A) - 1)) // k.bits
}
