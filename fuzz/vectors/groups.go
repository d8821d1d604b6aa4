package vectors

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// group is a group of tests about the same part of the arithmetic.
type group struct {
	name, about string
	labels      []triage.Label // of the changes that its tests show
}

// random is the group of the tests that were drawn at random, not chosen.
const random = "random"

// groups are the groups of a set, in their order. The first one also takes changes that
// belong to no other.
var groups = []group{
	{"products", "how products are made: operands, exactness, the exponent by which they are aligned", []triage.Label{triage.Signedness, triage.ZeroPoint, triage.OperandRounding, triage.ProductHandling}},
	{"cut", "where terms are cut: bits kept below the largest exponent, how what lies below is dropped, the exponent of zero", []triage.Label{triage.TruncationWidth, triage.AlignmentRounding, triage.ZeroExponent, triage.ComplementNegation, triage.SpecialTruncation}},
	{"carries", "sums that grow beyond their largest term", nil},
	{"ties", "roundings of sums and results: ties, directions, widths", []triage.Label{triage.OutputRounding, triage.IntermediateRounding, triage.RoundingAsymmetry}},
	{"order", "the order of additions, and how many products are added at once", []triage.Label{triage.SummationOrder, triage.FusionWidth}},
	{"accumulator", "where c enters", []triage.Label{triage.AccumulatePlacement}},
	{"scales", "block scales", nil},
	{"subnormals", "subnormal operands, sums and results", []triage.Label{triage.InputFTZ, triage.OutputFTZ}},
	{"overflow", "the largest numbers and infinities", []triage.Label{triage.Overflow, triage.LostInfinity}},
	{"zeros", "the sign of zero", []triage.Label{triage.SignedZero}},
	{"nan", "NaN: when it arises, and its code", []triage.Label{triage.NaNEncoding}},
	{random, "numbers and raw bits drawn at random", nil},
}

// groupOf returns the group of the change from one program to another.
func groupOf(p, q *mma.Params) string {
	parts := triage.Parts(p, q)
	if len(parts) == 0 {
		return groups[0].name
	}
	switch path := parts[0].Changes[0].Path; {
	case path == "scale":
		return "scales"
	case strings.HasSuffix(path, ".align.bits"), strings.HasSuffix(path, ".align.saturate"):
		return "carries"
	}
	for _, g := range groups {
		if slices.Contains(g.labels, parts[0].Label) {
			return g.name
		}
	}
	return groups[0].name
}
