package defect

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestCodes checks that codes in a rule have the digits of their format.
func TestCodes(t *testing.T) {
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	mixed := mma.Formats{A: fp.E4M3, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	when := func(feature string) []Condition { return []Condition{{Feature: feature, Is: Equal, Value: 1}} }
	doubt := func(bits int64) []Condition {
		return []Condition{{Feature: "a.code", Is: Equal, Value: 1, Doubt: bits}}
	}
	for _, c := range []struct {
		f    mma.Formats
		r    Rule
		want string
	}{
		{half, Rule{Scope: OfProduct, When: when("a.code"), Effect: Effect{On: OnResult, Do: "code", N: 0x10}}, "the result is 00000010 where in a product a is 0001"},
		{half, Rule{Scope: OfProduct, When: when("x.code"), Effect: Effect{On: OnOperand, Do: "code", N: 2}}, "each operand of each product is 0002 where it is 0001"},
		{mixed, Rule{Scope: OfProduct, When: when("x.code"), Effect: Effect{On: OnOperand, Do: "code", N: 2}}, "each operand of each product is 2 where it is 1"},
		{half, Rule{Scope: OfSum, When: when("step"), Effect: Effect{On: OnSum, Do: "rz"}}, "sum 1 is rounded by RZ"}, // the second: pictures count from 0
		{mixed, Rule{When: when("c.mag"), Effect: Effect{On: OnA, Do: "xor", N: 4}}, "the bits 04 of a of each product are inverted where the code of the magnitude of c is 00000001"},
		{half, Rule{When: doubt(2), Effect: Effect{On: OnA, Do: "xor", N: 4}}, "the bits 0004 of a of each product are inverted where a is 0001 (not known: whether bit 1 matters)"},
		{half, Rule{When: doubt(6), Effect: Effect{On: OnA, Do: "xor", N: 4}}, "the bits 0004 of a of each product are inverted where a is 0001 (not known: whether the bits 6 matter)"},
	} {
		if c.r.setDigits(c.f); c.r.String() != c.want {
			t.Errorf("%s, want %s", &c.r, c.want)
		}
	}
}

// TestSumNames checks what sums are called whose numbers nobody can look up.
func TestSumNames(t *testing.T) {
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	turns := mma.FMA(fp.FP32)
	turns.L, turns.Lanes, turns.Late = 1, 8, turns.Acc
	wide := mma.FMA(fp.FP32)
	wide.L = 8
	for _, c := range []struct {
		program mma.Params
		n       int64
		want    string
	}{
		{turns, 14, "the sum that adds product 19 (step 14; the 3rd of accumulator 3) is rounded by RZ"},
		{turns, 40, "sum 40 is rounded by RZ"}, // which is none
		{wide, 2, "the sum that adds products 16 to 23 (step 2) is rounded by RZ"},
	} {
		m, err := sim.New(half, 32, c.program)
		if err != nil {
			t.Fatal(err)
		}
		r := Rule{Scope: OfSum, When: []Condition{{Feature: "step", Is: Equal, Value: c.n}}, Effect: Effect{On: OnSum, Do: "rz"}}
		if r.setSums(m, mma.NewDot(half, 32)); r.String() != c.want {
			t.Errorf("%s, want %s", &r, c.want)
		}
	}
}

// TestCertain: what is not known of a condition depends on the inputs that were asked, and identifies no rule.
func TestCertain(t *testing.T) {
	rule := func(doubt int64) Rule {
		when := []Condition{{Feature: "c.exp", Is: AtLeast, Value: 7, Doubt: doubt}}
		return Rule{When: when, Effect: Effect{On: OnA, Do: "negate"}, Before: &Rule{When: when, Effect: Effect{On: OnB, Do: "negate"}}}
	}
	sure, unsure := rule(0), rule(3)
	if sure.String() == unsure.String() {
		t.Error("a doubt is not said")
	}
	if sure.Certain() != sure.String() || unsure.Certain() != sure.Certain() {
		t.Errorf("%q and %q, of %q", unsure.Certain(), sure.Certain(), &sure)
	}
	if unsure.When[0].Doubt != 3 {
		t.Error("the rule has lost its doubt")
	}
}
