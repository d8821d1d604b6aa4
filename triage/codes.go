package triage

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A rounding or a width also decides the sign of some zeros: with rounding toward minus
// infinity, +0 and -0 make -0. Where it decides nothing else, on any input, to name it would
// mislead: nothing that is rounded changes.

// numeric are the labels of changes that are about numbers: they round, cut or limit them.
var numeric = []Label{OperandRounding, ProductHandling, Overflow, TruncationWidth, AlignmentRounding, RoundingAsymmetry,
	SpecialTruncation, IntermediateRounding, OutputRounding}

// aboutNumbers leaves out the programs of which a part that is about numbers changes, in all
// cases, nothing but the sign of a zero or the code of a NaN.
func (s *explainer) aboutNumbers(ps []mma.Params) []mma.Params {
	return slices.DeleteFunc(ps, func(p mma.Params) bool {
		parts := Parts(&s.pr.Base, &p)
		return slices.ContainsFunc(parts, func(x Part) bool {
			return slices.Contains(numeric, x.Label) && s.onlyCodes(&p, x.Changes)
		})
	})
}

// codesFirst puts first, of programs that no input tells apart, those whose changes are all about
// signs of zeros and codes of NaNs: then no number differs, whatever else the others change.
func (s *explainer) codesFirst(ps []mma.Params) {
	other := func(p *mma.Params) int {
		for _, l := range LabelsOf(&s.pr.Base, p) {
			if l != SignedZero && l != NaNEncoding {
				return 1
			}
		}
		return 0
	}
	slices.SortStableFunc(ps, func(p, q mma.Params) int { return other(&p) - other(&q) })
}

// onlyCodes reports whether changes of a program make a difference in cases, and none of a number.
func (s *explainer) onlyCodes(p *mma.Params, changes []mma.Change) bool {
	q := *p
	if q.Apply(readable.Reversed(changes)) != nil {
		return false
	}
	all := s.ev.All()
	with, without := s.ev.Results(p, all), s.ev.Results(&q, all)
	if with == nil || without == nil {
		return false
	}
	f, codes := s.pr.Formats, false
	byBits, w := oracle.NewComparer(f.D, oracle.Policy{}), f.D.Width()
	for i := range all.Want {
		switch byBits.Compare(mma.Load(with, w, i), mma.Load(without, w, i)) {
		case oracle.Same:
		case oracle.ZeroSign, oracle.NaNCode:
			codes = true
		default:
			return false
		}
	}
	return codes
}

// oddLast puts last the programs that round to odd where the base does not: before another rounding that
// is the same as none, which is what a designer would say.
func (s *explainer) oddLast(ps []mma.Params) {
	odd := func(p *mma.Params) int {
		if slices.ContainsFunc(mma.Diff(&s.pr.Base, p), func(c mma.Change) bool { return c.To == fp.RTO.String() }) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ps, func(x, y mma.Params) int { return odd(&x) - odd(&y) })
}
