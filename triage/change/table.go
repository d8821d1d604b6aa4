package change

import (
	"path"
	"slices"
	"strings"
	"sync"

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
// has this name; such fields that have no place here come last. It is made when it is first
// used: programs that change nothing need not wait for its texts to be read.
var table = sync.OnceValue(func() []row {
	return withAlone([]row{
		{"number", by{Adjacent: fields("*", near(-1, 1))}},
		{"width", by{Decisions: fields("*.f *.frac join.cf join.cdrop", near(-3, -2, -1, 1, 2, 3)), Steps: widths}},
		{"mode", by{Decisions: fields("*mode", otherSet)}},
		{"floor", by{Decisions: fields("*.floor", near(-3, -2, -1, 1, 2, 3)), Steps: floors}},
		{"steps", by{Decisions: otherSteps, TermSteps: stepsAndLanes, Removals: plainSteps}},
		{"groups", by{Decisions: fields("*.group", halfAndDouble), TermSteps: shapes}},
		{"order", by{Decisions: fields("order", others), Removals: fields("order", absent)}},
		{"lanes", by{Decisions: lanes, Removals: lanes}},
		{"sums", by{Decisions: fields("*.sum", otherSet)}},
		{"split", by{Decisions: fields("*.split", others)}},
		{"flush inputs", by{Decisions: fields("in.sub in.c in.acc", others), Steps: edits("{keep zero plus-zero} in.sub=$ ; in.c=$ in.acc=*"), Removals: edits("in.sub=", "in.c= in.acc=", "in.acc<in.c")}},
		{"flush results", by{Decisions: fields("*.flush", others), Steps: rounded(".mode=@ .flush=*"), Removals: fields("*.flush", absent)}},
		{"product exponent", by{Decisions: fields("prod.exp", others), Steps: edits("{field-sum operand-sum normalised} prod.exp=$ ; prod.exp=$ prod.round= ; prod.exp=$ prod.round= in.widen="), Removals: fields("prod.exp", absent)}},
		{"product rounding", by{Decisions: productRounding}},
		{"overflow", by{Decisions: fields("[^i]*.over", otherRules), Steps: rounded("{inf ieee max} .mode=@ .over=$ ; .emax+-8..3 .over=$"), Removals: fields("[^i]*.over", absent)}},
		{"product overflow", by{Decisions: edits("prod.round.emax=", "~prod.round.emax ~prod.round.frac prod.round.emax=127")}},
		{"zero sign", by{Decisions: fields("special.negzero special.tinysign", others), Refinements: bothZeroSigns, Steps: zeroSigns, RareSteps: signsOfExactSums}},
		{"zero sign of roundings", by{RareSteps: signsOfRoundedSums}},
		{"nan code", by{Decisions: fields("special.nan", otherNaNs), Steps: nanCodes}},
		{"c left", by{Decisions: fields("special.cleft", others), Removals: fields("special.cleft", absent)}},
		{"drop", by{Decisions: drop, Steps: fields("join.cdrop", allInRangeOrAbsent), Removals: drop}},
		{"no floor", by{Decisions: fields("*.floor", absent), Removals: fields("*.floor", absent)}},
		{"new floor", by{Decisions: newFloor, Steps: fixedPoints}},
		{"exact", by{Decisions: edits("?join.align.f join= join.post<join.post", "~join.align.f join.align= join.align.f=23|24|25 join.align.mode=rz", "?stage0.align.f stage0.align=", "?stage1.align.f stage1.align="), Removals: edits("stage0.align=", "stage1.align=", "join.align=")}},
		{"c apart", by{Decisions: edits(apart, apart+" join.align=", apart+" join.align= "+roundLikeAcc), Steps: edits("~stage0 stage0.sum=fused stage0.align<join.align", "~stage0 stage0.sum=fused stage0.align<join.align join.align=")}},
		{"c joined", by{Decisions: edits("?stage0.sum=fused ~stage0.group ~stage1 stage0= join= join.align.f<stage0.align.f join.align.mode<stage0.align.mode join.align.floor<join.align.floor join.post<join.post"),
			Steps: edits("stage0<stage1 stage1<stage0",
				"?stage0 ?stage1 stage1= join.align<stage1.align", "?stage0 ~stage1 stage0= join.align<stage0.align",
				"?stage0 ?stage1 stage1= join.align<stage1.align join.cf<join.align.f join.cmode<join.align.mode",
				"?stage0 ~stage1 stage0= join.align<stage0.align join.cf<join.align.f join.cmode<join.align.mode",
				"?stage0 ~stage1 stage1.sum=fused stage1.align<stage0.align stage0.group=2 stage0.split="),
			Removals: edits(afterRounded("?leaf=first|last ?stage0.sum=fused ~stage1 leaf= stage0= join.align<stage0.align", "stage0.round")...)}},
		{"c late", by{Decisions: cLate, Steps: starts}},
		{"c early", by{Decisions: edits(cEarly...), Removals: edits(cEarly...)}},
		{"c cut", by{Decisions: cCut, Steps: edits("join.cf= join.cmode=", "{rz rne rd ru rna rto} join.cf= join.cmode=$ ; join.cmode=$", "join.cf=# join.cmode=?"), TermSteps: edits("~join.align.f ~join.cf join.align.f=# join.align.mode,join.cmode=rz|rne join.cf=64"), Removals: edits("join.cf= join.cmode=", "join.cf=", "join.align.f<join.cf join.align.mode<join.cmode join.cf= join.cmode=")}},
		{"scale place", by{Decisions: scalePlace, Steps: scalePlaces, Removals: scalePlace}},
		{"new stage", by{Decisions: edits("~stage0 ~l=1 ?join.align.f stage0.sum=fused stage0.group=2|4 stage0.align.f<join.align.f stage0.align.mode<join.align.mode",
			"~stage0 ~l=1 ?join.align.f stage0.sum=fused stage0.split=interleaved stage0.group=2 stage0.align.f<join.align.f stage0.align.mode<join.align.mode",
			"~stage0 ~l=1 stage0.sum=sequential|pairwise|pair-halves "+roundLikeAcc), TermSteps: newStages, RareSteps: newCuttingStages}},
		{"no stage", by{Decisions: edits("stage1=", "?stage0 stage0<stage1 stage1="), TermSteps: edits(noStages...), Removals: edits(slices.Concat(noStages,
			afterRounded("join.align<stage0.align stage0=", "stage0.round"), afterRounded("join.align<stage1.align stage1=", "stage1.round"),
			[]string{"{stage0 stage1} $.group= $.split= ; $.sum=fused ; $.fixed="})...)}},
		{"both stages", by{RareSteps: bothShapes}},
		{"fixed point", by{TermSteps: edits("stage1.fixed=* stage0.fixed=*"), RareSteps: boundedStages}},
		{"post", by{Decisions: edits("join.post=", "~join.post join.post.frac=31 join.post.mode=rz|rd join.post.emin=-126")}},
		{"no rounding", by{Steps: at(false, absentable, pathsOf(roundings), ".=", "{fp16 fp32 fp64} .= .emax=$"), Removals: fewerRoundings}},
		{"range", by{Steps: rounded(".emin+8..-3", ".emin= .flush=", ".emax= .over=", "{fp16 bf16 fp64} .emin=$ .emax=$ ; .emin=$ ; .emax=$"), Removals: plainRanges}},
		{"bare range", by{Steps: bareRanges, Removals: barerRanges}},
		{"result width", by{Decisions: resultWidth}},
		{"double rounding", by{Decisions: both(edits("?out acc<out out="), roundedTwice), Steps: doubleRoundings, Removals: edits("out=", "acc<out out=", "acc<out late<out out=")}},
		{"widen", by{Decisions: fields("in.widen", formats(fp.FP16, fp.FP32)), Steps: edits("{none fp16 bf16 fp32 fp64} in.widen=$ ; in.widen=$ in.sub=*"),
			Removals: fields("in.widen", absent)}},
		{"moved width", by{Steps: movedWidths}},
		{"moved rounding", by{Steps: movedRoundings}},
		{"rounded alone", by{Steps: roundedAlone}},
		{"moved alignment", by{Steps: both(movedAlignments, edits("join.cf<join.align.f join.cmode<join.align.mode join.align=",
			"join.align.f<join.cf join.align.mode<join.cmode join.cf<join.align.f join.cmode<join.align.mode",
			"join.align.f<join.cf join.align.mode<join.cmode join.cf= join.cmode="))}},
		{"steps of groups", by{Steps: stepsOfGroups}},
		{"groups of steps", by{Steps: groupsOfSteps}},
		{"lanes of groups", by{Steps: lanesOfGroups}},
		{"steps of lanes", by{TermSteps: stepsOfLanes}},
		{"narrow operands", by{Refinements: narrowest, Steps: narrows, Removals: edits("in.narrowc=", "in.a= in.b=", "in.a=", "in.b=")}},
		{"rounded twice", by{Refinements: convertedTwice}},
		{"sums of 16 bits", by{Refinements: shortIntegers}},
		{"zero points", by{Refinements: usualZeros, Steps: usualZeros, Removals: fields("in.zeroa in.zerob", absent), Exhaustive: anyZeros}},
		{"narrow c", by{Steps: narrowsOfC}},
		{"weight", by{Steps: fields("prod.shift", allInRangeOrAbsent), Removals: fields("prod.shift", absent)}},
		{"upper exponent", by{Adjacent: upperExponents, Refinements: fields("prod.up", others), Steps: fields("prod.up", others), Removals: upperExponents}},
		{name: "exponent of zeros"},
		{name: "zero gate"},
		{"sticky bit", by{Refinements: whereCut(".sticky=*"), Steps: stickyCuts, Removals: fields("*.sticky", absent)}},
		{"negation", by{Refinements: whereCut(".negate=*"), Steps: both(whereCut(".negate=*"), negationCuts), Removals: fields("*.negate", absent)}},
		{"size of sums", by{Refinements: shortSums, Steps: sumSizes, RareSteps: shortExactSums, Removals: edits("{stage0 stage1 join} $.align.bits= $.align.saturate= ; $.align.saturate=")}},
		{"wide window", by{RareSteps: wideWindows}},
		{name: "normalised c"},
		{name: "c beside"},
		{"c lost", by{Mistakes: lostInfinities, Steps: lostInfinities, Removals: fields("join.clost", absent)}},
		{"saturated infinity", by{Refinements: lastSaturation, Steps: at(false, roundingPaths, pathsOf(roundings), ".over=sat", ".mode=rz|rne .over=sat")}},
		{"passes", by{Steps: passes, RareSteps: rarePasses, Removals: edits("passes= together= in.rest=", "passes= together= in.rest= in.a= in.b=", "together=", "in.rest=")}},
		{"range of operands", by{Steps: narrowed(".= .over=sat", "{fp32 fp16} .= .frac=$ .mode=@ .to=$ .over=inf|sat", ".over=*"),
			RareSteps: narrowed("{fp32 fp16} .= .mode=@ .to=$ .over=inf|sat"), Removals: narrowed(".to=", ".over=")}},
		{"dropped terms", by{Steps: fields("*.drop", allInRangeOrAbsent), Removals: fields("*.drop", absent)}},
		{"sums of integers", by{Refinements: fields("*.plus", others), Steps: fields("*.plus", others), Removals: fields("*.plus", absent)}},
		{"infinite nans", by{Steps: infiniteNaNs, Removals: fields("in.naninf", absent)}},
		{"b first", by{Steps: fields("special.bfirst", others), Removals: fields("special.bfirst", absent)}},
		{"ones of nans", by{RareSteps: onesOfNaNs, Removals: fields("special.ones", absent)}},
		{"rounded scales", by{Steps: roundedScales, Removals: edits("scaleround=")}},
		{"first overflow", by{Steps: fields("prod.firstover", others), RareSteps: boundedProducts, Removals: fields("prod.firstover", absent)}},
		{"sums apart", by{Steps: fields("join.apart", others), Removals: fields("join.apart", absent)}},
		{"grid of c", by{Steps: gridsOfC, Removals: fields("join.cgrid", absent)}},
		{"merge", by{Refinements: merges, TermSteps: merges, Removals: fields("merge", absent)}},
		{"tail", by{Refinements: fields("tail", others), TermSteps: fields("tail", others), Removals: fields("tail", absent)}},
		{"leaf", by{Refinements: leaves, TermSteps: leaves, Removals: leaves}},
		{"deep groups", by{Refinements: fields("*.deep", others), TermSteps: fields("*.deep", others), Removals: fields("*.deep", absent)}},
		{"sorted groups", by{Refinements: fields("*.sort", others), TermSteps: fields("*.sort", others), Removals: fields("*.sort", absent)}},
		{"any value", by{Exhaustive: anyValues}},
		{"any rounding", by{Exhaustive: anyRounding}},
		{"any flush", by{Exhaustive: anyFlush}},
		{"any start", by{Exhaustive: starts}},
		{"any overflow", by{Exhaustive: anyOverflow}},
		{"any stage", by{Exhaustive: anyStage}},
		{"any rounded stage", by{Exhaustive: anyRoundedStage}},
		{"any adder", by{Exhaustive: anyAdder}},
		{"any operand", by{Exhaustive: anyNarrow}},
	})
})

// withAlone adds the changes of fields that are set alone: no unit of the catalogue uses them.
func withAlone(rows []row) []row {
	for _, f := range mma.Fields() {
		if f.Alone == "" || f.Numeric() { // a number has a row of its own
			continue
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == f.Alone })
		if i < 0 {
			i, rows = len(rows), append(rows, row{name: f.Alone})
		}
		values := fields(f.Path, anyValue)
		rows[i].by = by{Refinements: values, Steps: values, Removals: fields(f.Path, absent)}
	}
	return rows
}

// fields returns a change of each field whose path matches one of the patterns, which have
// blanks between them, to each of the values proposed for it.
func fields(patterns string, propose func(o *original, f mma.Field) []int) func(c *changer) {
	var all []mma.Field
	for _, f := range mma.Fields() {
		if slices.ContainsFunc(strings.Fields(patterns), func(p string) bool { ok, err := path.Match(p, f.Path); return ok && err == nil }) {
			all = append(all, f)
		}
	}
	return func(c *changer) {
		for _, f := range all {
			for _, v := range propose(&c.original, f) {
				c.set(f, v)
			}
		}
	}
}

// set gives a field a value, if it has such a value.
func (c *changer) set(f mma.Field, v int) {
	c.to(func(p *mma.Params) {
		if f.SetInt(p, v); f.Int(p) != v {
			*p = c.p
		}
	})
}

// cEarly is for programs that add c late: it starts the accumulator with c, or exchanges the
// two starts without c, zero and empty.
var cEarly = []string{"?start start= fixed", "?start start=zero|empty"}

const (
	// apart sums the products alone; what is added to their sum may then be cut in another way.
	apart = "~stage0 ~l=1 stage0.sum=fused stage0.align<join.align"
	// roundLikeAcc rounds sums to the accumulator's width, without its overflow and flush.
	roundLikeAcc = "stage0.round.frac<acc.frac stage0.round.mode<acc.mode stage0.round.emin<acc.emin stage0.round.emax<acc.emax"
)

// noStages takes either or both stages away.
var noStages = []string{"stage0= stage1=", "stage0<stage1 stage1=", "stage1="}

// afterRounded makes an edit that takes away sums with their rounding, alone or with that rounding
// in the place of the accumulator's: what is rounded already, to no more bits than the accumulator
// has and in no wider range, is not rounded again, and the mode of the second rounding says nothing.
func afterRounded(line, at string) []string {
	return []string{line,
		"?" + at + ".frac " + line + " acc<" + at,
		"?" + at + ".frac " + line + " acc.frac<" + at + ".frac acc.mode<" + at + ".mode"}
}

// rounded makes edits of every rounding that rounds something.
func rounded(lines ...string) func(c *changer) {
	return at(true, roundingPaths, pathsOf(roundings), lines...)
}

func roundingPaths(c *changer) (all []string) {
	for _, r := range c.rounds() {
		all = append(all, r.path)
	}
	return all
}

// absentable are the roundings that a program reaches and can do without.
func absentable(c *changer) (all []string) {
	for _, r := range c.used(inner) {
		if !r.last {
			all = append(all, r.path)
		}
	}
	return all
}

func pathsOf(all []rounding) (paths []string) {
	for _, r := range all {
		paths = append(paths, r.path)
	}
	return paths
}

// whereCut makes edits of every alignment that cuts something.
func whereCut(lines ...string) func(c *changer) {
	cutting := func(c *changer) (all []string) {
		for _, a := range c.cutting() {
			all = append(all, a.path)
		}
		return all
	}
	return at(false, cutting, []string{"stage0.align", "stage1.align", "join.align"}, lines...)
}

// narrowed makes edits of operands that a program may narrow: of both factors alike, of each,
// and of c.
func narrowed(lines ...string) func(c *changer) {
	all := []string{"in.a in.b", "in.a in.b in.narrowc", "in.narrowc", "in.a", "in.b"}
	return at(false, func(*changer) []string { return all }, all, lines...)
}

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
		return v > int(mma.NaNLarger) || v > int(mma.NaNFirst) && !o.p.Special.OperandNaN()
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
