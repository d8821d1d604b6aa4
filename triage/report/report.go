// Package report draws the picture of a mismatch, and of a single dot product,
// from the traces of the simulators: the terms of the sums as rows of bits, each
// bit at the column of its weight, where a sum cuts them, which bits survive on
// one side only, the roundings, and the two results against the exact value.
//
// The picture is made in stages, each a function of the result of the one before:
//
//	traces    sim.Trace of one or two sides
//	views     steps, names of terms              (trace_view.go, term_names.go)
//	choice    the sums worth drawing             (chosen_sums.go)
//	panels    rows of bits, each with its state  (side_panel.go, sum_block.go, bit_rows.go, row_notes.go, note.go)
//	result    codes, exact value, errors         (result.go)
//	layout    one axis of weights for all rows   (bit_axis.go)
//	text      lines                              (text.go and text_*.go)
//	or SVG    shapes, with words for the letters (svg.go and svg_*.go, words.go)
//
// Only the last stage knows the medium. The text is for people and may change;
// do not parse it.
//
// # Reading the text
//
//	p12, c, d0     product of the elements 12, C, result of step 0
//	a, a*scale, x  of a conversion: its number, that times its scale, what is rounded to the result
//	g0, h0, T      sum of a group in the first stage, the second; of all products
//	s0             partial sum within a group
//	S              the sum; S' and S'' what its first roundings leave
//	e=-3           nominal exponent of a term
//	0 1            bits that take part in the sum
//	. x            bits, 0 and 1, that are cut off
//	I              a 1 that takes part here and not on the other side
//	|              where the sum cuts its terms: right of the weight 2^(E-F)
//	]              where a rounding cuts a sum
//	…              left out: nothing but empty columns, or the tail of long terms
//
// The API of this package is not promised: it may change in any version.
package report

import (
	"bufio"
	"io"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Input is the dot product that a picture is of.
type Input struct {
	Title   string // what is pictured, such as the instruction's name
	Formats mma.Formats
	Dot     *mma.Dot
	Free    []string // which parts of the operands do not matter, a line each
	ExactOf string   // of what the exact value is, if a side computes more than the sum, such as "of the sum alone"; "": it is what both sides compute
	Rerun   []string // command that repeats the case, in words as a shell reads them; none: not shown
}

// converts reports whether a single number is converted: to its reader there is neither a product nor a sum.
func (in *Input) converts() bool { return in.Formats.Conversion() && len(in.Dot.A) == 1 }

// Side is one of the units, with what it did and what it gave.
type Side struct {
	Name   string
	Trace  *sim.Trace // of Result; nil: nobody knows how the unit computes
	Params *mma.Params
	// Inferred: the unit has no trace of its own. Trace and Params are those of
	// the hypothesis that explains it; Model names it if it was not found by inference.
	Inferred bool
	Model    string
	Result   uint64
	Failed   bool     // the unit failed on this input: there is no Trace and no Result
	Fault    string   // what it said then
	Steps    []string // partial sums that lead to Result, in words, if there is no Trace
}

// Mismatch is a dot product on which two units differ.
type Mismatch struct {
	Input
	A, B    Side
	Labels  []string     // causes, as triage names them
	Changes []mma.Change // what makes A's program do what B does
	Back    bool         // taken back, the changes make B's program do what A does; A's with them does not do what B does
	Instead string       // what may be the cause as well; "": nothing
	Notes   []string     // more about the cause, a line each that begins with a word of up to 7 letters
	Next    []string     // commands that look for the cause; they are not broken into lines
}

// TextOptions says how text is laid out.
type TextOptions struct {
	Width int  // columns of the medium; 0: 100, and at least 60
	Color bool // ANSI colours; all they say is in the characters, too
	All   bool // draw every sum, not only those that decide
	Brief bool // for a summary that says the cause: no cause, no single bits of the results, nothing about bits that do not matter
}

const (
	defaultWidth = 100
	minWidth     = 60
)

func (o TextOptions) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, minWidth)
}

// Text writes the picture of a mismatch. No line is longer than the width, unless a
// single word of the Input or of a name is longer, or the line is a command of Next.
func Text(w io.Writer, m *Mismatch, o TextOptions) error {
	return write(w, mismatchText(m, o), o.Color)
}

// TextOne writes the picture of a dot product on one unit.
func TextOne(w io.Writer, in *Input, s *Side, o TextOptions) error {
	return write(w, singleText(in, s, o), o.Color)
}

// mismatchText runs the stages for two sides.
func mismatchText(m *Mismatch, o TextOptions) []line {
	a, b, panels := panelsOf(m, o.All)
	p := printer{width: o.width(), brief: o.Brief}
	p.title(&m.Input)
	p.operands(&m.Input, operandNotes(a, b))
	p.panels(panels)
	p.result(newResult(&m.Input, &m.A, &m.B))
	if !o.Brief {
		p.cause(m)
	}
	p.rerun(m.Rerun)
	return p.lines
}

// panelsOf runs the stages that both media share.
func panelsOf(m *Mismatch, all bool) (a, b *view, panels []panel) {
	a, b = newView(&m.Input, &m.A), newView(&m.Input, &m.B)
	compare(a, b)
	chosenA, chosenB := chooseBoth(a, b, all)
	return a, b, []panel{newPanel("A", a, chosenA), newPanel("B", b, chosenB)}
}

// singleText runs the stages for one side.
func singleText(in *Input, s *Side, o TextOptions) []line {
	v := newView(in, s)
	p := printer{width: o.width()}
	p.title(in)
	p.operands(in, operandNotes(v))
	p.panels([]panel{newPanel("", v, chooseOne(v, o.All))})
	p.result(newResult(in, s))
	p.rerun(in.Rerun)
	return p.lines
}

func write(w io.Writer, lines []line, color bool) error {
	out := bufio.NewWriter(w)
	for _, l := range lines {
		out.WriteString(l.render(color))
		out.WriteByte('\n')
	}
	return out.Flush()
}
