package triage

// This file is about two programs that are both known, so that nothing is searched for: which
// of their differences change a result (Idle, ExplainKnown), and how to leave out others (Without).

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// knownRounds is how many rounds of inputs are searched for one that shows a part of a
// difference.
const knownRounds = 6

// atFirst and atOnce are the numbers of inputs on which parts are tried together: most parts are
// shown by one of the first inputs.
const (
	atFirst = 16
	atOnce  = 128
)

// batches are the first inputs, then those of up to knownRounds rounds, at most atOnce in a batch.
func batches(f mma.Formats, first []*mma.Dot, inputs func(round int) []*mma.Dot) iter.Seq[*mma.Batch] {
	return func(yield func(*mma.Batch) bool) {
		n := atFirst
		for round, dots := -1, first; ; dots = inputs(round) {
			for len(dots) > 0 {
				n = min(n, len(dots))
				if !yield(mma.BatchOf(f, len(dots[0].A), dots[:n])) {
					return
				}
				dots, n = dots[n:], atOnce
			}
			if round++; round == knownRounds {
				return
			}
		}
	}
}

// Idle returns the labels that make no difference on the inputs of gen.Probe with seed:
// switching the label to the other program's side changes no result of the two programs and
// none of the programs one label away from either. Labels that the policy hides make no
// difference on any input.
func (n *Attributor) Idle(seed uint64) []Label {
	open, idle := n.all()&^n.still, n.still
	sets := []uint32{0, n.all()}
	all := true // there is a program with each open label alone, and one without it
	for i := range n.labels {
		all = all && (n.still>>i&1 != 0 || n.valid(1<<i))
	}
	for i := range n.labels {
		if !all || n.still>>i&1 == 0 { // else the label changes no result: these programs have those of the two
			sets = append(sets, 1<<i, n.all()&^(1<<i))
		}
	}
	if open != 0 {
		idle |= n.idle(n.policy, open, sets, n.model, batches(n.formats, nil, func(round int) []*mma.Dot {
			return gen.Probe(gen.Spec{Formats: n.formats, K: n.k}, seed, round, inOrder(&n.from.Params, &n.to.Params)...)
		}))
	}
	return n.named(idle)
}

// hides reports whether the policy hides a label: its changes choose only the code of a NaN
// or the sign of a zero, and those are compared by class. No other result depends on them,
// except in refined programs, where a NaN operand may count as a number, or as an infinity with
// the NaN's sign.
func (n *Attributor) hides(l Label) bool {
	if n.from.Params.Refined() || n.to.Params.Refined() {
		return false
	}
	by := n.policy.NaN
	if l == SignedZero {
		by = n.policy.Zero
	} else if l != NaNEncoding {
		return false
	}
	return by == oracle.ByClass && !slices.ContainsFunc(n.parts[slices.Index(n.labels, l)], func(c mma.Change) bool { return !strings.HasPrefix(c.Path, "special.") })
}

// Without makes both programs agree on some labels: they take the side of the program that
// comes first in inOrder, so that swapping the two programs changes nothing. A program that
// is changed by this loses its ExactFrom or ExactTo.
func (n *Attributor) Without(labels []Label) *Attributor {
	var set uint32
	for i, l := range n.labels {
		if slices.Contains(labels, l) {
			set |= 1 << i
		}
	}
	if set == 0 {
		return n
	}
	from, to := n.from, n.to
	exactFrom, exactTo := n.ExactFrom, n.ExactTo
	if *inOrder(&n.from.Params, &n.to.Params)[0] == n.from.Params {
		to, _ = n.program(n.all() &^ set) // without error: the same changes have been applied before
		exactTo = false
	} else {
		from, _ = n.program(set)
		exactFrom = false
	}
	m := NewAttributor(n.formats, n.k, n.policy, from, to)
	m.ExactFrom, m.ExactTo = exactFrom, exactTo
	return m
}

// inOrder returns two programs sorted by the first field in which they differ, so that
// swapping the arguments changes nothing.
func inOrder(p, q *mma.Params) []*mma.Params {
	for _, f := range mma.Fields() {
		if c := cmp.Compare(f.Int(p), f.Int(q)); c != 0 {
			if c > 0 {
				p, q = q, p
			}
			break
		}
	}
	return []*mma.Params{p, q}
}

// ExplainKnown returns the verdict about a unit whose program is known: there is nothing to
// search for. Of its differences from the base only the parts that change a result are
// reported: a part counts if adding it to the base, or undoing it in q, changes a result on a
// case or a new input. pr.K must be the unit's K. ExplainKnown returns nil if the program does
// not explain the cases.
func ExplainKnown(pr *Unknown, q mma.Params) *Verdict {
	if !Holds(pr, &q) {
		return nil
	}
	q = pr.sameSteps(q)
	x := pr.between(q)
	dots, _ := operands(slices.Concat(pr.Differ, pr.Agree))
	inputs := batches(pr.Formats, dots, func(round int) []*mma.Dot { return pr.inputs(round, inOrder(&pr.Base, &q)...) })
	open := x.all()
	for i := range x.parts {
		if x.unreached(i) {
			open &^= 1 << i
		}
	}
	models := map[uint32]*sim.Model{}
	shown := open &^ x.idle(pr.Policy, open, []uint32{0, x.all()}, func(set uint32) *sim.Model {
		m, ok := models[set]
		if !ok {
			m = x.compile(set)
			models[set] = m
		}
		return m
	}, inputs)
	if p, ok := x.program(shown); ok && shown != 0 && Holds(pr, &p.Params) {
		q = p.Params
	}
	v := &Verdict{Changes: mma.Diff(&pr.Base, &q), Program: q, K: pr.K, Labels: LabelsOf(&pr.Base, &q),
		Differ: len(pr.Differ), Explained: len(pr.Differ), Agree: len(pr.Agree), Kept: len(pr.Agree), Known: true}
	if len(v.Changes) == 0 {
		v.Labels = []Label{FusionWidth} // the number of products in an execution, which is no parameter
	}
	return v
}
