// Package change makes mutants: programs that one change makes of another. Triage looks
// among them for what explains a difference, inference goes from one to the next, and
// the tables of package selfcheck measure how well generators and triage tell them from
// the original.
//
// A change is a row of one table (table.go): an idea, such as "width" or "c late", and
// the mutants that it makes in each Breadth: other values of fields, fields that are set
// together, as a text says (edit.go), or what a function makes. Rows about numbers use the ranges that the rows of
// the parameters in package mma have; rows about roundings and alignments use the places where
// these stand (rounding_places.go). Nothing here depends on what the mutants are for.
//
// # Adding to it
//
// A new field of mma.Params needs steps, or inference never finds it: a test fails as long as
// no step sets a field. The change of a field that shows alone is made of its row in package
// mma (mma.Row.Alone); fields that show only together need a row that sets them together, and
// one that removes them.
//
// A new breadth is a constant, and a function in the rows that have mutants in it.
//
// The order of the rows is the order of mutants: it decides between mutants that explain
// the same, and rows that have Decisions are part of the digests of package selfcheck.
//
// The API of this package is not promised: it may change in any version.
package change

import (
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Breadth selects the mutants that a caller wants.
type Breadth int

// The breadths.
const (
	// Decisions are what a designer may have decided otherwise: one parameter, or the
	// several fields that one decision sets together.
	Decisions Breadth = iota
	// Refinements are what no unit of the catalogue does and others may. They are apart
	// from Decisions, which the tables of package selfcheck measure.
	Refinements
	// Mistakes are what only emulators do: they are apart from Refinements, which test
	// vectors are chosen by.
	Mistakes
	// Adjacent are all numbers one more and one less, also with a change that these hide.
	Adjacent
	// Steps are what a search tries that knows little yet: numbers over their whole
	// range, and fields that show only together.
	Steps
	// TermSteps are the steps that only several terms can show.
	TermSteps
	// RareSteps are too many to try where others help.
	RareSteps
	// Removals take something away: every one has a smaller Size.
	Removals
	// Exhaustive is every value of every field, and of the fields that show only together (those of
	// a rounding, an alignment, a stage, an operand) as many combinations as can be tried
	// wherever a search stands.
	Exhaustive

	breadths
)

// Space is what programs must be valid for: the formats of a unit and its K.
type Space struct {
	mma.Formats
	K int
}

// SpaceOf returns the space of an instruction.
func SpaceOf(i *mma.Instruction) Space { return Space{i.Formats, i.K} }

// Valid reports whether a program is valid for these formats and K.
func (s Space) Valid(p *mma.Params) bool { return p.Validate(s.Formats, s.K) == nil }

// Sums reports whether a program that is made of another one, p, adds something in a way that p does
// not, although the unit converts a number, in which nothing is added: a search for causes leaves
// such programs out, which some other change tells better.
func (s Space) Sums(p, q *mma.Params) bool {
	return s.Conversion() && s.K == 1 && p.Start == mma.StartEmpty &&
		(sumOf(q) != sumOf(p) && sumOf(q) != sumOf(&mma.Params{Start: mma.StartEmpty}))
}

// sumOf returns of a program what says how terms are added.
func sumOf(p *mma.Params) mma.Params {
	join := p.Join
	join.Post = mma.Round{}
	q := mma.Params{Order: p.Order, Merge: p.Merge, Tail: p.Tail, Start: p.Start, Leaf: p.Leaf, Stage0: p.Stage0, Stage1: p.Stage1, Join: join, Late: p.Late}
	if p.Lanes > 1 {
		q.Lanes = p.Lanes
	}
	return q
}

// Mutant is a program that one change makes of another.
type Mutant struct {
	Change string // the row of the table
	Params mma.Params
	// Group numbers the mutants that one row makes in one place of the program.
	Group int
}

// Mutants returns every valid program that one change makes of p, without duplicates:
// breadth by breadth, in the order of the table.
func (s Space) Mutants(p *mma.Params, breadths ...Breadth) []Mutant {
	c := &changer{original: original{s, *p}, seen: map[mma.Params]bool{*p: true}}
	for _, b := range breadths {
		c.least = b == Removals
		for _, r := range table() {
			if r.by[b] != nil {
				c.change = r.name
				c.next()
				r.by[b](c)
			}
		}
	}
	return c.all
}

// Programs returns the programs of mutants.
func Programs(mutants []Mutant) []mma.Params {
	ps := make([]mma.Params, len(mutants))
	for i := range mutants {
		ps[i] = mutants[i].Params
	}
	return ps
}

// original is the program that is changed, with what its mutants must be valid for.
type original struct {
	Space
	p mma.Params
}

// changer collects the mutants of a program.
type changer struct {
	original
	seen   map[mma.Params]bool
	least  bool // only mutants of a smaller size
	change string
	group  int
	all    []Mutant
}

// next begins another place of the program.
func (c *changer) next() { c.group++ }

// to adds the mutant that a function makes of the original, if it is valid and new.
func (c *changer) to(change func(p *mma.Params)) {
	q := c.p
	change(&q)
	if c.seen[q] || c.least && c.Size(&q) >= c.Size(&c.p) || !c.Valid(&q) || c.Sums(&c.p, &q) {
		return
	}
	c.seen[q] = true
	c.all = append(c.all, Mutant{c.change, q, c.group})
}
