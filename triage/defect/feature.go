package defect

import (
	"math/bits"
	"slices"
	"strings"

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
	OfTerm    Scope = "term"    // a term of a sum: a product, c or the sum so far
)

// kind is what the values of a feature are, and so which conditions are tried on it.
type kind int

const (
	number kind = iota // any comparison
	flag               // 0 or 1
	class              // a numberClass
	code               // a code of a format: single bits, and all bits together
	choice             // a number whose order means nothing: equality alone
	lanes              // a bit for each product
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
		{of + ".below", flag, noun + " is below zero", noun + " is not below zero", 1},
		{of + ".above", flag, noun + " is above zero", noun + " is not above zero", 1},
		{of + ".exp", number, "the exponent of " + noun, "", 2},
		{of + ".frac", code, "the fraction of " + noun, "", 3},
		{of + ".code", code, noun, "", 3},
		{of + ".mag", number, "the code of the magnitude of " + noun, "", 4},
		{of + ".ones", number, "the number of ones in the code of " + noun, "", 4},
		{of + ".full", flag, "the significand of " + noun + " is all ones", "the significand of " + noun + " is not all ones", 2},
		{of + ".two", flag, noun + " is a power of two", noun + " is no power of two", 2},
	}
}

// noCode are the values of codeFeatures of an operand that a unit does not have.
var noCode = slices.Repeat([]int64{absent}, len(codeFeatures("", "")))

// codeValues are the values of codeFeatures.
func codeValues(vs []int64, id fp.ID, c uint64) []int64 {
	if id == fp.None {
		return append(vs, noCode...)
	}
	f := id.Get()
	k := classOf(f, c)
	exp := int64(absent)
	if k == isNormal || k == isSubnormal {
		exp = int64(f.Decode(c).Exp)
	}
	neg, number := c&f.SignBit() != 0, k != isZero && k != isNaN
	if f.Integer() { // all are of one class but zero, which has one code
		k, exp = absent, absent
	}
	return append(vs, k, truth(neg), truth(neg && number), truth(!neg && number), exp, int64(c&(1<<(f.FracBits+f.Low)-1)),
		int64(c&f.CodeMask()), int64(c&f.CodeMask()&^f.SignBit()), int64(bits.OnesCount64(c&f.CodeMask())), truth(k == isNormal && isFull(f, c)), truth((k == isNormal || k == isSubnormal) && isPower(f, c)))
}

// isFull reports whether all bits of a fraction are ones.
func isFull(f *fp.Format, c uint64) bool {
	fraction := uint64(1)<<f.FracBits - 1
	return f.FracBits > 0 && c>>f.Low&fraction == fraction
}

// isPower reports whether the significand of a number is a power of two.
func isPower(f *fp.Format, c uint64) bool {
	x := f.Dyadic(f.Decode(c))
	return bits.OnesCount64(x.Hi)+bits.OnesCount64(x.Lo) == 1
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
		{of + ".out", flag, "rounding carries out of the significand of a normal number", "rounding does not carry out of the significand of a normal number", 1},
		{of + ".up", flag, "rounding increases the magnitude", "rounding does not increase the magnitude", 2},
		{of + ".inexact", flag, "it is rounded", "it is exact", 2},
		{of + ".overflow", flag, "rounding overflows", "rounding does not overflow", 1},
		{of + ".just", flag, "the sum overflows by rounding alone", "the sum does not overflow by rounding alone", 1},
		{of + ".beyond", flag, "the exponent of the sum is beyond the largest of the result's format", "the exponent of the sum is at most the largest of the result's format", 1},
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
			{"c.largest", flag, "no product has a larger exponent than c", "a product has a larger exponent than c", 2},
			{"maxp", number, "the largest exponent of a product", "", 2},
			{"minp", number, "the smallest exponent of a product", "", 3},
			{"spread", number, "the largest minus the smallest exponent of a product", "", 3},
			{"products", number, "the number of products that are not zero", "", 2},
			{"negatives", number, "the number of negative products", "", 2},
			{"subnormals", number, "the number of subnormal operands", "", 2},
			{"specials", number, "the number of infinite and NaN operands", "", 2},
			{"nan", flag, "an operand is a NaN", "no operand is a NaN", 2},
			{"inf*0", flag, "zero is multiplied by infinity", "zero is not multiplied by infinity", 2},
			{"inf-inf", flag, "infinities of opposite signs are added", "no infinities of opposite signs are added", 1},
			{"ones.a", number, "the number of ones in the codes of all a", "", 4},
			{"ones.b", number, "the number of ones in the codes of all b", "", 4},
			{"ones", number, "the number of ones in the codes of all operands", "", 4},
			{"inf.apart", flag, "products of different sums are infinities of opposite signs", "no products of different sums are infinities of opposite signs", 2},
			{"c.opposed", flag, "c and a product have opposite signs", "c and the products have the same sign", 2},
			{"d.c", flag, "the result and c have opposite signs", "the result and c have the same sign", 2},
			{"signs", flag, "the products have both signs", "the products have one sign", 2},
			{"lost", number, "the exponent of the largest term minus that of the result", "", 2},
			{"carries", code, "the carries of the addition of c", "", 2},
			{"propagates", code, "c XOR the sum of the products", "", 3},
			{"zero.p", lanes, "a factor of product %d is zero", "no factor of product %d is zero", 2},
			{"zero.a", lanes, "a of product %d is zero", "a of product %d is not zero", 2},
			{"zero.b", lanes, "b of product %d is zero", "b of product %d is not zero", 2},
			{"neg.p", lanes, "product %d is negative", "product %d is positive", 2},
			{"minus.p", lanes, "product %d has a minus sign, even if it is zero", "product %d has a plus sign, even if it is zero", 3},
			{"minus", number, "the number of products with a minus sign, zeros included,", "", 3},
		})
	numberFeatures = []feature{
		{"k", choice, "the number of the product", "", 1},
		{"k.bits", code, "the number of the product", "", 2},
		{"k.at", number, "the number of the product", "", 1},
	}
	termFeatures = concat(
		[]feature{
			{"p.nan", flag, "the product is a NaN", "the product is not a NaN", 1},
			{"p.finite", flag, "the product is finite", "the product is not finite", 2},
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
			{"acc.neg", flag, "the sum that it is added to is negative", "the sum that it is added to is positive", 3},
			{"acc.zero", flag, "the sum that it is added to is zero", "the sum that it is added to is not zero", 3},
			{"acc.p", flag, "the product and the sum that it is added to have opposite signs", "the product and the sum that it is added to have the same sign", 3},
			{"acc.exp", number, "the exponent of the sum that it is added to", "", 3},
			{"p-acc", number, "the exponent of the product minus that of the sum that it is added to", "", 3},
			{"p.top-acc", number, "the exponent of the product's value minus that of the sum that it is added to", "", 3},
			{"p-before", number, "the exponent of the product minus that of the one before it", "", 3},
			{"after.zero", flag, "the product after it is zero", "the product after it is not zero", 3},
			{"after.neg", flag, "the product after it is negative", "the product after it is positive", 3},
			{"p-after", number, "the exponent of the product minus that of the one after it", "", 3},
			{"other.zero.p", lanes, "a factor of the product whose number differs in bit %d is zero", "no factor of the product whose number differs in bit %d is zero", 3},
			{"other.zero.a", lanes, "a of the product whose number differs in bit %d is zero", "a of the product whose number differs in bit %d is not zero", 3},
			{"other.zero.b", lanes, "b of the product whose number differs in bit %d is zero", "b of the product whose number differs in bit %d is not zero", 3},
			{"p.tie", flag, "the product is a tie of two numbers", "the product is no tie", 2},
			{"p.carry", flag, "rounding the product carries into the next power of two", "rounding the product does not carry into the next power of two", 2},
			{"p.up", flag, "rounding increases the magnitude of the product", "rounding does not increase the magnitude of the product", 3},
			{"p.inexact", flag, "the product is rounded", "the product is exact", 3},
			{"maxp-p", number, "the largest exponent of a product minus that of the product", "", 3},
			{"p.largest", flag, "no product has a larger exponent", "another product has a larger exponent", 2},
			{"p.c", flag, "the product and c have opposite signs", "the product and c have the same sign", 2},
			{"a.c", flag, "a and c are numbers of opposite signs", "a and c are not numbers of opposite signs", 2},
			{"b.c", flag, "b and c are numbers of opposite signs", "b and c are not numbers of opposite signs", 2},
			{"a=b", flag, "a and b have the same code", "a and b have different codes", 2},
			{"a==b", flag, "a and b are equal numbers", "a and b are not equal numbers", 2},
			{"a.exp=b.exp", flag, "a and b have the same exponent", "a and b have different exponents", 3},
			{"a.frac=b.frac", flag, "a and b have the same significand", "a and b have different significands", 3},
			{"a.exp-b.exp", number, "the exponent of a minus that of b", "", 3},
			{"|a|>|b|", flag, "a is greater in magnitude than b", "a is not greater in magnitude than b", 3},
			{"|a|<|b|", flag, "a is less in magnitude than b", "a is not less in magnitude than b", 3},
			{"a=c", flag, "a and c have the same code", "a and c have different codes", 3},
			{"b=c", flag, "b and c have the same code", "b and c have different codes", 3},
			{"ab.ones", number, "the number of ones in the codes of a and b", "", 4},
			{"same.a", lanes, "the product whose number differs in the bits %d has the same a", "the product whose number differs in the bits %d has another a", 3},
			{"same.b", lanes, "the product whose number differs in the bits %d has the same b", "the product whose number differs in the bits %d has another b", 3},
			{"same.ab", lanes, "the product whose number differs in the bits %d has a as its b", "the product whose number differs in the bits %d does not have a as its b", 4},
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
		{"exps", number, "the difference of their exponents", "", 1},
		{"tops", number, "the difference of the exponents of their values", "", 2},
		{"opposed", flag, "they have opposite signs", "they have the same sign", 1},
		{"cancel", flag, "they cancel", "they do not cancel", 1},
		{"equal", flag, "they are equal", "they are different", 1},
		{"a=a", flag, "they have the same a", "they have different a", 2},
		{"b=b", flag, "they have the same b", "they have different b", 2},
		{"a==a", flag, "their a are equal numbers", "their a are not equal numbers", 2},
		{"b==b", flag, "their b are equal numbers", "their b are not equal numbers", 2},
		{"a=b'", flag, "a of the first is b of the second", "a of the first is not b of the second", 3},
		{"b=a'", flag, "b of the first is a of the second", "b of the first is not a of the second", 3},
		{"aa.opposed", flag, "their a are numbers of opposite signs", "their a are not numbers of opposite signs", 2},
		{"bb.opposed", flag, "their b are numbers of opposite signs", "their b are not numbers of opposite signs", 2},
		{"a<a", flag, "a of the first is less than a of the second", "a of the first is not less than a of the second", 3},
		{"b<b", flag, "b of the first is less than b of the second", "b of the first is not less than b of the second", 3},
		{"|a|<|a|", flag, "a of the first is less in magnitude than a of the second", "a of the first is not less in magnitude than a of the second", 3},
	}
	eachFeatures = []feature{
		{"t.acc", flag, "it is no product", "it is a product", 1},
		{"t.sum", choice, "the step of the sum", "", 2},
		{"t.sum.at", number, "the step of the sum", "", 2},
		{"t.neg", flag, "it is negative", "it is positive", 1},
		{"t.exp", number, "its exponent", "", 2},
		{"t.top", number, "the exponent of its value", "", 3},
		{"t.shift", number, "the number of places by which it is aligned", "", 1},
		{"t.cut", flag, "alignment cuts bits of it", "alignment cuts no bits of it", 1},
		{"t.below", number, "the number of places by which its leading bit is below that of the largest term", "", 2},
	}
	stepFeatures = concat(
		[]feature{
			{"step", choice, "the step of the sum", "", 1},
			{"s.exp", number, "the exponent of the sum", "", 2},
			{"s.neg", flag, "the sum is negative", "the sum is positive", 1},
			{"s.zero", flag, "the sum is zero", "the sum is not zero", 1},
			{"s.opposed", flag, "terms of the sum have opposite signs", "terms of the sum have the same sign", 2},
			{"s.apart", number, "the exponent of the first term minus that of the last", "", 2},
			{"s.acc", flag, "the accumulator is greater in magnitude than each other term", "the accumulator is not greater in magnitude than each other term", 2},
			{"s.first", flag, "the sum and its first term have opposite signs", "the sum and its first term have the same sign", 3},
			{"s.far", number, "the distance of the exponents of the first and the last term", "", 2},
		}, sumFeatures("s"))
)

// scopes are the features of each scope: those of the case, and then its own.
var scopes = map[Scope][]feature{
	OfCase: caseFeatures, OfProduct: concat(caseFeatures, productFeatures),
	OfOperand: concat(caseFeatures, operandFeatures),
	OfPair:    concat(caseFeatures, pairFeatures), OfSum: concat(caseFeatures, stepFeatures),
	OfTerm: concat(caseFeatures, eachFeatures),
}

// column returns the number of a feature in a scope, -1 if there is none.
func column(s Scope, name string) int {
	if n, ok := columns[s][name]; ok {
		return n
	}
	return -1
}

// columns are the numbers of the features of each scope.
var columns = func() map[Scope]map[string]int {
	all := map[Scope]map[string]int{}
	for s, features := range scopes {
		all[s] = map[string]int{}
		for n := range features {
			all[s][features[n].name] = n
		}
	}
	return all
}()

func concat(parts ...[]feature) (all []feature) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// distanceBits are the low bits of a number that conditions are about: a distance of exponents is
// told from others modulo a power of two.
const distanceBits = 8

// widthOf returns the bits of a code feature, for conditions on single bits.
func (s *search) widthOf(name string) int {
	f := s.f
	formats := map[string]fp.ID{"a": f.A, "b": f.B, "x": f.A, "y": f.A, "c": f.C, "d": f.D, "sa": f.Scale, "sb": f.Scale}
	of, part, _ := strings.Cut(name, ".")
	if id := formats[of]; id != fp.None {
		switch part {
		case "code":
			return int(id.Get().CodeBits())
		case "frac":
			return int(id.Get().FracBits + id.Get().Low)
		}
	}
	if name == "carries" || name == "propagates" {
		return int(f.D.Get().CodeBits())
	}
	k := len(s.samples[0].dot.A)
	switch x := featureOf(name); {
	case x.kind == number:
		return distanceBits
	case x.kind == lanes && !strings.HasPrefix(name, "other."):
		return min(k, mostLanes)
	}
	return bits.Len(uint(k - 1)) // of the number of a product
}
