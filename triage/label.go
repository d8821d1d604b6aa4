package triage

import (
	"slices"
	"strings"

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
	Layout               Label = "layout"                // the result depends on the position in the tile
	Unexplained          Label = "unexplained"
)

// LabelDoc is a label with what it stands for.
type LabelDoc struct {
	Label Label
	Doc   string
}

// Labels lists the labels with what they stand for, in their order.
func Labels() []LabelDoc { return labelDocs }

var labelDocs = []LabelDoc{
	{InputFTZ, "subnormal inputs flushed to zero"},
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
	{Layout, "the result depends on the position in the tile"},
	{Unexplained, "no change that was tried explains the difference"},
}

// fieldLabels maps a changed field to the label that it earns. The first row whose
// pattern matches the path counts; * stands for any run of characters. refine, if not nil, may
// choose another label.
var fieldLabels = []struct {
	pattern string
	label   Label
	refine  func(c mma.Change, p, q *mma.Params) Label
}{
	{"in.widen", ProductHandling, nil},
	{"in.rest", OperandRounding, nil},
	{"in.naninf", NaNEncoding, nil},
	{"in.*.over", Overflow, nil},
	{"in.a.*", OperandRounding, nil},
	{"in.b.*", OperandRounding, nil},
	{"in.narrowc.*", OperandRounding, nil},
	{"in.*", InputFTZ, nil},
	{"prod.round.flush", OutputFTZ, nil},
	{"prod.round.emax", Overflow, nil},
	{"prod.round.over", Overflow, nil},
	{"prod.firstover", Overflow, nil},
	{"prod.zeros", ZeroExponent, nil},
	{"prod.*", ProductHandling, nil},
	{"scale", ProductHandling, nil},
	{"scaleround.*", ProductHandling, nil},
	{"passes", OperandRounding, nil},
	{"together", FusionWidth, nil},
	{"order", SummationOrder, nil},
	{"l", FusionWidth, nil},
	{"lanes", SummationOrder, nil},
	{"merge", SummationOrder, nil},
	{"tail", SummationOrder, nil},
	{"leaf", AccumulatePlacement, nil},
	{"start", AccumulatePlacement, nil},
	{"stage*.sum", SummationOrder, fusedStage},
	{"stage*.split", SummationOrder, nil},
	{"stage*.group", FusionWidth, nil},
	{"stage*.fixed", ProductHandling, nil},
	{"stage*.plus", SignedZero, nil},
	{"stage*.deep", SummationOrder, nil},
	{"stage*.sort", SummationOrder, nil},
	{"stage*.align.f", TruncationWidth, nil},
	{"stage*.align.mode", AlignmentRounding, asymmetry},
	{"stage*.align.floor", ZeroExponent, nil},
	{"stage*.align.sticky", AlignmentRounding, nil},
	{"stage*.align.negate", ComplementNegation, nil},
	{"stage*.align.drop", SpecialTruncation, nil},
	{"stage*.align.*", Overflow, nil},
	{"stage*.round.flush", OutputFTZ, nil},
	{"stage*.round.emax", Overflow, nil},
	{"stage*.round.over", Overflow, nil},
	{"stage*.round.mode", IntermediateRounding, asymmetry},
	{"stage*.round.*", IntermediateRounding, nil},
	{"join.align.f", TruncationWidth, nil},
	{"join.align.mode", AlignmentRounding, asymmetry},
	{"join.align.floor", ZeroExponent, nil},
	{"join.align.sticky", AlignmentRounding, nil},
	{"join.align.negate", ComplementNegation, nil},
	{"join.align.drop", SpecialTruncation, nil},
	{"join.align.*", Overflow, nil},
	{"join.cnorm", ZeroExponent, nil},
	{"join.cbeside", TruncationWidth, nil},
	{"join.clost", LostInfinity, nil},
	{"join.cgrid", TruncationWidth, nil},
	{"join.apart", IntermediateRounding, nil},
	{"join.cf", TruncationWidth, nil},
	{"join.cmode", AlignmentRounding, asymmetry},
	{"join.cdrop", SpecialTruncation, nil},
	{"join.post.mode", IntermediateRounding, asymmetry},
	{"join.post.flush", OutputFTZ, nil},
	{"join.post.emax", Overflow, nil},
	{"join.post.over", Overflow, nil},
	{"join.post.*", IntermediateRounding, nil},
	{"*.flush", OutputFTZ, nil},
	{"*.emax", Overflow, nil},
	{"*.over", Overflow, nil},
	{"acc.mode", OutputRounding, asymmetry},
	{"late.mode", OutputRounding, asymmetry},
	{"out.mode", OutputRounding, asymmetry},
	{"acc.*", OutputRounding, nil},
	{"late.*", OutputRounding, nil},
	{"out.*", OutputRounding, nil},
	{"special.nan", NaNEncoding, nil},
	{"special.cleft", NaNEncoding, nil},
	{"special.bfirst", NaNEncoding, nil},
	{"special.ones", NaNEncoding, nil},
	{"special.*", SignedZero, nil},
}

// asymmetry refines a change of mode that brings in or takes away a rounding
// that treats the signs differently.
func asymmetry(c mma.Change, _, _ *mma.Params) Label {
	for _, m := range []string{c.From, c.To} {
		if m == "rd" || m == "ru" {
			return RoundingAsymmetry
		}
	}
	return ""
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
		add(rootOf(c.Path, changes), c)
	}
	return parts
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

func labelOf(c mma.Change, p, q *mma.Params) Label {
	for _, r := range fieldLabels {
		if !match(r.pattern, c.Path) {
			continue
		}
		if r.refine != nil {
			if l := r.refine(c, p, q); l != "" {
				return l
			}
		}
		return r.label
	}
	return Unexplained
}

// match reports whether a path fits a pattern, in which * stands for any run of characters.
func match(pattern, path string) bool {
	head, tail, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == path
	}
	if !strings.HasPrefix(path, head) {
		return false
	}
	path = path[len(head):]
	for i := 0; i <= len(path); i++ {
		if match(tail, path[i:]) {
			return true
		}
	}
	return false
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
