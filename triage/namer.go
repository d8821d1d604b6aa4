package triage

import (
	"maps"
	"slices"
	"strings"
	"sync"

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
// changed, some need only one of the two, some either, some both. It may be used
// from several goroutines.
type Namer struct {
	pr      *Problem
	labels  []Label
	byLabel map[Label][]mma.Change
	steps   [][]variant // by number of labels

	mu    sync.Mutex
	parts map[uint32]variant // others, made when they are needed
}

// variant is the base with the changes of some labels.
type variant struct {
	name    string
	changes []mma.Change
	model   *sim.Model // nil: no arithmetic
}

// maxNamed is the number of labels of which all combinations are tried. Of more,
// single ones and pairs are, and what needs more than two has as many labels as
// cannot be left out one after the other.
const maxNamed = 5

// NewNamer returns the namer of a verdict that was found.
func NewNamer(pr *Problem, v *Verdict) *Namer {
	n := &Namer{pr: pr, byLabel: map[Label][]mma.Change{}, parts: map[uint32]variant{}}
	for _, part := range Parts(&pr.Base, &v.Program) {
		n.byLabel[part.Label] = append(n.byLabel[part.Label], part.Changes...)
	}
	n.labels = slices.Sorted(maps.Keys(n.byLabel))
	sizes := len(n.labels)
	if sizes > maxNamed {
		sizes = 2
	}
	for size := 1; size <= sizes; size++ {
		var step []variant
		for set := range subsets(len(n.labels), size) {
			if vr := n.variant(set); vr.model != nil {
				step = append(step, vr)
			}
		}
		n.steps = append(n.steps, step)
	}
	return n
}

// variant makes the variant of a set of labels.
func (n *Namer) variant(set uint32) variant {
	var vr variant
	p := n.pr.Base
	var names []string
	for i, l := range n.labels {
		if set>>i&1 != 0 {
			names = append(names, string(l))
			vr.changes = append(vr.changes, n.byLabel[l]...)
		}
	}
	vr.name = strings.Join(names, "+")
	if p.Apply(vr.changes) != nil {
		return vr
	}
	if m, err := sim.New(n.pr.Formats, n.pr.K, p); err == nil {
		vr.model = m
	}
	return vr
}

// part returns the variant of a set, from the second time on the same one.
func (n *Namer) part(set uint32) variant {
	n.mu.Lock()
	defer n.mu.Unlock()
	vr, ok := n.parts[set]
	if !ok {
		vr = n.variant(set)
		n.parts[set] = vr
	}
	return vr
}

// explains says whether a variant gives the wanted result.
func (n *Namer) explains(v variant, dot *mma.Dot, want uint64) bool {
	return v.model != nil && oracle.Compare(n.pr.Formats.D, n.pr.Policy, v.model.Dot(dot, nil), want) == oracle.Same
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
			if !n.explains(v, dot, want) {
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
	return n.reduce(dot, want)
}

// reduce leaves out labels, one after the other, that a case does not need.
func (n *Namer) reduce(dot *mma.Dot, want uint64) (string, []mma.Change) {
	set := uint32(1)<<len(n.labels) - 1
	if len(n.labels) <= maxNamed || !n.explains(n.part(set), dot, want) {
		return string(Unexplained), nil
	}
	for i := range n.labels {
		if less := set &^ (1 << i); n.explains(n.part(less), dot, want) {
			set = less
		}
	}
	vr := n.part(set)
	return vr.name, vr.changes
}
