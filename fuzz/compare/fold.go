package compare

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fold finds recordings that are equal: those with the same inputs and results. All of them
// but the first by name are compared with that one only.
func (c *Comparison) fold() {
	sides := slices.Clone(c.sides)
	slices.SortStableFunc(sides, func(a, b *Side) int { return cmpNames(a, b) })
	for i, s := range sides {
		for _, first := range sides[:i] {
			if first.equalTo == nil && s.equals(first) {
				s.equalTo = first
				break
			}
		}
	}
	for i, s := range c.sides {
		if s.equalTo != nil {
			c.result.Machines[i].EqualTo = s.equalTo.Name
		}
	}
}

// equals reports whether two recordings hold the same inputs and results, and both are
// complete and without faults.
func (s *Side) equals(o *Side) bool {
	a, b := s.Recording, o.Recording
	plain := func(r *corpus.Recording) bool {
		return r != nil && r.Complete && len(r.Problems) == 0 && !slices.ContainsFunc(r.Data, func(d corpus.Recorded) bool { return d.Faults != nil })
	}
	return plain(a) && plain(b) && slices.EqualFunc(a.Data, b.Data, func(x, y corpus.Recorded) bool {
		return x.Section.Arch == y.Section.Arch && x.Section.Instruction == y.Section.Instruction && x.Sum() == y.Sum()
	})
}

// ownPairs returns the pairs of instructions of two recordings that are equal.
func ownPairs(a, b *Side) []pair {
	var pairs []pair
	for _, i := range a.Target.Instructions() {
		ua, errA := a.Target.Open(&i)
		ub, errB := b.Target.Open(&i)
		if errA == nil && errB == nil {
			r := ua.(devices.Recorder)
			n := r.Recorded()
			pairs = append(pairs, pair{a, b, devices.Pair{A: ua, B: ub, K: r.Length()}, n, n})
		}
	}
	return pairs
}

// equalCells adds the cells of pairs whose sides are equal.
func (c *Comparison) equalCells() {
	for i := range c.pairs {
		p := &c.pairs[i]
		n := uint64(p.recordedA)
		c.result.Cells = append(c.result.Cells, Cell{A: p.a.Name, B: p.b.Name, Instruction: p.Name(), K: p.K, Dots: n, RecordedA: p.recordedA, RecordedB: p.recordedB,
			Classes: map[string]uint64{oracle.Same.String(): n}, Changes: []mma.Change{}})
	}
}

// equalModels adds the models of recordings that are equal to others.
func (c *Comparison) equalModels() {
	models := slices.Clone(c.result.Models)
	for _, s := range c.sides {
		for _, m := range models {
			if s.equalTo != nil && m.Machine == s.equalTo.Name {
				m.Machine = s.Name
				c.result.Models = append(c.result.Models, m)
			}
		}
	}
}

// namesIn returns the names under which a result may have differences of a machine: its own
// name, and that of the machine to which it was equal.
func (r *Result) namesIn(name string) []string {
	names := []string{name}
	for _, m := range r.Machines {
		if m.Name == name && m.EqualTo != "" {
			names = append(names, m.EqualTo)
		}
	}
	return names
}

// has reports whether a baseline has a difference, under the names of its machines or of
// machines to which they were equal.
func (r *Result) has(d *Difference) bool {
	for _, a := range r.namesIn(d.A) {
		for _, b := range r.namesIn(d.B) {
			if was := *d; a < b || d.B == "" {
				was.A, was.B = a, b
				if was.identify(); r.open[was.ID] {
					return true
				}
			}
		}
	}
	return false
}
