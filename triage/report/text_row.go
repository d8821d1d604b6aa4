package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// glyphs are the characters of states and their inks.
var glyphs = [...]span{
	blank:    {" ", plain},
	zero:     {"0", faint},
	one:      {"1", keptInk},
	lostZero: {".", faint},
	lostOne:  {"x", lostInk},
	onlyHere: {"I", hereInk},
}

var markGlyphs = [...]span{cutMark: {"|", lostInk}, endMark: {"]", strong}}

const gapGlyph = " … "

// gutter is the columns left of the bits: "  p12 e=-12 + ".
func (d *drawing) gutter() int { return 2 + d.labelWidth + 3 + d.expWidth + 3 }

// row draws a row, and its note after it, or below if there is no room.
func (d *drawing) row(r *row) []line {
	l := d.label(r)
	if len(r.bits) == 0 {
		return d.hang(l, r.note.text())
	}
	l = append(l, d.cells(r)...)
	if r.note.kind == noNote {
		return []line{l}
	}
	note := r.note.text()
	n := utf8.RuneCountInString(note)
	below := d.gutter() + d.lastKept(r)
	switch {
	case l.trimmed()+2+n <= d.width:
		return []line{l.add("  "+note, plain)}
	case below+2+n <= d.width:
		return []line{l, {{strings.Repeat(" ", below) + "^ " + note, plain}}}
	case below-1-n >= 0:
		return []line{l, {{strings.Repeat(" ", below-1-n) + note + " ^", plain}}}
	}
	return append([]line{l}, d.hang(nil, note)...)
}

// hang adds text to a line, wrapped right of the gutter.
func (d *drawing) hang(l line, text string) []line {
	var ls []line
	for _, part := range wrap(text, d.width-d.gutter(), 0) {
		ls = append(ls, l.padded(d.gutter()).add(part, plain))
		l = nil
	}
	return ls
}

// lastKept returns the column of the last bit left of a row's first mark.
func (d *drawing) lastKept(r *row) int {
	at := 0
	for _, c := range d.axis {
		if len(r.marks) > 0 && c.lo <= r.marks[0].after {
			break
		}
		at += c.width()
	}
	return at
}

// label draws what stands left of the bits.
func (d *drawing) label(r *row) line {
	ink := plain
	if r.sum {
		ink = sumInk
	}
	l := line{}.add("  "+r.label, ink).padded(2 + d.labelWidth)
	if r.hasExp {
		e := strconv.Itoa(int(r.exp))
		l = l.add(" e="+strings.Repeat(" ", d.expWidth-len(e))+e, plain)
	}
	sign := " + "
	if r.neg {
		sign = " - "
	}
	return l.padded(d.gutter()-3).add(sign, ink)
}

// cells draws the bits and marks of a row on the axis.
func (d *drawing) cells(r *row) line {
	var l line
	marks := r.marks
	for _, c := range d.axis {
		for len(marks) > 0 && marks[0].after > c.hi {
			l, marks = l.mark(marks[0]), marks[1:]
		}
		l = l.cell(r, c)
		for len(marks) > 0 && marks[0].after >= c.lo {
			l, marks = l.mark(marks[0]), marks[1:]
		}
	}
	for _, m := range marks {
		l = l.mark(m)
	}
	return l
}

func (l line) mark(m mark) line { return append(l, markGlyphs[m.kind]) }

func (l line) cell(r *row, c column) line {
	if !c.gap() {
		return append(l, glyphs[r.at(c.hi)])
	}
	if c.hi < r.low() || c.lo > r.top {
		return l.add(strings.Repeat(" ", gapWidth), plain)
	}
	return l.add(gapGlyph, faint)
}

// ruler writes the exponents of every eighth weight and of those after gaps,
// each beginning at its column.
func (d *drawing) ruler(cut *int32) line {
	l := line{}.add("  2^n", faint).padded(d.gutter())
	at, free := d.gutter(), d.gutter() // the weight's column, and the first one without text
	behindGap := true
	for _, c := range d.axis {
		if cut != nil && c.hi == *cut-1 {
			at++ // the mark's
		}
		text := strconv.Itoa(int(c.hi))
		switch end := at + len(text); {
		case c.gap() && l.width() < at+gapWidth:
			l = l.padded(at+1).add("…", faint)
			free = l.width()
		case !c.gap() && (behindGap || c.hi%8 == 0) && at >= free && end <= d.width:
			l = l.padded(at).add(text, faint)
			free = end + 1
		}
		behindGap = c.gap()
		at += c.width()
	}
	return l
}
