package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// placeWords say which part of the computation the beginning of a parameter's path is
// about.
var placeWords = []struct{ prefix, words string }{
	{"in.", "operands"},
	{"prod.", "products"},
	{"stage0.", "first partial sums"},
	{"stage1.", "second partial sums"},
	{"join.", "sum with the accumulator"},
	{"acc.", "result of a step"},
	{"late.", "additions after the last step"},
	{"scaleround.", "product of scales"},
	{"out.", "final result"},
	{"special.", "special values"},
	{"", "whole computation"},
}

// partWords say what the rest of a path is. The first row whose suffix ends the path counts.
var partWords = []struct{ suffix, words string }{
	{"in.widen", "format to which operands are converted first"},
	{"in.sub", "what becomes of subnormal operands a and b"},
	{"in.c", "what becomes of a subnormal c"},
	{"in.acc", "what becomes of a subnormal accumulator between steps"},
	{"in.a.frac", "fraction bits of a that are multiplied"},
	{"in.a.mode", "how a is rounded to these"},
	{"in.a.to", "format within whose range a is"},
	{"in.a.over", "what becomes of an a that is too large"},
	{"in.b.to", "format within whose range b is"},
	{"in.b.over", "what becomes of a b that is too large"},
	{"in.narrowc.to", "format within whose range c is"},
	{"in.narrowc.over", "what becomes of a c that is too large"},
	{"in.naninf", "whether NaN operands count as infinities"},
	{"in.rest", "whether parts of an infinity or a NaN leave a NaN to the next part"},
	{"in.b.frac", "fraction bits of b that are multiplied"},
	{"in.b.mode", "how b is rounded to these"},
	{"in.narrowc.frac", "fraction bits of c that are added"},
	{"in.narrowc.mode", "how c is rounded to these"},
	{"prod.up", "whether a product is aligned as if it were at least 2"},
	{"prod.zeros", "whether zero products have an exponent"},
	{"prod.firstover", "whether the first product that is too large decides"},
	{"prod.gate", "whether zero times infinity or NaN is zero"},
	{"prod.exp", "exponent by which a product is aligned"},
	{"scale", "where block scales are applied"},
	{"passes", "parts of a and b whose products are added, one pass after the other"},
	{"together", "whether a step has all passes of its products"},
	{"order", "order in which products are taken"},
	{"l", "number of products added in one step (fusion width, L)"},
	{"lanes", "number of accumulators that take turns"},
	{"merge", "how the accumulators are added: the distances between two that are added"},
	{"tail", "whether products beyond whole rounds of the accumulators are added after these"},
	{"leaf", "place of c among the terms"},
	{"start", "what the first step begins with"},
	{".sum", "how the terms are added"},
	{".split", "how the terms are divided into groups"},
	{".group", "size or number of the groups"},
	{".deep", "whether the sums of groups are grouped again, until one is left"},
	{".sort", "order of the terms of a group, by magnitude"},
	{".fixed", "whether partial sums are fixed point"},
	{".plus", "whether a zero sum is always +0"},
	{"align.f", "bits kept below the largest exponent of a term (F)"},
	{"align.mode", "how terms are rounded where they are cut"},
	{"align.floor", "least exponent to which terms are aligned, which zero has (e_zero)"},
	{"align.sticky", "what becomes of the bits that are cut off"},
	{"align.negate", "how terms are negated"},
	{"align.bits", "bits of the sum"},
	{"align.drop", "how far below the largest exponent a term is dropped altogether"},
	{"align.saturate", "whether a sum that is too large becomes the largest one"},
	{"join.cnorm", "whether a subnormal accumulator has its own exponent"},
	{"join.cbeside", "whether the terms are aligned without the accumulator"},
	{"join.clost", "exponent of finite terms from which an infinite or NaN accumulator is dropped"},
	{"join.cgrid", "whether the terms are aligned with the accumulator alone"},
	{"join.apart", "whether positive and negative terms are summed and rounded apart"},
	{"join.cf", "bits of the accumulator kept below the largest exponent (F2)"},
	{"join.cmode", "how the accumulator is rounded where it is cut"},
	{"join.cdrop", "how far below the largest exponent the accumulator is dropped altogether"},
	{".frac", "fraction bits kept in rounding"},
	{".mode", "rounding mode"},
	{".emin", "least exponent of normal numbers"},
	{".emax", "largest exponent"},
	{".flush", "when a tiny result is flushed to zero"},
	{".over", "what becomes of a number that is too large"},
	{"special.nan", "code of a NaN result"},
	{"special.negzero", "whether sums can be -0"},
	{"special.tinysign", "whether a result that underflows to zero keeps its sign"},
	{"special.bfirst", "whether a NaN of b goes before one of a"},
	{"special.ones", "ones at the top of the fraction of a NaN that an operation makes"},
	{"special.cleft", "whether c is the left operand of its addition"},
}

// ParameterInWords says what a parameter of a program is; its path if it has no words.
func ParameterInWords(path string) string {
	for _, part := range partWords {
		if part.suffix != path && !(strings.HasSuffix(path, part.suffix) && strings.HasPrefix(part.suffix, ".") || strings.HasSuffix(path, "."+part.suffix)) {
			continue
		}
		for _, place := range placeWords {
			if strings.HasPrefix(path, place.prefix) {
				if place.prefix == "" || strings.HasPrefix(part.suffix, place.prefix) {
					return part.words
				}
				return place.words + ": " + part.words
			}
		}
	}
	return path
}

// ChangesTable shows in what two programs differ. a and b are whose programs they are.
func ChangesTable(caption string, changes []mma.Change, a, b string) *document.Table {
	t := &document.Table{Caption: caption, Columns: document.Columns("part of the arithmetic", a, b, "parameter")}
	for _, c := range changes {
		t.Add(ParameterInWords(c.Path), valueInWords(c.Path, c.From, absent(changes, c.Path, false)), valueInWords(c.Path, c.To, absent(changes, c.Path, true)), "`"+c.Path+"`")
	}
	return t
}

// absent reports whether a parameter belongs to a stage that the program changed from (or, if
// to is set, the one changed to) does not have.
func absent(changes []mma.Change, path string, to bool) bool {
	stage, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(changes, func(c mma.Change) bool {
		value := c.From
		if to {
			value = c.To
		}
		return c.Path == stage+".sum" && value == mma.Off.String()
	})
}

// valueInWords writes a rounding mode in words, and other values as they are.
func valueInWords(path, value string, absent bool) string {
	switch {
	case absent:
		return "no such sum"
	case (path == "join.cf" || path == "join.cmode") && (value == "" || value == "none" || value == mma.Frac(0).String()):
		return "as the other terms"
	}
	for m, words := range modeWords {
		if m.String() == value {
			return words + " (" + modeName(m) + ")"
		}
	}
	if value == "" {
		return "none"
	}
	return value
}

// OperandTable lists the operands of an input that are not all zero bits.
func OperandTable(in *Input) *document.Table {
	t := &document.Table{Columns: document.Columns("term", "a", "b", "codes", "scales")}
	f, d := in.Formats, in.Dot
	var zeros []int
	for k := range d.A {
		if d.A[k]|d.B[k] == 0 {
			zeros = append(zeros, k)
			continue
		}
		scales := ""
		if f.Scale != fp.None {
			i := k / int(f.Block)
			scales = decimal(f.Scale, d.SA[i]) + " × " + decimal(f.Scale, d.SB[i])
		}
		t.Add("p"+strconv.Itoa(k), decimal(f.A, d.A[k]), decimal(f.B, d.B[k]), "`"+mma.FormatCode(f.A, d.A[k])+"` × `"+mma.FormatCode(f.B, d.B[k])+"`", scales)
	}
	if len(zeros) > 0 {
		t.Add(strings.Join(Ranges("p", zeros), " "), "0", "0", "", "")
	}
	if f.C != fp.None {
		t.Add("c", decimal(f.C, d.C), "", "`"+mma.FormatCode(f.C, d.C)+"`", "")
	}
	if f.Scale == fp.None {
		t.Columns = t.Columns[:4]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:4]
		}
	}
	return t
}
