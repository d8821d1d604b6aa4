package readable

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Converted writes what is said of a unit of some formats, of labels or of parameters, in words for
// conversions if it is one: a conversion is a product with the number 1 or with a scale, and a sum of it
// alone, but has neither for its reader.
func Converted(f mma.Formats, text string) string {
	if !f.Conversion() {
		return text
	}
	return inConversions.Replace(keptBits.ReplaceAllStringFunc(text, func(of string) string {
		m := keptBits.FindStringSubmatch(of)
		return "first rounding " + significant(m[1]) + "→" + significant(m[2])
	}))
}

// Beside is what the codes of B of a conversion are, if it has any: a scale, random bits, or both.
func Beside(f mma.Formats) string {
	switch {
	case f.B == fp.One:
		return ""
	case f.B.IsOne():
		return "bits"
	case f.B.RandomBits() != 0:
		return "scale+bits"
	}
	return "scale"
}

// keptBits is a change of the bits that are kept of the terms of a sum, of which a conversion has one: a
// rounding before that to the result.
var keptBits = regexp.MustCompile(`kept bits \(F\) (none|exact|\d+)→(none|exact|\d+)`)

// significant writes bits kept below the first one, and which formats have as many.
func significant(kept string) string {
	n, err := strconv.Atoi(kept)
	if err != nil {
		return "none"
	}
	var as []string
	for _, id := range []fp.ID{fp.BF16, fp.FP16, fp.TF32, fp.FP32} {
		if int(id.Get().FracBits) == n {
			as = append(as, id.String())
		}
	}
	if as == nil {
		return fmt.Sprintf("to %d significant bits", n+1)
	}
	return fmt.Sprintf("to %d significant bits (%s)", n+1, strings.Join(as, " or "))
}

// inConversions are the words: longer ones stand before those that they begin with.
var inConversions = strings.NewReplacer(
	// labels
	"an integer subtracted from the operands on one side only, or another one", "an integer subtracted from the number on one side only, or another one",
	"operands rounded, split or limited in range before they are multiplied or added", "numbers rounded or limited in range before they are converted",
	"products rounded, normalised, or of another exponent", "numbers rounded first, or multiplied by a power of two",
	"where and to what operands, products, sums or results overflow", "where and to what numbers overflow",
	"bits kept below the largest exponent of a sum", "bits to which a number is rounded first, before it is rounded to the result",
	"how terms are cut at the end of the sum's window", "how a number is rounded first, before it is rounded to the result",
	"terms or sums rounded toward minus or plus infinity", "numbers rounded toward minus or plus infinity",
	"exponent of terms that are zero or subnormal: floor of the alignment", "least exponent of a first rounding, before that to the result",
	"terms of a sum negated without the carry of two's complement", "numbers negated without the carry of two's complement",
	"small terms, or a small accumulator, are dropped altogether", "small numbers are dropped altogether",
	"a sum rounded before it is added further or becomes the result", "a number rounded first, before it is rounded to the result",
	"subnormal products, sums or results flushed to zero", "subnormal numbers or results flushed to zero",
	// parameters
	"result of a step: ", "result: ",
	"products: ", "first rounding: ",
	"subnormal operands a and b", "subnormal operands",
	"fraction bits of a that are multiplied", "fraction bits of a that are read",
	"exponent by which a product is aligned", "exponent that the number is taken to have",
	"whether a product is aligned as if it were", "whether the number is taken as if it were",
	"whether a sum is -0 only if all of its terms are zeros, and not where they are cut to nothing", "whether a result is -0 only of a zero, and not of what is rounded to nothing",
	"rounding of cut terms", "mode of the first rounding",
	"least exponent (e_zero)", "least exponent of the first rounding",
	"negation of terms", "negation of numbers",
	"width of a sum", "width of a number",
	"saturation of a sum", "saturation of a number",
	"of the sum with c", "of the intermediate result",
	"sum with the accumulator", "intermediate result",
	"exponent of a factor of all products", "exponent of a factor of numbers",
	"zero products have", "zero has",
	"first overflow of products", "first overflow",
	"products aligned as if", "numbers taken as if",
	"exponent of products", "exponent of the number",
	"subnormal accumulator", "subnormal number",
	"of products", "of the number",
	"sums can be -0", "results can be -0",
	"first step begins with c→empty, ", "", "first step begins with c→empty", "none", // it has no c
	"first step begins with c→zero", "first added to +0 no→yes", "first step begins with empty→zero", "first added to +0 no→yes", "first step begins with zero→empty", "first added to +0 yes→no",
	// questions
	"subnormal a and b are numbers", "subnormal numbers are not read as zero", "subnormal a and b give a normal product", "subnormal numbers give a normal result",
	"normal a and b give a subnormal result", "normal numbers give a subnormal result",
	"sign of a sum of negative zeros", "sign of a negative zero",
	// proofs, tests
	"dot products of 1 product, ", "a number, ", "dot products of ", "numbers of ", "dot products were", "numbers were",
	"of the sum of the magnitudes of all products and c", "of the magnitude of the number", "and that sum is", "and that is",
	"with all a and c negated", "with a negated",
	"how products are made: operands, exactness, the exponent by which they are aligned", "how the number is read",
	"roundings of sums and results", "roundings of results", "operands, sums and results", "operands and results",
	"lanes with a product, ", "", "p0=3f80*4000 is a product of two operands, by their codes; all others are zero.", "a=3f80 is the operand, by its code.",
	"bits of a of p0", "bits of a", "bits of b of p0", "bits of the scale",
	// defects
	"the exponent of the largest term", "the exponent of the number",
	"the leading bit of the largest term", "its leading bit",
	"the largest exponent of a term", "the exponent of the number",
	"the exponent of the sum", "the exponent of the number",
	"the sum overflows", "the number overflows",
	"each sum", "the result", "sum 0", "the result", "in a sum ", "",
	" of each product", "", " of product 0", "",
	"each product", "the number", "in a product ", "",
	"product 0", "the number",
)
