package triage

// This file is about two programs that are both known, so that nothing is searched for: which
// of their differences change a result (Idle, Given), and how to leave out others (Without).

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Idle returns the labels that make no difference on the inputs of gen.Probe with seed:
// switching the label to the other program's side changes no result of the two programs and
// none of the programs one label away from either. Labels that the policy hides make no
// difference on any input.
func (n *Attributor) Idle(seed uint64) []Label {
	hidden := slices.DeleteFunc(slices.Clone(n.labels), func(l Label) bool { return !n.hides(l) })
	idle := slices.DeleteFunc(slices.Clone(n.labels), n.hides)
	for round := 0; round < givenRounds && len(idle) > 0; round++ {
		dots := gen.Probe(gen.Spec{Formats: n.formats, K: n.k}, seed, round, inOrder(&n.from.Params, &n.to.Params)...)
		if len(dots) == 0 {
			break
		}
		results := n.resultsOn(mma.BatchOf(n.formats, n.k, dots))
		idle = slices.DeleteFunc(slices.Clone(idle), func(l Label) bool { return n.shows(l, results) })
	}
	return slices.DeleteFunc(slices.Clone(n.labels), func(l Label) bool { return !slices.Contains(hidden, l) && !slices.Contains(idle, l) })
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

// resultsOn returns a function that gives the results of the program of a set of labels
// on a batch, nil if that program is not valid. It runs every program once: the same sets
// come up with several labels.
func (n *Attributor) resultsOn(b *mma.Batch) func(set uint32) []byte {
	known := map[uint32][]byte{}
	return func(set uint32) []byte {
		out, ok := known[set]
		if !ok {
			if m := n.model(set); m != nil {
				out = make([]byte, b.Dots()*n.formats.D.Width())
				m.Run(b, out)
			}
			known[set] = out
		}
		return out
	}
}

// shows reports whether a label makes a difference in the results of sets of labels.
func (n *Attributor) shows(l Label, results func(set uint32) []byte) bool {
	one := uint32(1) << slices.Index(n.labels, l)
	sets := []uint32{0, n.all()}
	for i := range n.labels {
		sets = append(sets, 1<<i, n.all()&^(1<<i))
	}
	return slices.ContainsFunc(sets, func(set uint32) bool {
		with, without := results(set|one), results(set&^one)
		return with != nil && without != nil && differ(n.formats, n.policy, with, without)
	})
}

// Without makes both programs agree on some labels: they take the side of the program that
// comes first in inOrder, so that swapping the two programs changes nothing. A program that
// is changed by this loses its ExactFrom or ExactTo.
func (n *Attributor) Without(labels []Label) *Attributor {
	if len(labels) == 0 {
		return n
	}
	from, to := n.from, n.to
	exactFrom, exactTo := n.ExactFrom, n.ExactTo
	first := *inOrder(&n.from.Params, &n.to.Params)[0] == n.from.Params
	for i, l := range n.labels {
		switch {
		case !slices.Contains(labels, l):
		case first:
			_ = to.Params.Apply(mma.Reversed(n.parts[i])) // they have been applied before
			exactTo = false
			if l == FusionWidth {
				to.K = from.K
			}
		default:
			_ = from.Params.Apply(n.parts[i])
			exactFrom = false
			if l == FusionWidth {
				from.K = to.K
			}
		}
	}
	m := NewAttributor(n.formats, n.k, n.policy, from, to)
	m.ExactFrom, m.ExactTo = exactFrom, exactTo
	return m
}

// givenRounds is how many rounds of inputs are searched for one that shows a part of a
// difference.
const givenRounds = 6

// Given returns the verdict about a unit whose program is known: there is nothing to
// search for. Of its differences from the base only the parts that change a result are
// reported: a part counts if adding it to the base, or undoing it in q, changes a result on a
// case or a new input. pr.K must be the unit's K. Given returns nil if the program does not
// explain the cases.
func Given(pr *Unknown, q mma.Params) *Verdict {
	if !Holds(pr, &q) {
		return nil
	}
	s := &search{pr: pr, ev: newEvidence(pr)}
	q = s.sameSteps(q)
	program := q
	if parts := s.telling(q); len(parts) > 0 {
		p := pr.Base
		for _, changes := range parts {
			if p.Apply(changes) != nil {
				p = q
				break
			}
		}
		if Holds(pr, &p) {
			program = p
		}
	}
	v := &Verdict{Changes: mma.Diff(&pr.Base, &program), Program: program, K: pr.K, Labels: LabelsOf(&pr.Base, &program),
		Differ: len(pr.Differ), Explained: len(pr.Differ), Agree: len(pr.Agree), Kept: len(pr.Agree), Given: true}
	if len(v.Changes) == 0 {
		v.Labels = []Label{FusionWidth} // the number of products in an execution, which is no parameter
	}
	return v
}

// telling returns the parts of the difference between the base and another program that
// change a result.
func (s *search) telling(q mma.Params) [][]mma.Change {
	parts := changedParts(&s.pr.Base, &q)
	shown := make([]bool, len(parts))
	var dots []*mma.Dot
	for _, c := range slices.Concat(s.pr.Differ, s.pr.Agree) {
		dots = append(dots, c.Dot)
	}
	s.tell(q, parts, shown, dots)
	for round := 0; round < givenRounds && slices.Contains(shown, false); round++ {
		dots := s.pr.inputs(round, inOrder(&s.pr.Base, &q)...)
		if len(dots) == 0 {
			break
		}
		s.tell(q, parts, shown, dots)
	}
	var telling [][]mma.Change
	for i, part := range parts {
		if shown[i] {
			telling = append(telling, part)
		}
	}
	return telling
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

// tell notes which parts change a result on the inputs: added to the base, or taken back
// from q.
func (s *search) tell(q mma.Params, parts [][]mma.Change, shown []bool, dots []*mma.Dot) {
	if len(dots) == 0 {
		return
	}
	b := mma.BatchOf(s.pr.Formats, len(dots[0].A), dots)
	for _, from := range []struct {
		p    mma.Params
		back bool
	}{{s.pr.Base, false}, {q, true}} {
		plain := s.outputs(from.p, b)
		for i, part := range parts {
			if shown[i] || plain == nil {
				continue
			}
			turned := part
			if from.back {
				turned = mma.Reversed(part)
			}
			p := from.p
			if p.Apply(turned) != nil {
				continue
			}
			out := s.outputs(p, b)
			shown[i] = out != nil && differ(s.pr.Formats, s.pr.Policy, plain, out)
		}
	}
}

// outputs returns a program's results on a batch; nil if it is not valid.
func (s *search) outputs(p mma.Params, b *mma.Batch) []byte {
	m, err := sim.New(s.pr.Formats, s.pr.K, p)
	if err != nil {
		return nil
	}
	out := make([]byte, b.Dots()*s.pr.Formats.D.Width())
	m.Run(b, out)
	return out
}

// differ reports whether two programs' results differ somewhere.
func differ(f mma.Formats, policy oracle.Policy, x, y []byte) bool {
	d := f.D
	for i := range len(x) / d.Width() {
		if a, b := mma.Load(x, d.Width(), i), mma.Load(y, d.Width(), i); a != b && oracle.Compare(d, policy, a, b) != oracle.Same {
			return true
		}
	}
	return false
}
