package defect

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// String names an effect for programs.
func (e *Effect) String() string {
	return fmt.Sprint(e.On, " ", e.Do, " ", e.N, " ", mma.Brief(e.Changes))
}

// String is the rule as a sentence: "the result is half of what it should be where rounding carries
// into the next power of two".
func (r *Rule) String() string {
	if r.Before != nil {
		after := *r
		after.Before = nil
		return r.Before.String() + "; and then " + after.String()
	}
	product, parts := r.conditions(r.Effect.scope() == OfSum)
	text := r.Effect.text(product)
	if len(parts) == 0 && (product == "" || r.Effect.ofProducts()) {
		return text
	}
	if r.Effect.ofProducts() {
		return text + " where " + strings.Join(parts, " and ")
	}
	return text + " where " + inScope(r.Scope, product, parts)
}

// Certain is the rule as a sentence without what is not known of its conditions, which depends on
// what was asked.
func (r Rule) Certain() string {
	before := ""
	if r.Before != nil {
		before = r.Before.Certain() + "; and then "
	}
	r.Before, r.When = nil, slices.Clone(r.When)
	for i := range r.When {
		r.When[i].Doubt = 0
	}
	return before + r.String()
}

// conditions returns the conditions in words, but for that on which product it is, or which sum if it may be one.
func (r *Rule) conditions(ofSum bool) (product string, parts []string) {
	for i := range r.When {
		switch c := &r.When[i]; {
		case c.Feature == "k" && c.Is == Equal:
			product = fmt.Sprintf("product %d", c.Value)
		case c.Feature == "step" && c.Is == Equal && ofSum:
			product = cmp.Or(c.Sum, fmt.Sprintf("sum %d", c.Value))
		default:
			parts = append(parts, c.String())
		}
	}
	return product, parts
}

// inScope are conditions on something in a scope, or on a product.
func inScope(s Scope, product string, parts []string) string {
	all := strings.Join(parts, " and ")
	switch {
	case product != "" && len(parts) == 0:
		return product + " is there"
	case product != "":
		return "in " + product + " " + all
	}
	return map[Scope]string{OfProduct: "in a product ", OfPair: "of two products ", OfSum: "in a sum "}[s] + all
}

// text says what is wrong; product names the only one in which it is.
func (e *Effect) text(product string) string {
	if e.On == OnProgram {
		return "the unit computes with " + mma.Brief(e.Changes)
	}
	if e.aligns() {
		return shiftText(e.Do, map[Place]string{OnShift: "each term", OnShiftP: "each product", OnShiftC: "c"}[e.On], e.N)
	}
	if e.On == OnPair {
		return e.pairText()
	}
	if e.On == OnSwap {
		i, j := e.pair()
		return fmt.Sprintf(swapped[e.Do], i, j)
	}
	if e.On == OnInf {
		if e.Do == firstProduct || e.Do == lastProduct {
			return "of infinities of opposite signs that of the " + e.Do + " is the result, to which c is added"
		}
		return "of infinities of opposite signs the " + e.Do + " one is the result"
	}
	if e.inAdder() {
		return e.adderText(product)
	}
	noun := map[Place]string{OnResult: "the result", OnC: "c", OnA: "a", OnB: "b", OnOperand: "each operand", OnProduct: "the operands", OnExact: "the product of the significands", OnSignificand: "the significand of each operand"}[e.On]
	switch {
	case e.On == OnRandom && e.Do == "plus" && e.N < 0:
		return fmt.Sprintf("%d is subtracted from the random bits", -e.N)
	case e.On == OnRandom && e.Do == "plus":
		return fmt.Sprintf("%d is added to the random bits", e.N)
	case e.On == OnRandom:
		noun = "the random operand"
	case e.ofProducts():
		of := product
		finite := e.On == OnExact && (e.Do == "saturate" || e.Do == "plus-zero") // which leave infinities and NaNs as they are
		switch {
		case of == "" && finite:
			of = "each finite product"
		case of == "":
			of = "each product"
		case finite:
			of += ", if finite,"
		}
		if noun += " of " + of; e.On == OnProduct && !e.reads() || e.On == OnExact && (e.Do == "rounded" || e.Do == "saturate" || e.Do == "plus-zero" || e.Do == "exp-carry" || exponents[e.Do] != nil) {
			noun = of
		}
	}
	if x := ofNeighbour[e.Do]; x.do != nil {
		own := product
		if own == "" {
			own = "each product"
		}
		return fmt.Sprintf("%s of %s is that of %s", x.part, own, (&Effect{Do: readsOther, N: e.N}).source())
	}
	if part := parts[e.Do]; part != nil {
		return part.name + " of " + noun + " is that of " + e.partSource()
	}
	if e.reads() {
		verb := " is"
		if e.On == OnProduct {
			verb = " are"
		}
		return noun + verb + " read from " + e.source()
	}
	if e.On == OnProduct && e.Do == "plus-zero" {
		return noun + " is lost"
	}
	if e.Do == "copy" {
		to, from := crossedBits(e.N)
		return fmt.Sprintf("bit %d of %s is that of bit %d", to, noun, from)
	}
	text := find(e.Do).text
	if e.Sign {
		text = strings.Replace(text, "bit %s", "the sign bit", 1)
	}
	return strings.Replace(strings.Replace(text, "%w", noun, 1), "%s", e.number(), 1)
}

// source is the product from which an operand is read.
func (e *Effect) source() string {
	switch {
	case e.Do == readsFixed:
		return fmt.Sprintf("product %d", e.N)
	case e.Do == readsBeside:
		return fmt.Sprintf("the product whose number differs in %s", bitsText(e.N))
	case e.N == 1:
		return "the product after it"
	case e.N == -1:
		return "the product before it"
	case e.N > 0:
		return fmt.Sprintf("the product %d places after it", e.N)
	}
	return fmt.Sprintf("the product %d places before it", -e.N)
}

// setDigits makes codes in a rule's text have all the digits of their format.
func (r *Rule) setDigits(f mma.Formats) {
	if r.Before != nil {
		r.Before.setDigits(f)
	}
	r.Effect.Digits = digits(f, coded[r.Effect.On])
	if id := formatOf(f, coded[r.Effect.On]); id != fp.None && !id.Get().Integer() && slices.Contains([]string{"set", "clear", "flip"}, r.Effect.Do) {
		r.Effect.Sign = id.Get().SignBit() == 1<<r.Effect.N
	}
	for i := range r.When {
		if c := &r.When[i]; c.Is == Equal || c.Is == Unequal {
			if of, what, _ := strings.Cut(c.Feature, "."); what == "code" || what == "mag" {
				c.Digits = digits(f, of)
			}
		}
	}
}

// digits are those of a code of an operand or result, by the name of its features; 0 if not known.
func digits(f mma.Formats, of string) int {
	if id := formatOf(f, of); id != fp.None {
		return id.Get().Digits()
	}
	return 0
}

func formatOf(f mma.Formats, of string) fp.ID {
	id := map[string]fp.ID{"a": f.A, "b": f.B, "c": f.C, "d": f.D, "sa": f.Scale, "sb": f.Scale}[of]
	if (of == "x" || of == "y") && f.A == f.B { // either factor
		id = f.A
	}
	return id
}

// coded are the operands and the result whose codes an effect may change.
var coded = map[Place]string{OnResult: "d", OnC: "c", OnA: "a", OnB: "b", OnOperand: "x"}

// number writes N as the text of its operation needs it.
func (e *Effect) number() string {
	much := func(more, less string) string {
		n, word := e.N, more
		if n < 0 {
			n, word = -n, less
		}
		if n == 1 {
			return "one unit in the last place " + word
		}
		return fmt.Sprintf("%d units in the last place %s", n, word)
	}
	switch e.Do {
	case "rounded":
		return strings.ToUpper(productModes[e.N].String())
	case "exp-modulo":
		bits, bias := exponentModulo(e.N)
		return fmt.Sprintf("taken modulo %d, with a bias of %d", 1<<bits, bias)
	case "exp-wrap":
		from, bits := exponentWrap(e.N)
		return fmt.Sprintf("%d too small where it is at least %d", 1<<bits, from)
	case "scale", "factor":
		switch e.N {
		case -1:
			return "half of"
		case 1:
			return "twice"
		}
		return fmt.Sprintf("2^%d times", e.N)
	case "field":
		if e.N < 0 {
			return fmt.Sprintf("%d too small", -e.N)
		}
		return fmt.Sprintf("%d too large", e.N)
	case "moved":
		if e.N < 0 {
			return places(-e.N) + " to the right"
		}
		return places(e.N) + " to the left"
	case "plus":
		return fmt.Sprintf("%+d", e.N)
	case "add":
		return much("too large", "too small")
	case "up":
		return much("too high", "too low")
	case "more-a", "more-b", "less-a", "less-b":
		return places(e.N)
	case splitBoth:
		bit, low := splitAt(e.N)
		return fmt.Sprintf("the low %d bits where the products of the low %d bits of one factor and the others of the other one are added", low, bit)
	case splitA, splitB:
		bit, low := splitAt(e.N)
		return fmt.Sprintf("the low %d bits where its parts with the low %d bits of %s and with the others are added", low, bit, map[string]string{splitA: "a", splitB: "b"}[e.Do])
	case roundsTo:
		id, _ := roundedSums(e.N)
		return id.String()
	case asOther:
		return fp.ID(e.N).String()
	case "cross-bytes":
		width, low, high := crossedGroups(e.N)
		return fmt.Sprintf("%d to %d and %d to %d", high*width+width-1, high*width, low*width+width-1, low*width)
	case "cross":
		low, high := crossedBits(e.N)
		return fmt.Sprintf("%d and %d", low, high)
	case "magnitude", "code", "xor", "and", "or":
		return fmt.Sprintf("%0*x", e.Digits, uint64(e.N))
	}
	return strconv.FormatInt(e.N, 10)
}

// places is a number of places in words.
func places(n int64) string {
	if n == 1 {
		return "one place"
	}
	return fmt.Sprintf("%d places", n)
}

var classWords = [...]string{"zero", "subnormal", "normal", "infinite", "a NaN"}

// thresholds are conditions on classes in words: at least this, at most this.
var thresholds = map[numberClass][2]string{
	isSubnormal: {"not zero", "zero or subnormal"},
	isNormal:    {"neither zero nor subnormal", "finite"},
	isInf:       {"not finite", "not a NaN"},
}

// featureOf finds a feature in the tables.
func featureOf(name string) *feature {
	for _, t := range [][]feature{caseFeatures, productFeatures, pairFeatures, stepFeatures, operandFeatures, eachFeatures} {
		for i := range t {
			if t[i].name == name {
				return &t[i]
			}
		}
	}
	return &feature{name: name, noun: name}
}

// String is a condition in words, with what is not known of it.
func (c *Condition) String() string {
	text := c.text()
	switch f := featureOf(c.Feature); {
	case c.Doubt == 0:
		return text
	case f.kind == code || c.Is == HasBits:
		if _, ok := oneBit(uint64(c.Doubt), 0); ok {
			return fmt.Sprintf("%s (not known: whether %s matters)", text, bitsText(c.Doubt))
		}
		return fmt.Sprintf("%s (not known: whether %s matter)", text, bitsText(c.Doubt))
	case c.Doubt < 0:
		return text + " (not known: " + map[Is]string{AtLeast: "below it", AtMost: "above it"}[c.Is] + ")"
	case c.Is == AtLeast:
		return fmt.Sprintf("%s (not known: from %d on)", text, c.Value-c.Doubt)
	}
	return fmt.Sprintf("%s (not known: up to %d)", text, c.Value+c.Doubt)
}

func (c *Condition) text() string {
	f := featureOf(c.Feature)
	is := map[Is]string{Equal: " is ", Unequal: " is not ", AtLeast: " is at least ", AtMost: " is at most "}[c.Is]
	switch {
	case c.Feature == "pair":
		return fmt.Sprintf("they are products %d and %d", c.Value/mostPairs, c.Value%mostPairs)
	case c.Feature == "pair.neg":
		return [...]string{"both are positive", "the first alone is negative", "the second alone is negative", "both are negative"}[c.Value&3]
	case f.kind == lanes && c.Value == 0:
		return strings.Replace(f.not, "%d", strconv.Itoa(bits.TrailingZeros64(uint64(c.Mask))), 1)
	case f.kind == lanes:
		return strings.Replace(f.noun, "%d", strconv.Itoa(bits.TrailingZeros64(uint64(c.Mask))), 1)
	case f.kind == flag && c.Value == 0:
		return f.not
	case f.kind == flag:
		return f.noun
	case f.kind == class && c.Is == AtLeast:
		return f.noun + " is " + thresholds[c.Value][0]
	case f.kind == class && c.Is == AtMost:
		return f.noun + " is " + thresholds[c.Value][1]
	case f.kind == class:
		return f.noun + is + classWords[c.Value]
	case (f.kind == code || strings.HasSuffix(f.name, ".mag")) && c.Is != HasBits:
		return fmt.Sprintf("%s%s%0*x", f.noun, is, c.Digits, uint64(c.Value))
	case c.Is != HasBits && c.Sum != "":
		return fmt.Sprint(f.noun, is, "that of ", c.Sum)
	case c.Is != HasBits:
		return fmt.Sprint(f.noun, is, c.Value)
	case (c.Feature == "k.bits" || f.kind == number) && c.Mask == 1:
		return f.noun + " is " + [...]string{"even", "odd"}[c.Value]
	case bits.OnesCount64(uint64(c.Mask)) == 1:
		return fmt.Sprintf("%s of %s is %d", bitsText(c.Mask), f.noun, truth(c.Value != 0))
	}
	n := bits.OnesCount64(uint64(c.Mask))
	switch low := c.Mask == 1<<n-1; {
	case low && f.kind == number:
		return fmt.Sprintf("%s modulo %d is %d", f.noun, c.Mask+1, c.Value)
	case low:
		return fmt.Sprintf("the low %d bits of %s are %x", n, f.noun, uint64(c.Value))
	}
	return fmt.Sprintf("%s masked with %x is %x", f.noun, uint64(c.Mask), uint64(c.Value))
}

// bitsText names the bits of a mask.
func bitsText(mask int64) string {
	if n, ok := oneBit(uint64(mask), 0); ok {
		return fmt.Sprintf("bit %d", n)
	}
	return fmt.Sprintf("the bits %x", uint64(mask))
}
