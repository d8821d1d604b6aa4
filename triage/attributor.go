package triage

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// Holds reports whether a program explains every case of a unit.
func Holds(pr *Unknown, p *mma.Params) bool {
	return newEvidence(pr).Explains(p)
}

// Right returns in how many cases a program gives the unit's results.
func Right(pr *Unknown, p *mma.Params, cases []Case) int { return newExplainer(pr).right(p, cases) }

// Program is the arithmetic of an instruction: its parameters and the number of
// products that one execution takes.
type Program struct {
	Params mma.Params
	K      int
}

// Attributor attributes the cases in which two programs differ to causes, with the help
// of an Attribution, which holds the state of one goroutine. Several goroutines may use
// one Attributor.
type Attributor struct {
	between            // with one part for each label
	k       int        // of the dot products
	labels  []Label    // in order
	sets    [][]uint32 // that are tried: of one label, of two, and so on, each in the order of before
	still   uint32     // the labels that inert returns
	policy  oracle.Policy

	// ExactFrom and ExactTo: the first (second) side gives the results of its program in
	// every case, so that they are not checked. Set them before the attributor is used.
	ExactFrom, ExactTo bool

	mu     sync.Mutex
	models map[uint32]*sim.Model // by set of labels: see model; nil where there is no arithmetic
	causes map[causeKey]*Cause
}

// maxTogether is the number of labels up to which all sets of them are tried. Of more
// labels, only single ones and pairs are; for a case that needs more than two, labels are
// left out one after the other.
const maxTogether = 5

// NewAttributor returns the attributor of the difference between two programs on dot
// products of k elements.
func NewAttributor(f mma.Formats, k int, policy oracle.Policy, from, to Program) *Attributor {
	from, to = SameForm(f, k, from, to)
	n := &Attributor{between: between{formats: f, from: from, to: to}, k: k, policy: policy,
		models: map[uint32]*sim.Model{}, causes: map[causeKey]*Cause{}}
	by := map[Label][]mma.Change{}
	for _, part := range Parts(&from.Params, &to.Params) {
		by[part.Label] = append(by[part.Label], part.Changes...)
	}
	for _, l := range labelDocs {
		if changes := by[l.Label]; changes != nil || l.Label == FusionWidth && from.K != to.K {
			n.labels, n.parts = append(n.labels, l.Label), append(n.parts, changes)
		}
	}
	n.fusion = slices.Index(n.labels, FusionWidth)
	n.still = n.inert()
	sizes := len(n.labels)
	if sizes > maxTogether {
		sizes = 2
	}
	for size := 1; size <= sizes; size++ {
		n.sets = append(n.sets, slices.SortedFunc(search.Subsets(len(n.labels), size), func(a, b uint32) int {
			return cmp.Compare(bits.Reverse32(b), bits.Reverse32(a))
		}))
	}
	return n
}

// SameForm writes two programs such that fields which mean the same are equal: an L
// beyond K as K, and where their K differ, both with that of the dot products, if that
// does not change what they compute.
func SameForm(f mma.Formats, k int, p, q Program) (Program, Program) {
	if p.K != q.K && repeats(f, k, &p) && repeats(f, k, &q) {
		p.Params.L, q.Params.L = uint8(p.Params.Step(p.K)), uint8(q.Params.Step(q.K))
		p.K, q.K = k, k
	}
	if p.Params.Step(p.K) == q.Params.Step(q.K) {
		q.Params.L = p.Params.L
		if p.K != q.K { // L = 0 is all of K, which is not the same K
			p.Params.L = uint8(p.Params.Step(p.K))
			q.Params.L = p.Params.L
		}
	}
	return p, q
}

// repeats reports whether the repeated execution of an instruction on k elements is one
// execution of the same program with K = k: the accumulator of a step is the D and the C
// between two executions, and nothing is done to C alone or to all of K.
func repeats(f mma.Formats, k int, p *Program) bool {
	x := &p.Params
	return k%p.K == 0 && (p.K == k || p.K%x.Step(p.K) == 0 && f.C == f.D && f.Scale == fp.None && x.Order == mma.Ascending &&
		x.Start == mma.StartC && x.Lanes <= 1 && x.Out == (mma.Round{}) && x.In.C == x.In.Acc &&
		x.In.NarrowC == mma.Narrow{} && !x.In.NaNInf && !x.In.InfNaN && (x.Passes == 0 || x.Together) && !x.Special.OperandNaN())
}

// model returns the model of the first program with a set of labels taken from the second;
// nil if that program is not valid.
func (n *Attributor) model(set uint32) *sim.Model {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, ok := n.models[set]
	if !ok {
		m = n.compile(set)
		n.models[set] = m
	}
	return m
}

// valid reports whether there is a program for a set of labels and one for all others.
func (n *Attributor) valid(set uint32) bool {
	return n.model(set) != nil && n.model(n.all()&^set) != nil
}

// Changes returns the changes, from the first program to the second, that make the two
// agree on a case with this cause. back reports that they do so in one direction only: the
// second program with the changes taken back gives the first one's result, but the first
// program with the changes does not give the second one's.
func (n *Attributor) Changes(c *Cause) (changes []mma.Change, back bool) {
	for i := range n.parts {
		if c.need>>i&1 != 0 {
			changes = append(changes, n.parts[i]...)
		}
	}
	return slices.Clip(changes), c.back
}
