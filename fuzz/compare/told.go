package compare

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// A comparison computes with two machines in the order of their names, so that a difference has one
// id, whatever the order in which machines are named. Its result has them, with its bundles, in the
// order in which they are named: people read a change from old to new.

// turnedMachines reports whether two machines in the order of their names are named the other
// way round.
func (c *Comparison) turnedMachines(a, b string) bool {
	return c.place(b) >= 0 && c.place(a) > c.place(b)
}

// place is where a machine was named, from 0; -1: it was not.
func (c *Comparison) place(name string) int {
	return slices.IndexFunc(c.sides, func(s *Side) bool { return s.Name == name })
}

// named returns the names of two machines in the order in which these are named.
func (c *Comparison) named(a, b string) (first, second string) {
	if c.turnedMachines(a, b) {
		return b, a
	}
	return a, b
}

// byName reports whether two machines are not in the order of their names.
func byName(a, b string) bool { return b != "" && b < a }

// likeIn returns a function that reports whether a result has two machines the other way round only.
func likeIn(r *Result) func(a, b string) bool {
	there := map[[2]string]bool{}
	for i := range r.Cells {
		there[[2]string{r.Cells[i].A, r.Cells[i].B}] = true
	}
	return func(a, b string) bool { return there[[2]string{b, a}] && !there[[2]string{a, b}] }
}

// turnedWhere returns a copy of a result in which some machines have changed their places.
func (r *Result) turnedWhere(turned func(a, b string) bool) *Result {
	turn := func(a, b, instruction *string) bool {
		if !turned(*a, *b) {
			return false
		}
		*a, *b = *b, *a
		*instruction = turnedNames(*instruction)
		return true
	}
	t := *r
	t.Cells, t.Differences, t.Gone, t.LeftOut = slices.Clone(r.Cells), slices.Clone(r.Differences), slices.Clone(r.Gone), slices.Clone(r.LeftOut)
	for i := range t.Cells {
		if x := &t.Cells[i]; turn(&x.A, &x.B, &x.Instruction) {
			x.RecordedA, x.RecordedB, x.Changes = x.RecordedB, x.RecordedA, readable.Reversed(x.Changes)
		}
	}
	for i := range t.Differences {
		if d := &t.Differences[i]; turn(&d.A, &d.B, &d.Instruction) {
			d.InstructionA, d.InstructionB, d.Changes = d.InstructionB, d.InstructionA, readable.Reversed(d.Changes)
			d.Details = slices.Clone(d.Details)
			for n := range d.Details {
				d.Details[n].Changes = readable.Reversed(d.Details[n].Changes)
			}
		}
	}
	for i := range t.Gone {
		g := &t.Gone[i]
		turn(&g.A, &g.B, &g.Instruction)
	}
	for i := range t.LeftOut {
		l := &t.LeftOut[i]
		turn(&l.A, &l.B, &l.Instruction)
	}
	return &t
}

// turnedNames turns the names of two instructions; a name that both machines have stays.
func turnedNames(instruction string) string {
	if x, y, two := strings.Cut(instruction, " ~ "); two {
		return y + " ~ " + x
	}
	return instruction
}
