package sim

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Trace records what a model did for one dot product: every fused sum with its
// terms, their alignment and what was cut, and every rounding. Pass a zero
// Trace to Model.Dot.
type Trace struct {
	Products []ProductTrace
	Sums     []SumTrace
	Result   uint64 // code of D

	exec, lane, step int
	formed           int // len(Products) when the step began its sums
}

// ProductTrace is one product as it enters the sums.
type ProductTrace struct {
	K          int  // index of the elements
	SubA, SubB bool // the factor is subnormal, after flushing
	// FlushedA, FlushedB: the factor was subnormal and counts as zero.
	FlushedA, FlushedB bool
	Term               TermTrace
}

// Place specifies which part of the program a sum belongs to.
type Place uint8

// The places of sums.
const (
	Stage0 Place = iota
	Stage1
	Join
	Late
)

var placeNames = []string{"stage0", "stage1", "join", "late"}

// String returns the part's name, as in package mma.
func (p Place) String() string { return placeNames[p] }

// From describes what a term of a sum is.
type From uint8

// The origins of terms.
const (
	FromProduct From = iota // product of elements K
	FromGroup               // sum number K of the stage before
	FromPartial             // partial sum of a sequential, pairwise or deep sum, or of lanes: number K of Trace.Sums
	FromC                   // C, or the D of the execution before
	FromAcc                 // the accumulator after the step before
	FromZero                // the +0 that an accumulator starts from
	FromLane                // accumulator number K of several
)

// origin is a term's From and number.
type origin struct {
	Kind From
	K    int
}

// TermTrace is one term of a sum.
type TermTrace struct {
	From  From
	K     int
	Value fp.Dyadic // before the cut
	E     int32     // nominal exponent, if Kind is Finite
	Kind  Kind
	IsCut bool      // cut at 2^Q
	Mode  fp.Mode   // how it is cut
	Q     int32     // weight of the lowest bit kept
	Cut   fp.Dyadic // after the cut
}

// SumTrace is one fused sum.
type SumTrace struct {
	Place  Place
	Exec   int // number of the execution of the instruction
	Lane   int // of a tail: the number of lanes
	Step   int // position of the step's first product in the sequence; K more for each pass before
	Formed int // the step's products are the last of Trace.Products[:Formed]
	Group  int
	Terms  []TermTrace
	HasE   bool  // some term has a nominal exponent
	E      int32 // alignment exponent: the largest nominal one, the floor, or the grid of c
	Sum    TermTrace
	Rounds []RoundTrace // what followed: post, acc, late, out or round
}

// RoundTrace is one rounding.
type RoundTrace struct {
	Name  string
	Round mma.Round
	After TermTrace
}

// Last returns the sum that decides the result: the last one.
func (t *Trace) Last() *SumTrace { return &t.Sums[len(t.Sums)-1] }

func traceTerm(o origin, t *term) TermTrace {
	return TermTrace{From: o.Kind, K: o.K, Value: t.Dyadic, E: t.e, Kind: t.kind, Cut: t.Dyadic}
}

func (tr *Trace) begin(p Place, group int, from []origin) {
	n := len(tr.Sums)
	tr.Sums = slices.Grow(tr.Sums, 1)[:n+1]
	s := &tr.Sums[n] // perhaps of an earlier use: its memory is used again
	*s = SumTrace{
		Place: p, Exec: tr.exec, Lane: tr.lane, Step: tr.step, Formed: tr.formed, Group: group,
		Terms: s.Terms[:0], Rounds: s.Rounds[:0],
	}
	for _, o := range from {
		s.Terms = append(s.Terms, TermTrace{From: o.Kind, K: o.K})
	}
}

func (tr *Trace) startStep(lane, step int) {
	tr.lane, tr.step, tr.formed = lane, step, len(tr.Products)
}

func (tr *Trace) product(k int, a, b *operand, t term) {
	sub := func(o *operand) bool { return o.class == fp.Finite && o.sub }
	flushed := func(o *operand) bool { return o.class == fp.Zero && o.sub }
	tr.Products = append(tr.Products, ProductTrace{
		K: k, SubA: sub(a), SubB: sub(b), FlushedA: flushed(a), FlushedB: flushed(b),
		Term: traceTerm(origin{FromProduct, k}, &t),
	})
}

// sum fills the sum that begin announced.
func (tr *Trace) sum(ts []term, c *cut, e int32, some bool, s term) {
	r := tr.Last()
	for i := range ts {
		o := origin{r.Terms[i].From, r.Terms[i].K}
		r.Terms[i] = traceTerm(o, &ts[i])
		if ts[i].kind == Finite && some {
			r.Terms[i].Q, r.Terms[i].Mode, r.Terms[i].IsCut = c.of(i, e)
			r.Terms[i].Cut = c.cutTerm(&ts[i], i, e)
		}
	}
	r.HasE, r.E = some, e
	r.Sum = traceTerm(origin{FromPartial, 0}, &s)
}

// special fills the sum that begin announced, when a term is Inf or NaN.
func (tr *Trace) special(ts []term, s term) {
	r := tr.Last()
	for i := range ts {
		r.Terms[i] = traceTerm(origin{r.Terms[i].From, r.Terms[i].K}, &ts[i])
	}
	r.Sum = traceTerm(origin{FromPartial, 0}, &s)
}

func (tr *Trace) rounded(name string, r *mma.Round, t term) {
	s := tr.Last()
	s.Rounds = append(s.Rounds, RoundTrace{name, *r, traceTerm(origin{FromPartial, 0}, &t)})
}

// Reset empties the trace and keeps its memory.
func (tr *Trace) Reset() {
	*tr = Trace{Products: tr.Products[:0], Sums: tr.Sums[:0]}
}
