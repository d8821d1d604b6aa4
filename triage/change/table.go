package change

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// row is one idea of a change, with the mutants that it makes in each breadth; nil: none.
type row struct {
	name string
	by   [breadths]func(c *changer)
}

type by = [breadths]func(c *changer)

// table lists all changes. Plain fields come first, so that a mutant that is one field away
// has the name of that change. A row of a name alone is the place of a field whose own row
// has this name; such fields that have no place here come last.
var table = withAlone([]row{
	{"number", by{Adjacent: fields(isNumber, near(-1, 1))}},
	{"width", by{Decisions: fields(isWidth, near(-3, -2, -1, 1, 2, 3)), Steps: widths}},
	{"mode", by{Decisions: fields(isMode, otherSet)}},
	{"floor", by{Decisions: fields(isFloor, near(-3, -2, -1, 1, 2, 3)), Steps: floors}},
	{"steps", by{Decisions: otherSteps, TermSteps: stepsAndLanes, Removals: plainSteps}},
	{"groups", by{Decisions: fields(isGroup, halfAndDouble), TermSteps: shapes}},
	{"order", by{Decisions: fields(is("order"), others), Removals: fields(is("order"), absent)}},
	{"lanes", by{Decisions: lanes, Removals: lanes}},
	{"sums", by{Decisions: fields(isSum, otherSet)}},
	{"split", by{Decisions: fields(isSplit, others)}},
	{"flush inputs", by{Decisions: fields(isInFlush, others), Steps: inputFlushes, Removals: fewerInputFlushes}},
	{"flush results", by{Decisions: fields(isOutFlush, others), Steps: resultFlushes, Removals: fields(isOutFlush, absent)}},
	{"product exponent", by{Decisions: fields(is("prod.exp"), others), Steps: productExponents, Removals: fields(is("prod.exp"), absent)}},
	{"product rounding", by{Decisions: productRounding}},
	{"overflow", by{Decisions: fields(isOver, otherRules), Steps: overflows, Removals: fields(isOver, absent)}},
	{"product overflow", by{Decisions: productOverflow}},
	{"zero sign", by{Decisions: fields(isZeroSign, others), Steps: zeroSigns, RareSteps: signsOfExactSums}},
	{"zero sign of roundings", by{RareSteps: signsOfRoundedSums}},
	{"nan code", by{Decisions: fields(is("special.nan"), otherNaNs), Steps: nanCodes}},
	{"c left", by{Decisions: fields(is("special.cleft"), others), Removals: fields(is("special.cleft"), absent)}},
	{"drop", by{Decisions: drop, Steps: fields(is("join.cdrop"), wholeOrAbsent), Removals: drop}},
	{"no floor", by{Decisions: fields(isFloor, absent), Removals: fields(isFloor, absent)}},
	{"new floor", by{Decisions: newFloor, Steps: fixedPoints}},
	{"exact", by{Decisions: exactSums, Removals: uncut}},
	{"c apart", by{Decisions: cApart, Steps: productsApart}},
	{"c joined", by{Decisions: cJoined, Steps: productsJoined, Removals: leafJoined}},
	{"c late", by{Decisions: cLate, Steps: starts}},
	{"c early", by{Decisions: cEarly, Removals: cEarly}},
	{"c cut", by{Decisions: cCut, Steps: cCuts, TermSteps: termsCut, Removals: cCutLikeTerms}},
	{"scale place", by{Decisions: scalePlace, Steps: scalePlaces, Removals: scalePlace}},
	{"new stage", by{Decisions: newStage, TermSteps: newStages, RareSteps: newCuttingStages}},
	{"no stage", by{Decisions: noStage, TermSteps: noStages, Removals: simplerStages}},
	{"both stages", by{RareSteps: bothShapes}},
	{"fixed point", by{TermSteps: fixedStages, RareSteps: boundedStages}},
	{"post", by{Decisions: post}},
	{"no rounding", by{Steps: noRounding, Removals: fewerRoundings}},
	{"range", by{Steps: ranges, Removals: plainRanges}},
	{"bare range", by{Steps: bareRanges, Removals: barerRanges}},
	{"result width", by{Decisions: resultWidth}},
	{"double rounding", by{Decisions: doubleRounding, Steps: doubleRoundings, Removals: singleRounding}},
	{"widen", by{Decisions: fields(is("in.widen"), formats(fp.FP16, fp.FP32)), Steps: widenings,
		Removals: fields(is("in.widen"), absent)}},
	{"moved width", by{Steps: movedWidths}},
	{"moved rounding", by{Steps: movedRoundings}},
	{"rounded alone", by{Steps: roundedAlone}},
	{"moved alignment", by{Steps: movedAlignments}},
	{"steps of groups", by{Steps: stepsOfGroups}},
	{"groups of steps", by{Steps: groupsOfSteps}},
	{"lanes of groups", by{Steps: lanesOfGroups}},
	{"steps of lanes", by{TermSteps: stepsOfLanes}},
	{"narrow operands", by{Refinements: narrowest, Steps: narrows, Removals: fewerNarrows}},
	{"narrow c", by{Steps: narrowsOfC}},
	{"upper exponent", by{Adjacent: upperExponents, Refinements: fields(is("prod.up"), others), Steps: fields(is("prod.up"), others), Removals: upperExponents}},
	{name: "exponent of zeros"},
	{name: "zero gate"},
	{"sticky bit", by{Refinements: stickyBits, Steps: stickyCuts, Removals: fields(isSticky, absent)}},
	{"negation", by{Refinements: negations, Steps: negationCuts, Removals: fields(isNegate, absent)}},
	{"size of sums", by{Refinements: shortSums, Steps: sumSizes, RareSteps: shortExactSums, Removals: wholeSums}},
	{"wide window", by{RareSteps: wideWindows}},
	{name: "normalised c"},
	{name: "c beside"},
	{"c lost", by{Mistakes: lostInfinities, Steps: lostInfinities, Removals: fields(is("join.clost"), absent)}},
	{"saturated infinity", by{Refinements: lastSaturation, Steps: saturations}},
	{"passes", by{Steps: passes, RareSteps: rarePasses, Removals: fewerPasses}},
	{"range of operands", by{Steps: operandRanges, RareSteps: narrowRanges, Removals: fewerRanges}},
	{"dropped terms", by{Steps: fields(isDrop, wholeOrAbsent), Removals: fields(isDrop, absent)}},
	{"sums of integers", by{Refinements: fields(isPlus, others), Steps: fields(isPlus, others), Removals: fields(isPlus, absent)}},
	{"infinite nans", by{Steps: infiniteNaNs, Removals: fields(is("in.naninf"), absent)}},
	{"b first", by{Steps: fields(is("special.bfirst"), others), Removals: fields(is("special.bfirst"), absent)}},
	{"ones of nans", by{RareSteps: onesOfNaNs, Removals: fields(is("special.ones"), absent)}},
	{"rounded scales", by{Steps: roundedScales, Removals: fewerScaleRounds}},
	{"first overflow", by{Steps: fields(is("prod.firstover"), others), RareSteps: boundedProducts, Removals: fields(is("prod.firstover"), absent)}},
	{"sums apart", by{Steps: fields(is("join.apart"), others), Removals: fields(is("join.apart"), absent)}},
	{"grid of c", by{Steps: gridsOfC, Removals: fields(is("join.cgrid"), absent)}},
	{"merge", by{Refinements: merges, TermSteps: merges, Removals: fields(is("merge"), absent)}},
	{"tail", by{Refinements: fields(is("tail"), others), TermSteps: fields(is("tail"), others), Removals: fields(is("tail"), absent)}},
	{"leaf", by{Refinements: leaves, TermSteps: leaves, Removals: leaves}},
	{"deep groups", by{Refinements: fields(isDeep, others), TermSteps: fields(isDeep, others), Removals: fields(isDeep, absent)}},
	{"sorted groups", by{Refinements: fields(isSort, others), TermSteps: fields(isSort, others), Removals: fields(isSort, absent)}},
	{"any value", by{Whole: anyValues}},
	{"any rounding", by{Whole: anyRounding}},
	{"any flush", by{Whole: anyFlush}},
	{"any start", by{Whole: starts}},
	{"any overflow", by{Whole: anyOverflow}},
	{"any stage", by{Whole: anyStage}},
	{"any rounded stage", by{Whole: anyRoundedStage}},
	{"any adder", by{Whole: anyAdder}},
	{"any operand", by{Whole: anyNarrow}},
})

// withAlone adds the changes of fields that are set alone: no unit of the catalogue uses them.
func withAlone(rows []row) []row {
	for _, f := range mma.Fields() {
		if f.Alone == "" {
			continue
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == f.Alone })
		if i < 0 {
			i, rows = len(rows), append(rows, row{name: f.Alone})
		}
		values := fields(is(f.Path), anyValue)
		rows[i].by = by{Refinements: values, Steps: values, Removals: fields(is(f.Path), absent)}
	}
	return rows
}

// fields returns a change of each field that is chosen to each of the values proposed
// for it.
func fields(choose func(path string) bool, propose func(o *original, f mma.Field) []int) func(c *changer) {
	return func(c *changer) {
		for _, f := range mma.Fields() {
			if !choose(f.Path) {
				continue
			}
			for _, v := range propose(&c.original, f) {
				c.to(func(p *mma.Params) {
					if f.SetInt(p, v); f.Int(p) != v { // the field has no such value
						*p = c.p
					}
				})
			}
		}
	}
}

func is(path string) func(string) bool {
	return func(other string) bool { return path == other }
}

func isWidth(path string) bool {
	return strings.HasSuffix(path, ".f") || strings.HasSuffix(path, ".frac") || path == "join.cf" || path == "join.cdrop"
}
func isMode(path string) bool     { return strings.HasSuffix(path, "mode") }
func isFloor(path string) bool    { return strings.HasSuffix(path, ".floor") }
func isGroup(path string) bool    { return strings.HasSuffix(path, ".group") }
func isSum(path string) bool      { return strings.HasSuffix(path, ".sum") }
func isSplit(path string) bool    { return strings.HasSuffix(path, ".split") }
func isInFlush(path string) bool  { return path == "in.sub" || path == "in.c" || path == "in.acc" }
func isOutFlush(path string) bool { return strings.HasSuffix(path, ".flush") }
func isOver(path string) bool {
	return strings.HasSuffix(path, ".over") && !strings.HasPrefix(path, "in.")
}
func isDrop(path string) bool     { return strings.HasSuffix(path, ".drop") }
func isPlus(path string) bool     { return strings.HasSuffix(path, ".plus") }
func isSticky(path string) bool   { return strings.HasSuffix(path, ".sticky") }
func isNegate(path string) bool   { return strings.HasSuffix(path, ".negate") }
func isZeroSign(path string) bool { return path == "special.negzero" || path == "special.tinysign" }

// others proposes every other value of an enumeration.
func others(o *original, f mma.Field) []int {
	return slices.DeleteFunc(f.Values(), func(v int) bool { return v == f.Int(&o.p) })
}

// otherRules proposes every other overflow rule but that for infinities.
func otherRules(o *original, f mma.Field) []int {
	return slices.DeleteFunc(others(o, f), func(v int) bool { return v == int(mma.OverSat) })
}

// otherSet proposes, if an enumeration is not 0, every other value except 0.
func otherSet(o *original, f mma.Field) []int {
	if f.Int(&o.p) == 0 {
		return nil
	}
	return slices.DeleteFunc(others(o, f), func(v int) bool { return v == 0 })
}

// absent proposes 0, which means absent.
func absent(*original, mma.Field) []int { return []int{0} }

// otherNaNs proposes every other NaN rule up to NaNLarger; of the orders of operands only
// NaNFirst, unless there is an order already.
func otherNaNs(o *original, f mma.Field) []int {
	return slices.DeleteFunc(others(o, f), func(v int) bool {
		return v > int(mma.NaNLarger) || v > int(mma.NaNFirst) && !o.p.Special.NaN.Operand()
	})
}

// formats proposes conversions of operands: none, or to a format.
func formats(all ...fp.ID) func(*original, mma.Field) []int {
	return func(*original, mma.Field) []int {
		vals := []int{int(fp.None)}
		for _, id := range all {
			vals = append(vals, int(id))
		}
		return vals
	}
}
