package report

import (
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// ink is the meaning of a colour.
type ink uint8

// The inks.
const (
	plain ink = iota
	strong
	faint
	keptInk
	lostInk
	hereInk
	sumInk
)

// sgr are the inks' ANSI codes.
var sgr = [...]string{plain: "", strong: "1", faint: "2", keptInk: "34", lostInk: "31", hereInk: "1;33", sumInk: "32"}

// span is a piece of a line in one ink.
type span struct {
	text string
	ink  ink
}

// line is a line of text.
type line []span

func (l line) add(text string, i ink) line { return append(l, span{text, i}) }

// width returns the columns that a line takes: all characters are of width 1.
func (l line) width() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// padded fills a line up with blanks.
func (l line) padded(width int) line {
	if n := width - l.width(); n > 0 {
		return l.add(strings.Repeat(" ", n), plain)
	}
	return l
}

// trimmed is the width without blanks at the end.
func (l line) trimmed() int { return utf8.RuneCountInString(l.render(false)) }

// render writes a line without the blanks at its end. Names come from files and
// children: what a terminal would act on is shown instead.
func (l line) render(color bool) string {
	for len(l) > 0 {
		last := &l[len(l)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		l = l[:len(l)-1]
	}
	var b strings.Builder
	for _, s := range l {
		text := printable.Line(s.text)
		if color && s.ink != plain {
			text = "\x1b[" + sgr[s.ink] + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	return b.String()
}

// wrap breaks text into lines of a width, at blanks; the second and later lines
// are indented. A word that is longer than a line is not cut.
func wrap(text string, width, indent int) []string {
	var lines []string
	body := strings.TrimLeft(text, " ")
	current := strings.Repeat(" ", len(text)-len(body))
	begun := false // current has a word
	for _, word := range strings.Split(body, " ") {
		n := utf8.RuneCountInString(current) + utf8.RuneCountInString(word)
		switch {
		case begun && n+1 > width:
			lines = append(lines, strings.TrimRight(current, " "))
			current, begun = strings.Repeat(" ", indent), false
		case begun:
			current += " "
		}
		if word != "" || begun { // no blanks at the beginning of a line
			current, begun = current+word, true
		}
	}
	return append(lines, current)
}

// printer collects the lines of a picture.
type printer struct {
	width int
	brief bool // TextOptions.Brief
	lines []line
}

func (p *printer) blank() { p.lines = append(p.lines, nil) }

// text adds wrapped text; later lines are indented.
func (p *printer) text(s string, indent int, i ink) {
	for _, l := range wrap(s, p.width, indent) {
		p.lines = append(p.lines, line{{l, i}})
	}
}

// tableGap is the blanks between columns of a table.
const tableGap = 2

// table adds rows of cells in columns. Columns that do not fit go to a second
// line, below the second column, and on from there if they are wider than that.
func (p *printer) table(rows [][]string) {
	widths := columnWidths(rows)
	for _, cells := range rows {
		var l line
		at := 0
		for i, c := range cells {
			if at+widths[i] > p.width && i > 1 {
				p.lines = append(p.lines, l)
				l, at = nil, widths[0]+tableGap
				parts := wrap(c, p.width-at, 0)
				for _, part := range parts[:len(parts)-1] {
					p.lines = append(p.lines, l.padded(at).add(part, plain))
				}
				c = parts[len(parts)-1]
			}
			l = l.padded(at).add(c, plain)
			at += widths[i] + tableGap
		}
		if l.trimmed() > 0 {
			p.lines = append(p.lines, l)
		}
	}
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, cells := range rows {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	return widths
}
