package triage

import (
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Label names a cause.
type Label string

// The labels, from the inside of a computation to its outside: operands, products, terms
// as they are cut, sums as they are put together, the result. Where each of several
// labels alone explains a case, the first one is its primary cause: the later parts of the
// computation only pass on, or hide, a difference that arises there.
const (
	InputFTZ             Label = "input-ftz"             // subnormal inputs flushed
	Signedness           Label = "signedness"            // integers read with or without a sign
	ZeroPoint            Label = "zero-point"            // integer that stands for 0
	OperandRounding      Label = "operand-rounding"      // operands rounded, split or limited in range before they are multiplied
	ProductHandling      Label = "product-handling"      // products rounded or normalised
	Overflow             Label = "overflow"              // when and to what a number overflows
	TruncationWidth      Label = "truncation-width"      // bits kept below the largest exponent
	AlignmentRounding    Label = "alignment-rounding"    // how terms are cut there
	RoundingAsymmetry    Label = "rounding-asymmetry"    // cut or rounded toward minus or plus infinity
	ZeroExponent         Label = "zero-exponent"         // exponent of zero terms, floor of the alignment
	ComplementNegation   Label = "complement-negation"   // terms negated without the carry
	SpecialTruncation    Label = "special-truncation"    // small terms or a small accumulator are dropped
	LostInfinity         Label = "lost-infinity"         // an infinite or NaN accumulator is dropped
	FusionWidth          Label = "fusion-width"          // terms in one fused sum
	AccumulatePlacement  Label = "accumulate-placement"  // where c enters
	SummationOrder       Label = "summation-order"       // sequence, tree, interleaving
	IntermediateRounding Label = "intermediate-rounding" // a sum rounded before it is added further or becomes the result
	OutputRounding       Label = "output-rounding"       // rounding of the result
	OutputFTZ            Label = "output-ftz"            // subnormal results flushed
	SignedZero           Label = "signed-zero"           // sign of zero results
	NaNEncoding          Label = "nan-encoding"          // code of NaN results, how NaN operands are read
	NaNCode              Label = "nan-code"              // codes of two NaNs that no program gives
	Layout               Label = "layout"                // the result depends on where the dot product stands
	Defect               Label = "defect"                // an error under a condition: package defect
	Schedule             Label = "schedule"              // which products are added where: package sim/schedule
	FlagInvalid          Label = "flag-invalid"          // an IEEE 754 exception on one side only
	FlagDivideByZero     Label = "flag-divide-by-zero"
	FlagOverflow         Label = "flag-overflow"
	FlagUnderflow        Label = "flag-underflow"
	FlagInexact          Label = "flag-inexact"
	Unexplained          Label = "unexplained"
)

// Ruled reports whether a label's causes are told apart by a rule in words, not by changes of programs.
func (l Label) Ruled() bool { return l == Defect || l == Layout || l == Schedule }

// Open reports whether a label's cases are differences that no change, rule or defect explains.
func (l Label) Open() bool { return l == Unexplained || l == NaNCode }

// LabelDoc is a label with what it stands for.
type LabelDoc struct {
	Label Label
	Doc   string
}

// Labels lists the labels with what they stand for, in their order.
func Labels() []LabelDoc { return labelDocs }

var labelDocs = []LabelDoc{
	{InputFTZ, "subnormal inputs flushed to zero"},
	{Signedness, "signed integers read as unsigned, or the other way round"},
	{ZeroPoint, "an integer subtracted from the operands on one side only, or another one"},
	{OperandRounding, "operands rounded, split or limited in range before they are multiplied or added"},
	{ProductHandling, "products rounded, normalised, or of another exponent"},
	{Overflow, "where and to what operands, products, sums or results overflow"},
	{TruncationWidth, "bits kept below the largest exponent of a sum"},
	{AlignmentRounding, "how terms are cut at the end of the sum's window"},
	{RoundingAsymmetry, "terms or sums rounded toward minus or plus infinity"},
	{ZeroExponent, "exponent of terms that are zero or subnormal: floor of the alignment"},
	{ComplementNegation, "terms of a sum negated without the carry of two's complement"},
	{SpecialTruncation, "small terms, or a small accumulator, are dropped altogether"},
	{LostInfinity, "an infinite or NaN accumulator is dropped beside finite products"},
	{FusionWidth, "number of products added in one fused sum"},
	{AccumulatePlacement, "where c enters the sum"},
	{SummationOrder, "sequence or tree of additions, interleaved groups"},
	{IntermediateRounding, "a sum rounded before it is added further or becomes the result"},
	{OutputRounding, "mode or width of the rounding to the result"},
	{OutputFTZ, "subnormal products, sums or results flushed to zero"},
	{SignedZero, "sign of a zero result"},
	{NaNEncoding, "code of a NaN result, reading of NaN operands"},
	{NaNCode, "two NaNs of different codes, which no change that was tried gives"},
	{Layout, "the result depends on the position in the tile, on its other elements, or on what came before"},
	{Defect, "an error in a unit that is right otherwise"},
	{Schedule, "how the sum of all products is cut, ordered and rounded in between, and what becomes of it"},
	{FlagInvalid, "invalid operation (a signalling NaN, Inf*0, Inf-Inf) raised on one side only"},
	{FlagDivideByZero, "division by zero raised on one side only"},
	{FlagOverflow, "overflow raised on one side only"},
	{FlagUnderflow, "underflow (a result that is tiny and inexact) raised on one side only"},
	{FlagInexact, "inexact raised on one side only"},
	{Unexplained, "no change that was tried explains the difference"},
}

// directedModes are the labels of parameters whose change to or from a directed mode is a
// cause of its own.
var directedModes = []Label{AlignmentRounding, IntermediateRounding, OutputRounding}

// asymmetric reports whether a change of mode brings in or takes away a rounding that treats
// the signs differently.
func asymmetric(c mma.Change) bool {
	return slices.ContainsFunc([]string{c.From, c.To}, func(m string) bool { return m == fp.RD.String() || m == fp.RU.String() })
}

// fusedStage refines the appearance or disappearance of a stage: a fused sum of all
// products, without c, is a matter of c's place; fused sums of groups are a matter of
// their size.
func fusedStage(c mma.Change, p, q *mma.Params) Label {
	with := q
	if c.To == "off" {
		with = p
	}
	s := with.Stage0
	if c.Path == "stage1.sum" {
		s = with.Stage1
	}
	switch {
	case c.From != "off" && c.To != "off" || s.Sum != mma.Fused:
		return SummationOrder
	case s.Group == 0:
		return AccumulatePlacement
	case s.Split == mma.Interleaved:
		return SummationOrder
	}
	return FusionWidth
}

// LabelsOf returns the labels of the difference between two programs, sorted by name. The
// fields of a part that is absent in one of them (a stage, a rounding, the
// additions after the last step) count as that part's appearance alone.
func LabelsOf(p, q *mma.Params) []Label {
	var labels []Label
	for _, part := range Parts(p, q) {
		if !slices.Contains(labels, part.Label) {
			labels = append(labels, part.Label)
		}
	}
	slices.Sort(labels)
	return labels
}

// changedParts groups the fields in which two programs differ into parts that
// appear, disappear or change as one; the first change of a part is the one that
// its label is about.
func changedParts(p, q *mma.Params) [][]mma.Change {
	changes := mma.Diff(p, q)
	index := map[string]int{}
	var parts [][]mma.Change
	follow := overflowsFollow(p, q)
	add := func(root string, c mma.Change) {
		i, ok := index[root]
		if !ok {
			i = len(parts)
			index[root] = i
			parts = append(parts, nil)
		}
		if c.Path == root {
			parts[i] = slices.Insert(parts[i], 0, c)
		} else {
			parts[i] = append(parts[i], c)
		}
	}
	for _, c := range changes {
		root := rootOf(c.Path, changes)
		if round, ok := strings.CutSuffix(root, ".over"); ok && slices.Contains(follow, round) {
			root = round + ".mode"
		}
		add(root, c)
	}
	return parts
}

// overflowsFollow returns the paths of the roundings of which both the mode and the overflow differ
// between two programs, and which overflow in both as IEEE 754 requires for the mode. There the
// overflow follows from the mode, and is no change of its own.
func overflowsFollow(p, q *mma.Params) (paths []string) {
	asIEEE := func(r *mma.Round) bool {
		switch r.Mode {
		case fp.RNE, fp.RNA:
			return r.Over == mma.OverInf || r.Over == mma.OverIEEE
		case fp.RZ, fp.RTO:
			return r.Over == mma.OverMax || r.Over == mma.OverIEEE
		}
		return r.Over == mma.OverIEEE
	}
	for _, x := range []struct {
		path string
		p, q *mma.Round
	}{
		{"prod.round", &p.Prod.Round, &q.Prod.Round}, {"stage0.round", &p.Stage0.Round, &q.Stage0.Round}, {"stage1.round", &p.Stage1.Round, &q.Stage1.Round},
		{"join.post", &p.Join.Post, &q.Join.Post}, {"acc", &p.Acc, &q.Acc}, {"late", &p.Late, &q.Late}, {"out", &p.Out, &q.Out},
	} {
		if x.p.Mode != x.q.Mode && x.p.Over != x.q.Over && asIEEE(x.p) && asIEEE(x.q) {
			paths = append(paths, x.path)
		}
	}
	return paths
}

// rootOf returns the path of the field that a changed field belongs to: itself,
// or the one that makes its part appear or disappear.
func rootOf(path string, changes []mma.Change) string {
	appears := func(root, absent string) bool {
		return slices.ContainsFunc(changes, func(c mma.Change) bool {
			return c.Path == root && (c.From == absent || c.To == absent)
		})
	}
	for _, stage := range []string{"stage0", "stage1"} {
		if strings.HasPrefix(path, stage+".") && appears(stage+".sum", "off") {
			return stage + ".sum"
		}
	}
	if strings.HasPrefix(path, "late.") && appears("late.frac", "exact") {
		if appears("start", "c") {
			return "start"
		}
		return "lanes"
	}
	if (path == "merge" || path == "tail") && appears("lanes", "0") {
		return "lanes"
	}
	if strings.HasPrefix(path, "acc.") && appears("out.frac", "exact") {
		return "out.frac" // double rounding
	}
	for _, round := range []string{"prod.round", "stage0.round", "stage1.round", "join.post", "out"} {
		if strings.HasPrefix(path, round+".") && appears(round+".frac", "exact") {
			return round + ".frac"
		}
	}
	if align, ok := strings.CutSuffix(path, ".mode"); ok && appears(align+".f", "exact") {
		return align + ".f"
	}
	if align, ok := strings.CutSuffix(path, ".saturate"); ok && appears(align+".bits", "0") {
		return align + ".bits"
	}
	if operand, ok := strings.CutSuffix(path, ".mode"); ok && appears(operand+".frac", "exact") {
		return operand + ".frac"
	}
	if strings.HasPrefix(path, "in.a.") || strings.HasPrefix(path, "in.b.") || path == "in.rest" || path == "together" {
		if appears("passes", "none") {
			return "passes"
		}
	}
	if path == "join.cmode" && appears("join.cf", "exact") {
		return "join.cf"
	}
	return path
}

// labelOf returns the label of a change: the one in the row of its parameter in package mma, or a
// more specific one.
func labelOf(c mma.Change, p, q *mma.Params) Label {
	f, ok := mma.FindField(c.Path)
	if !ok {
		return Unexplained
	}
	label := Label(f.Label)
	switch {
	case c.Path == "start" && !placesC(p, q):
		return SignedZero
	case slices.Contains(ranges, label) && integers(p) && integers(q):
		return Overflow
	case strings.HasSuffix(c.Path, ".sum"):
		return fusedStage(c, p, q)
	case label == FusionWidth && c.Path != "together" && !fuses(p) && !fuses(q):
		return SummationOrder
	case limitsAlone(c.Path, p, q):
		return Overflow
	case flushesAlone(c.Path, p, q):
		return OutputFTZ
	case strings.HasSuffix(c.Path, "mode") && slices.Contains(directedModes, label) && asymmetric(c):
		return RoundingAsymmetry
	}
	return label
}

// limitsAlone reports whether a parameter is acc.mode, the mode in which a step's result is rounded, and
// in both programs join.post has rounded the sum to as few bits before: then the mode only decides what
// becomes of numbers that are too large.
func limitsAlone(path string, p, q *mma.Params) bool {
	exact := func(p *mma.Params) bool {
		before, at := p.Join.Post, p.Acc
		return !p.Join.Apart && before.Frac != 0 && before.Frac <= at.Frac && (!at.HasEmin() || before.HasEmin() && before.Emin >= at.Emin)
	}
	return path == "acc.mode" && exact(p) && exact(q)
}

// flushesAlone reports whether a parameter is one of the rounding of the final result, which only one of the programs
// has, and which changes no result of the last step but those that it flushes to zero.
func flushesAlone(path string, p, q *mma.Params) bool {
	out := p.Out
	if out == (mma.Round{}) {
		out = q.Out
	}
	if p.Out != (mma.Round{}) && q.Out != (mma.Round{}) || !strings.HasPrefix(path, "out.") || out.Flush == mma.NoFlush {
		return false
	}
	flushed := func(r mma.Round) mma.Round { r.Flush, r.Over = out.Flush, out.Over; return r }
	return flushed(p.Acc) == out && flushed(q.Acc) == out
}

// ranges are the labels of parameters that say which terms are added when, or how a sum is rounded. Sums
// of integers lose no bits: for them, these parameters only decide which sums leave their range, and so
// saturate or wrap around.
var ranges = []Label{FusionWidth, SummationOrder, AccumulatePlacement, IntermediateRounding, OutputRounding}

// integers reports whether a program's results are integers.
func integers(p *mma.Params) bool { return p.Acc.Emax < p.Acc.Emin }

// fuses reports whether a program adds several products in one fused sum. One that adds two
// numbers at a time, each sum rounded, does not, however many products a step has.
func fuses(p *mma.Params) bool {
	terms := p.Step(math.MaxUint8)
	for _, s := range []mma.Stage{p.Stage0, p.Stage1} {
		switch {
		case s.Sum == mma.Fused:
			return true
		case s.Sum == mma.Off:
		case s.Deep || s.Group == 0:
			terms = 1
		case s.Split == mma.Interleaved:
			terms = min(terms, int(s.Group))
		default:
			terms = (terms + int(s.Group) - 1) / int(s.Group)
		}
	}
	return terms > 1
}

// placesC reports whether two programs that begin with different terms differ in the place of c.
// If not, they differ in whether the first sum has a +0: both add c later, or there is no c and a
// program that would begin with it begins with +0.
func placesC(p, q *mma.Params) bool {
	return (p.Start == mma.StartC) != (q.Start == mma.StartC) && (p.Late != mma.Round{} || q.Late != mma.Round{})
}

// Join writes labels as one word, with + between them.
func Join(labels []Label) string {
	if len(labels) == 0 {
		return string(Unexplained)
	}
	s := make([]string, len(labels))
	for i, l := range labels {
		s[i] = string(l)
	}
	return strings.Join(s, "+")
}

// rank is the place of a label in the order of Labels; labels that are not in it come
// last.
func rank(l Label) int {
	for i := range labelDocs {
		if labelDocs[i].Label == l {
			return i
		}
	}
	return len(labelDocs)
}
