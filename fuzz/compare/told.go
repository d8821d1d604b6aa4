package compare

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// told returns a copy of a result in which two machines stand in the order in which they were
// given, and changes lead from the first to the second: people read a change from old to new. A
// result itself has them in the order of their names, so that a difference has one id. machines
// are in the order in which they were given.
func (r *Result) told(machines []Machine) *Result {
	place := func(name string) int {
		return slices.IndexFunc(machines, func(m Machine) bool { return m.Name == name })
	}
	// turn swaps the names of two machines if their order is the other one.
	turn := func(a, b, instruction *string) bool {
		if place(*b) < 0 || place(*a) <= place(*b) {
			return false
		}
		*a, *b = *b, *a
		if x, y, two := strings.Cut(*instruction, " ~ "); two {
			*instruction = y + " ~ " + x
		}
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
