package report

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// panelGap is the blanks between panels that stand side by side.
const panelGap = 2

// panels adds the panels of the sides.
func (p *printer) panels(panels []panel) {
	d := newDrawing(panels)
	sideBySide := 0
	if len(panels) == 2 {
		sideBySide = (p.width-panelGap)/2 - d.gutter() - 1
	}
	if len(d.rows) > 0 {
		d.layout = arrange(d.rows, sideBySide, p.width-d.gutter()-1)
	}
	p.blank()
	if d.sideBySide {
		d.width = (p.width - panelGap) / 2
		p.beside(d.sections(panels[0]), d.sections(panels[1]), d.width)
	} else {
		d.width = p.width
		for i, panel := range panels {
			if i > 0 {
				p.blank()
			}
			p.below(d.sections(panel))
		}
	}
	p.key(d, panels)
}

// below adds the sections of a panel.
func (p *printer) below(sections [][]line) {
	for i, s := range sections {
		if i > 1 {
			p.blank()
		}
		p.lines = append(p.lines, s...)
	}
}

// beside adds two panels side by side. If they have the same number of sections,
// these begin on the same line.
func (p *printer) beside(a, b [][]line, width int) {
	if len(a) != len(b) {
		a, b = [][]line{a[0], flat(a[1:])}, [][]line{b[0], flat(b[1:])}
	}
	for i := range a {
		if i > 1 {
			p.blank()
		}
		for j := range max(len(a[i]), len(b[i])) {
			var l line
			if j < len(a[i]) {
				l = a[i][j]
			}
			if j < len(b[i]) {
				l = append(l.padded(width+panelGap), b[i][j]...)
			}
			p.lines = append(p.lines, l)
		}
	}
}

func flat(sections [][]line) []line {
	var all []line
	for i, s := range sections {
		if i > 0 {
			all = append(all, nil)
		}
		all = append(all, s...)
	}
	return all
}

// key explains the characters of rows of bits and the rounding modes that occur.
func (p *printer) key(d *drawing, panels []panel) {
	var parts []string
	if len(d.rows) > 0 {
		parts = d.glyphKey(panels[0].converts)
	}
	for _, m := range modesIn(panels) {
		parts = append(parts, modeName(m)+" "+modeWords[m])
	}
	if parts != nil {
		if !p.brief {
			p.blank()
		}
		p.text("key: "+strings.Join(parts, "; "), 5, faint)
	}
}

// glyphKey explains the characters of rows of bits.
func (d *drawing) glyphKey(converts bool) []string {
	text := "0 1 bits that count"
	for _, k := range []struct {
		state state
		text  string
	}{{onlyHere, "I a 1 that counts on this side only"}, {lostOne, ". x bits dropped"}} {
		if d.has[k.state] {
			text += ", " + k.text
		}
	}
	cut, exponent := "cut of the terms", "E largest exponent e of a term, F bits kept below it"
	if converts {
		cut, exponent = "first rounding", "E exponent e of the number, F bits kept below it"
	}
	if d.marked[cutMark] {
		text += ", | " + cut
	}
	if d.marked[endMark] {
		text += ", ] end of the rounded result"
	}
	if slices.ContainsFunc(d.axis, column.gap) {
		text += ", … columns left out"
	}
	if d.marked[cutMark] {
		return []string{text, exponent}
	}
	return []string{text}
}

// modesIn returns the rounding modes that panels name.
func modesIn(panels []panel) []fp.Mode {
	named := map[fp.Mode]bool{}
	for i := range panels {
		for _, b := range panels[i].blocks {
			for _, m := range b.modes {
				named[m] = true
			}
			for _, e := range b.body {
				n := &e.note
				if e.row != nil {
					n = &e.row.note
				}
				if n.kind == moved || n.kind == rounded {
					named[n.mode] = true
				}
			}
		}
	}
	return slices.DeleteFunc(append(fp.Modes(), fp.RS), func(m fp.Mode) bool { return !named[m] })
}

// drawing draws rows on a layout.
type drawing struct {
	layout
	rows                 []*row // that have bits
	has                  [onlyHere + 1]bool
	marked               [endMark + 1]bool
	labelWidth, expWidth int
	width                int // of a panel
}

func newDrawing(panels []panel) *drawing {
	d := &drawing{labelWidth: 3, expWidth: 2}
	for i := range panels {
		for j := range panels[i].blocks {
			for _, e := range panels[i].blocks[j].body {
				if e.row != nil {
					d.take(e.row)
				}
			}
		}
	}
	return d
}

// take measures a row.
func (d *drawing) take(r *row) {
	d.labelWidth = max(d.labelWidth, len(r.label))
	if r.hasExp {
		d.expWidth = max(d.expWidth, len(strconv.Itoa(int(r.exp))))
	}
	if len(r.bits) == 0 {
		return
	}
	d.rows = append(d.rows, r)
	for _, s := range r.bits {
		d.has[s] = true
	}
	d.has[lostOne] = d.has[lostOne] || d.has[lostZero]
	for _, m := range r.marks {
		d.marked[m.kind] = true
	}
}

// sections draws a panel: the heading, then its blocks.
func (d *drawing) sections(p panel) [][]line {
	var heading []line
	prefix, blanks := "", "" // before the first line and the others
	if p.letter != "" {
		prefix = p.letter + "  "
		blanks = strings.Repeat(" ", len(prefix))
	}
	for i, h := range p.heading {
		if i > 0 {
			heading = d.text(heading, blanks+h, len(blanks), plain)
			continue
		}
		for _, part := range atSlash(h, d.width-len(prefix)) {
			heading = d.text(heading, prefix+shortened(part, d.width-len(prefix)), len(blanks), strong)
			prefix = blanks
		}
	}
	sections := [][]line{heading}
	for i := range p.blocks {
		sections = append(sections, d.block(&p.blocks[i]))
	}
	return sections
}

// atSlash breaks TARGET/INSTRUCTION after the slash if it is too long for a line: a target may
// be a command, whose words belong together.
func atSlash(name string, width int) []string {
	if i := strings.LastIndex(name, "/") + 1; utf8.RuneCountInString(name) > width && i > 0 {
		return []string{name[:i], name[i:]}
	}
	return []string{name}
}

// shortened cuts a name that is too long for a line.
func shortened(name string, width int) string {
	if runes := []rune(name); len(runes) > width && !strings.Contains(name, " ") {
		return string(runes[:width-1]) + "…"
	}
	return name
}

// text appends wrapped text.
func (d *drawing) text(ls []line, s string, indent int, i ink) []line {
	for _, l := range wrap(s, d.width, indent) {
		ls = append(ls, line{{l, i}})
	}
	return ls
}

func (d *drawing) block(b *block) []line {
	var ls []line
	for _, h := range b.head {
		ls = d.text(ls, "  "+h, 4, plain)
	}
	if cut, ok := b.bits(); ok {
		ls = append(ls, d.ruler(cut))
	}
	for _, e := range b.body {
		if e.row != nil {
			ls = append(ls, d.row(e.row)...)
		} else {
			ls = d.text(ls, "  "+e.text(), 4, plain)
		}
	}
	for _, t := range b.tail {
		ls = d.text(ls, "  "+t, 4, plain)
	}
	return ls
}

// bits reports whether a block has rows of bits, and where the terms are cut if
// all are cut at one place: the ruler leaves room for that mark.
func (b *block) bits() (cut *int32, ok bool) {
	first := true
	for _, e := range b.body {
		if e.row == nil || len(e.row.bits) == 0 {
			continue
		}
		ok = true
		if e.row.sum {
			continue
		}
		if len(e.row.marks) == 0 || !first && (cut == nil || *cut != e.row.marks[0].after) {
			cut = nil
		} else {
			cut = &e.row.marks[0].after
		}
		first = false
	}
	return cut, ok
}
