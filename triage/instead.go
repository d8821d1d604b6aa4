package triage

import (
	"iter"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// FindEquivalent adds the equivalent changes to a verdict with a program that was found before.
func FindEquivalent(pr *Unknown, v *Verdict) { newExplainer(pr).sameFirst(v) }

// sameFirst puts first, of a verdict's equivalent changes, those that no input tells from its program, and
// counts them. Of a unit that cannot be asked, the others are only not told apart by its cases.
func (s *explainer) sameFirst(v *Verdict) {
	var same, rest [][]mma.Change
	for i, e := range append(v.Equivalent, s.otherDecisions(v)...) {
		if q := s.pr.Base; q.Apply(e) == nil && s.sameFunction(&v.Program, &q) {
			same = append(same, e)
		} else if i < len(v.Equivalent) {
			rest = append(rest, e)
		}
	}
	v.Equivalent, v.Same = append(same, rest...), len(same)
}

// otherDecisions returns other decisions of a designer that explain all cases where one change does. The search
// may have met first the one that a known program has.
func (s *explainer) otherDecisions(v *Verdict) (all [][]mma.Change) {
	if len(v.Changes) != 1 {
		return nil
	}
	for _, q := range s.aboutNumbers(search.Explaining(s.ev, s.mutants(change.Decisions))) {
		e := mma.Diff(&s.pr.Base, &q)
		if q != v.Program && len(e) == 1 && !slices.ContainsFunc(v.Equivalent, func(k []mma.Change) bool { return slices.Equal(k, e) }) {
			all = append(all, e)
		}
	}
	return all
}

// sameFunction reports whether no input is found that tells two programs apart, among extremes and those
// of gen.Probe, which aim at both.
func (s *explainer) sameFunction(p, q *mma.Params) bool {
	next, stop := iter.Pull(batches(s.pr.Formats, gen.CornerCases(s.pr.spec(), closestCorners), func(round int) []*mma.Dot {
		return gen.Probe(s.pr.spec(), s.pr.Seed, round, inOrder(p, q)...)
	}))
	defer stop()
	want, err := sim.New(s.pr.Formats, s.pr.K, *p)
	if err != nil {
		return false
	}
	other, err := sim.New(s.pr.Formats, s.pr.K, *q)
	c := alikeTo{policy: s.pr.Policy, want: want, next: next}
	return err == nil && c.same(other)
}

// StillEquivalent leaves out, of a verdict's equivalent changes, those that do not explain all cases of a unit.
func StillEquivalent(pr *Unknown, v *Verdict) {
	if len(v.Equivalent) == 0 {
		return
	}
	ev := newEvidence(pr)
	var left [][]mma.Change
	same := 0
	for i, e := range v.Equivalent {
		if q := pr.Base; q.Apply(e) != nil || !ev.Explains(&q) {
			continue
		}
		if left = append(left, e); i < v.Same {
			same++
		}
	}
	v.Equivalent, v.Same = left, same
}

// Instead returns what may be the cause as well as some of a verdict's changes, as no input tells it apart. turned:
// from the other side to the base.
func (v *Verdict) Instead(some []mma.Change, turned bool) [][]mma.Change {
	return Instead(some, v.Changes, v.Equivalent[:v.Same], turned)
}

// Instead returns what equivalent lists of changes have instead of some of the changes that they are equivalent
// to: the first for each place in a program. Another value of the same parameter is no other place.
func Instead(some, changes []mma.Change, equivalent [][]mma.Change, turned bool) (all [][]mma.Change) {
	seen := map[string]bool{}
	for _, e := range equivalent {
		gone, added := without(changes, e), without(e, changes)
		if len(gone) == 0 || !slices.Contains(some, gone[0]) || paths(added) == paths(gone) || seen[paths(added)] {
			continue
		}
		if seen[paths(added)] = true; turned {
			added = readable.Reversed(added)
		}
		all = append(all, added)
	}
	return all
}

// without returns changes that are not among others.
func without(changes, others []mma.Change) []mma.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c mma.Change) bool { return slices.Contains(others, c) })
}

func paths(changes []mma.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Path)
	}
	return strings.Join(all, " ")
}
