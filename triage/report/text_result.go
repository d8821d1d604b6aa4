package report

import (
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// result adds the results, and which bits differ.
func (p *printer) result(r *result) {
	rows := r.cells()
	if !p.brief {
		p.blank()
	}
	if p.brief || r.format.Integer() {
		for i, c := range rows {
			rows[i] = []string{c[0], c[1], c[5], c[4]} // the value in decimal, without its parts
		}
	}
	p.table(rows)
	if !p.brief && hasFields(r.format) && !r.allFailed() {
		p.text("  after the values: sign, exponent.fraction of the code, in hexadecimal", 4, faint)
	}
	if !r.comparable() {
		return
	}
	if r.xor() == 0 {
		p.text("  A and B agree in all bits", 4, plain)
		return
	}
	if p.brief {
		return
	}
	if r.format.Flags() == 0 {
		p.codeBits(r)
	}
	p.text("  "+r.difference(), 4, plain)
}

// codeBits draws the bits of both results in fields, and those that differ; nothing if
// they do not fit the width.
func (p *printer) codeBits(r *result) {
	f := r.format.Get()
	const gutter = "         "
	if len(gutter)+int(f.Bits())+2 > p.width {
		return
	}
	p.blank()
	for i, s := range r.sides {
		p.lines = append(p.lines, bitLine(f, "  "+sideNames[i]+gutter[3:], s.Result, "01", faint, keptInk))
	}
	p.lines = append(p.lines, bitLine(f, "  A^B"+gutter[5:], r.xor(), ".^", faint, hereInk))
}

// bitLine draws a code as sign, exponent and fraction, with one character for 0
// and one for 1.
func bitLine(f *fp.Format, label string, code uint64, chars string, zeroInk, oneInk ink) line {
	l := line{{label, plain}}
	for i := int(f.Bits()) - 1; i >= 0; i-- {
		if b := code >> (i + int(f.Low)) & 1; b != 0 {
			l = l.add(chars[1:], oneInk)
		} else {
			l = l.add(chars[:1], zeroInk)
		}
		if i == int(f.Bits())-1 || i == int(f.FracBits) {
			l = l.add(" ", plain)
		}
	}
	return l
}

// Change says which change makes one side do what the other does, and which side of the two: "A to B" or,
// if the other direction does not do, "B to A".
func (m *Mismatch) Change() (way, text string) {
	way, changes, from, to := "A to B", m.Changes, m.A.Params, m.B.Params
	if m.Back {
		way, changes, from, to = "B to A", readable.Reversed(changes), to, from
	}
	return way, readable.Converted(m.Formats, mma.Brief(changes, from, to))
}

// cause adds what explains a mismatch.
func (p *printer) cause(m *Mismatch) {
	if len(m.Labels) == 0 && len(m.Changes) == 0 {
		return
	}
	p.blank()
	if len(m.Labels) > 0 {
		p.text("cause   "+strings.Join(m.Labels, " + "), 8, strong)
	}
	if len(m.Changes) > 0 {
		way, text := m.Change()
		p.text(way+"  "+text, 8, plain)
	}
	if m.Instead != "" {
		p.text("        "+m.Instead, 8, plain)
	}
	for _, n := range m.Notes {
		p.text(n, 8, plain)
	}
	for _, c := range m.Next {
		p.lines = append(p.lines, line{{"next    " + c, plain}})
	}
}

// rerun adds the command that repeats the case. A long one is broken between words,
// as a shell allows.
func (p *printer) rerun(words []string) {
	if len(words) == 0 {
		return
	}
	p.blank()
	const goesOn = " \\"
	current := "re-run:"
	for _, w := range words {
		if utf8.RuneCountInString(current)+1+utf8.RuneCountInString(w)+len(goesOn) > p.width && strings.TrimSpace(current) != "" {
			p.lines = append(p.lines, line{{current + goesOn, plain}})
			current = strings.Repeat(" ", 3)
		}
		current += " " + w
	}
	p.lines = append(p.lines, line{{current, plain}})
}
