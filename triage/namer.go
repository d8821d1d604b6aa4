package triage

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Holds says whether a program explains every case of a problem.
func Holds(pr *Problem, p *mma.Params) bool {
	ev := newEvidence(pr.Formats, pr.K, pr.Policy)
	ev.add(interleave(pr.Differ, pr.Agree)...)
	return ev.explains(p)
}

// Namer names single cases after a verdict: by the smallest part of its changes
// that explains the case alone. Of the cases of a pair that needs L and F
// changed, some need only one of the two, some either, some both.
type Namer struct {
	policy oracle.Policy
	f      mma.Formats
	steps  [][]variant // by number of labels
}

// variant is the base with the changes of some labels.
type variant struct {
	name    string
	changes []mma.Change
	model   *sim.Model
}

// maxNamed is the number of labels of which all combinations are tried; of more,
// only single ones, pairs, and all together.
const maxNamed = 5

// NewNamer returns the namer of a verdict that was found.
func NewNamer(pr *Problem, v *Verdict) *Namer {
	byLabel := map[Label][]mma.Change{}
	for _, part := range changedParts(&pr.Base, &v.Program) {
		l := labelOf(part[0], &pr.Base, &v.Program)
		byLabel[l] = append(byLabel[l], part...)
	}
	var labels []Label
	for l := range byLabel {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	n := &Namer{policy: pr.Policy, f: pr.Formats}
	for size := 1; size <= len(labels); size++ {
		if len(labels) > maxNamed && size > 2 && size < len(labels) {
			continue
		}
		var step []variant
		for set := range subsets(len(labels), size) {
			if vr, ok := newVariant(pr, labels, byLabel, set); ok {
				step = append(step, vr)
			}
		}
		n.steps = append(n.steps, step)
	}
	return n
}

func newVariant(pr *Problem, labels []Label, byLabel map[Label][]mma.Change, set uint32) (variant, bool) {
	p := pr.Base
	var names []string
	var changes []mma.Change
	for i, l := range labels {
		if set>>i&1 == 0 {
			continue
		}
		names = append(names, string(l))
		changes = append(changes, byLabel[l]...)
	}
	if p.Apply(changes) != nil {
		return variant{}, false
	}
	m, err := sim.New(pr.Formats, pr.K, p)
	return variant{strings.Join(names, "+"), changes, m}, err == nil
}

// Name returns the labels that explain a case, joined by +; where several sets of
// the same size do, all of them, joined by |.
func (n *Namer) Name(dot *mma.Dot, want uint64) string {
	name, _ := n.explain(dot, want)
	return name
}

// Changes returns the smallest changes that explain a case; the first set if
// there are several.
func (n *Namer) Changes(dot *mma.Dot, want uint64) []mma.Change {
	_, changes := n.explain(dot, want)
	return changes
}

func (n *Namer) explain(dot *mma.Dot, want uint64) (string, []mma.Change) {
	for _, step := range n.steps {
		var names []string
		var changes []mma.Change
		for _, v := range step {
			if oracle.Compare(n.f.D, n.policy, v.model.Dot(dot, nil), want) != oracle.Same {
				continue
			}
			if names == nil {
				changes = v.changes
			}
			names = append(names, v.name)
		}
		if names != nil {
			return strings.Join(names, "|"), changes
		}
	}
	return string(Unexplained), nil
}
