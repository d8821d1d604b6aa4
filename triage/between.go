package triage

import (
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// between are the programs between two: each takes some parts of the difference from the
// second one. A set of parts is a bit mask; the empty set is the first program, all is the
// second.
type between struct {
	formats  mma.Formats
	from, to Program
	parts    [][]mma.Change
	fusion   int // the part that changes K too, if the two have different ones
}

// mostParts is the number of parts that a set has room for.
const mostParts = 32

// between returns the programs between the base and another one. The parts for which a set has
// no room, of two programs with hardly anything in common, are one with the last part.
func (pr *Unknown) between(q mma.Params) *between {
	parts := changedParts(&pr.Base, &q)
	if len(parts) > mostParts {
		parts = append(parts[:mostParts-1], slices.Concat(parts[mostParts-1:]...))
	}
	return &between{formats: pr.Formats, from: Program{pr.Base, pr.K}, to: Program{q, pr.K}, parts: parts}
}

// all is the set of all parts.
func (x *between) all() uint32 { return uint32(1)<<len(x.parts) - 1 }

// program returns the program of a set, which need not be valid; false if a part cannot be
// changed.
func (x *between) program(set uint32) (Program, bool) {
	p := x.from
	for i, changes := range x.parts {
		if set>>i&1 == 0 {
			continue
		}
		if p.Params.Apply(changes) != nil {
			return p, false
		}
		if i == x.fusion {
			p.K = x.to.K
		}
	}
	return p, true
}

// compile returns the model of a set; nil if its program is not valid.
func (x *between) compile(set uint32) *sim.Model {
	p, ok := x.program(set)
	if !ok {
		return nil
	}
	m, err := sim.New(x.formats, p.K, p.Params)
	if err != nil {
		return nil
	}
	return m
}

// idle returns the parts, of some, that change no result on inputs: to add the part to one of
// the sets, or to take it out, changes none.
func (x *between) idle(policy oracle.Policy, some uint32, sets []uint32, model func(set uint32) *sim.Model, inputs iter.Seq[*mma.Batch]) uint32 {
	if some == 0 {
		return 0
	}
	var shared sim.Shared
	for b := range inputs {
		results := x.resultsOn(b, &shared, model)
		for i := range x.parts {
			if some>>i&1 != 0 && x.shows(policy, 1<<i, sets, results) {
				some &^= 1 << i
			}
		}
		if some == 0 {
			break
		}
	}
	return some
}

// resultsOn returns a function that gives the results of the program of a set on a batch, nil
// if that program is not valid. It runs every program once: the same sets come up with several
// parts. shared is memory for it.
func (x *between) resultsOn(b *mma.Batch, shared *sim.Shared, model func(set uint32) *sim.Model) func(set uint32) []byte {
	known := map[uint32][]byte{}
	shared.Reset(b)
	return func(set uint32) []byte {
		out, ok := known[set]
		if !ok {
			if m := model(set); m != nil {
				out = make([]byte, b.Dots()*x.formats.D.Width())
				m.RunShared(shared, out)
			}
			known[set] = out
		}
		return out
	}
}

// shows reports whether a part makes a difference in the results of sets.
func (x *between) shows(policy oracle.Policy, part uint32, sets []uint32, results func(set uint32) []byte) bool {
	for _, set := range sets {
		with, without := results(set|part), results(set&^part)
		if with != nil && without != nil && differ(x.formats, policy, with, without) {
			return true
		}
	}
	return false
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
