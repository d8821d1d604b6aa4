package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// SVGOptions says what a drawing shows.
type SVGOptions struct {
	All bool // draw every sum, not only those that decide
	Key bool // explain what bits and lines look like; on a page once is enough
}

// SVG draws a mismatch: the two sides one below the other, on one axis of powers of two, so
// that the same weight is in the same column.
func SVG(m *Mismatch, o SVGOptions) *document.Canvas {
	a, b, panels := panelsOf(m, o.All)
	p := newPainter(panels)
	if m.converts() {
		p.term = "number"
	}
	p.heading(&m.Input)
	p.paragraph(textLeft, "bold", decisive(a, b, panels))
	p.panels(panels)
	p.results(newResult(&m.Input, &m.A, &m.B))
	if o.Key {
		p.key()
	}
	return p.done()
}

// Sizes of a drawing, in pixels.
const (
	cellWidth  = 13 // of a bit
	gapCells   = 34 // of weights that are left out
	rowHeight  = 21
	lineHeight = 18
	textLeft   = 12
	expRight   = 132 // where exponents end
	signAt     = 148
	bitsLeft   = 162
	minPicture = 700 // wide enough for sentences
	svgColumns = 60  // of an axis
)

// painter draws onto a canvas from top to bottom.
type painter struct {
	c     document.Canvas
	d     *drawing
	y     int // where the next line of text stands
	xs    []int
	right int // of the axis
	width int // of the picture
	term  string
}

func newPainter(panels []panel) *painter {
	p := &painter{d: newDrawing(panels), y: 24, right: bitsLeft, width: minPicture, term: "term"}
	if len(p.d.rows) > 0 {
		p.d.layout = arrange(p.d.rows, 0, svgColumns)
	}
	for _, c := range p.d.axis {
		p.xs = append(p.xs, p.right)
		if c.gap() {
			p.right += gapCells
		} else {
			p.right += cellWidth
		}
	}
	p.width = max(p.width, p.right+textLeft)
	return p
}

func (p *painter) done() *document.Canvas {
	p.c.W = max(p.c.W, p.width) + textLeft
	p.c.H += 10
	return &p.c
}

// line writes a line of text.
func (p *painter) line(x int, class, text string) {
	p.c.Text(x, p.y, class, text)
	p.y += lineHeight
}

// paragraph writes text that is broken at the picture's edge.
func (p *painter) paragraph(x int, class, text string) {
	char := 75 // of text, in tenths of a pixel
	switch {
	case strings.Contains(class, "bold"):
		char = 80
	case strings.Contains(class, "code"):
		char = 86
	}
	for _, l := range readable.Wrap(text, (p.width-x)*10/char) {
		p.line(x, class, l)
	}
}

// heading names what is drawn.
func (p *painter) heading(in *Input) {
	p.paragraph(textLeft, "big bold", in.Title)
	f := in.Formats
	text := fmt.Sprintf("%d products %s × %s", len(in.Dot.A), f.A, f.B)
	if in.converts() {
		text = converted(f, " × ")
	}
	if f.C != 0 {
		text += " + c of " + f.C.String()
	}
	p.paragraph(textLeft, "faint", text+", result "+f.D.String())
	p.paragraph(textLeft, "faint", "Input: "+inputInWords(in))
}

// panels draws the sides.
func (p *painter) panels(panels []panel) {
	for i := range panels {
		p.y += 6
		p.panel(&panels[i])
	}
}

func (p *painter) panel(s *panel) {
	p.c.Rect(0, p.y-6, p.width+textLeft, 26, "f-shade")
	p.y += 12
	p.c.Text(textLeft, p.y, "bold", s.letter)
	p.line(textLeft+20, "bold code", readable.Shorten(s.heading[0], 80))
	for _, h := range s.heading[1:] {
		p.paragraph(textLeft+20, "", strings.ToUpper(h[:1])+h[1:]+".")
	}
	for i := range s.blocks {
		p.y += 6
		p.block(&s.blocks[i])
	}
}

func (p *painter) block(b *block) {
	for _, h := range b.words {
		p.paragraph(textLeft, "", h)
	}
	if _, ok := b.bits(); ok {
		p.ruler()
	}
	top, inSum := p.y, false
	for i := range b.body {
		switch r := b.body[i].row; {
		case r == nil:
			p.textBelow(&b.body[i])
		case r.sum && !inSum:
			inSum = true
			p.cutLine(b, top)
			p.c.Path(fmt.Sprintf("M%d %dH%d", textLeft, p.y-13, p.right), "k-ink")
			p.y += 3
			p.row(r)
		default:
			p.row(r)
		}
	}
	if !inSum {
		p.cutLine(b, top)
	}
	for _, t := range b.tail {
		p.paragraph(textLeft, "faint", t)
	}
}

// textBelow writes text among rows: what a rounding does, or which terms are zero.
func (p *painter) textBelow(e *entry) {
	words := e.note.words()
	switch {
	case e.listed:
		p.paragraph(bitsLeft, "faint", e.text())
		return
	case e.result == "":
		p.paragraph(bitsLeft, "faint", words)
		return
	case words != "":
		p.paragraph(bitsLeft, "", words)
	}
	p.paragraph(bitsLeft, "code", "→ "+e.result)
}

// ruler writes the powers of two above the columns.
func (p *painter) ruler() {
	p.y += 2
	p.c.Text(textLeft, p.y, "small faint", p.term)
	p.c.Text(expRight, p.y, "small faint end", "exponent")
	behindGap, last := true, -cellWidth*3
	for i, c := range p.d.axis {
		switch {
		case c.gap():
			p.c.Text(p.xs[i]+gapCells/2, p.y, "small faint mid", "⋯")
		case behindGap || c.hi%4 == 0 && p.xs[i] >= last+3*cellWidth:
			last = p.xs[i]
			p.c.Text(p.xs[i]+cellWidth/2, p.y, "small faint mid", power(c.hi))
		}
		behindGap = c.gap()
	}
	p.y += rowHeight - 3
}

// edge is the place right of the weight 2^after.
func (p *painter) edge(after int32) int {
	for i, c := range p.d.axis {
		switch {
		case c.hi < after:
			return p.xs[i]
		case c.gap() && c.lo < after:
			return p.xs[i] + gapCells/2
		}
	}
	return p.right
}

// cutLine draws where the terms above it are cut, from top to here.
func (p *painter) cutLine(b *block, top int) {
	at, ok := b.bits()
	if !ok || at == nil {
		return
	}
	x := p.edge(*at)
	p.c.Path(fmt.Sprintf("M%d %dV%d", x, top-16, p.y-14), "k-cut none thick")
}

// row draws a row of bits with its note.
func (p *painter) row(r *row) {
	p.c.Begin(p.rowTitle(r))
	class := "bold"
	if r.sum {
		class = "bold f-sum"
	}
	label := r.label
	if rest, ok := strings.CutPrefix(label, "S"); ok && r.sum && strings.Trim(rest, "'") == "" {
		label = "sum" + rest
	}
	p.c.Text(textLeft, p.y, class, label)
	if r.hasExp {
		p.c.Text(expRight, p.y, "end code", strconv.Itoa(int(r.exp)))
	}
	if len(r.bits) > 0 {
		sign := "+"
		if r.neg {
			sign = "−"
		}
		p.c.Text(signAt, p.y, "mid bits bold", sign)
		p.bits(r)
		p.marks(r)
	}
	p.c.End()
	switch {
	case r.note.kind == noNote:
	case len(r.bits) == 0:
		p.paragraphBeside(bitsLeft, r.note.words())
		return
	default:
		p.y += rowHeight
		words := r.note.words()
		if r.raised() {
			words = r.cutInWords()
		}
		p.paragraph(bitsLeft, "small faint", "↑ "+words)
		p.y += 2
		return
	}
	p.y += rowHeight
}

func (p *painter) paragraphBeside(x int, words string) {
	p.paragraph(x, "faint", words)
	p.y += rowHeight - lineHeight
}

// rowTitle says what a row is, for those who hover.
func (p *painter) rowTitle(r *row) string {
	what := p.term + " " + r.label
	if r.sum {
		what = strings.Replace(p.term, "term", "the sum", 1) + " " + r.label
	}
	if r.hasExp {
		what += fmt.Sprintf(", aligned by its exponent %d", r.exp)
	}
	if len(r.bits) == 0 {
		return what
	}
	kept, lost, here := 0, 0, 0
	for _, s := range r.bits {
		switch s {
		case one:
			kept++
		case lostOne:
			lost++
		case onlyHere:
			here++
		}
	}
	what += fmt.Sprintf(": bits from %s to %s, %d ones kept", power(r.top), power(r.low()), kept+here)
	if here > 0 {
		what += fmt.Sprintf(", %d of them on this side only", here)
	}
	if lost > 0 {
		what += fmt.Sprintf(", %d ones dropped", lost)
	}
	return what
}

// looks are how bits of a state are drawn: the box behind them, and the digit.
var looks = [...]struct{ box, digit, text string }{
	zero:     {"f-zero", "0", "bits mid"},
	one:      {"f-one", "1", "bits mid f-onone"},
	lostZero: {"f-lost", "0", "bits mid gone"},
	lostOne:  {"f-lost k-bad", "1", "bits mid gone bold f-bad"},
	onlyHere: {"f-here k-ink", "1", "bits mid bold f-onone"},
}

// bits draws the bits of a row, those of one state that stand together in one box.
func (p *painter) bits(r *row) {
	for i := 0; i < len(p.d.axis); {
		c := p.d.axis[i]
		if c.gap() {
			if c.hi >= r.low() && c.lo <= r.top {
				p.c.Text(p.xs[i]+gapCells/2, p.y, "mid faint", "⋯")
			}
			i++
			continue
		}
		s := r.at(c.hi)
		n := 1
		for i+n < len(p.d.axis) && !p.d.axis[i+n].gap() && r.at(p.d.axis[i+n].hi) == s {
			n++
		}
		if s != blank {
			p.run(s, p.xs[i], n)
		}
		i += n
	}
}

// run draws n bits of a state.
func (p *painter) run(s state, x, n int) {
	l := looks[s]
	p.c.Rect(x, p.y-14, n*cellWidth-1, 18, l.box)
	xs := make([]int, n)
	for i := range xs {
		xs[i] = x + i*cellWidth + cellWidth/2
	}
	p.c.Spread(xs, p.y, l.text, strings.Repeat(l.digit, n))
}

// marks draws where a row is cut by itself: the end of what a rounding leaves.
func (p *painter) marks(r *row) {
	for _, m := range r.marks {
		x := p.edge(m.after)
		if m.kind == endMark {
			p.c.Path(fmt.Sprintf("M%d %dh4v22h-4", x-3, p.y-16), "k-sum none thick")
		} else {
			p.c.Path(fmt.Sprintf("M%d %dv21", x, p.y-15), "k-cut none thick")
		}
	}
}

// Sizes of the results.
const (
	codeCell = 10
	codeLeft = 190
)

// results draws the codes of the results with their fields, and the exact value.
func (p *painter) results(r *result) {
	p.y += 10
	p.c.Rect(0, p.y-8, p.width+textLeft, 26, "f-shade")
	p.y += 10
	p.line(textLeft, "bold", "Results")
	p.y += 2
	f := r.format.Get()
	n := int(f.Bits())
	fields := []struct {
		name string
		bits int
	}{{"sign", 1}, {"exponent", n - 1 - int(f.FracBits)}, {"fraction", int(f.FracBits)}}
	if r.format.Flags() != 0 {
		fields = nil // the names say what a bit is
	}
	x := codeLeft
	for i, field := range fields {
		if i > 0 {
			p.c.Text(x, p.y, "small faint", field.name)
		}
		x += field.bits*codeCell + codeCell
	}
	p.y += lineHeight
	for i, s := range r.sides {
		p.c.Text(textLeft, p.y, "bold", sideNames[i])
		if s.Failed {
			p.line(codeLeft, "", "no result")
			p.y += 4
			continue
		}
		p.c.Text(textLeft+24, p.y, "code", mma.FormatCode(r.format, s.Result))
		if r.format.Flags() != 0 {
			p.line(codeLeft, "", "= "+Decimal(r.format, s.Result))
			continue
		}
		p.code(r, s.Result)
		p.y += 19
		text := "= " + Decimal(r.format, s.Result)
		if r.exactOf == "" {
			text += ", error " + unitsText(r.errorText(s.Result))
		}
		p.line(codeLeft, "", text)
		p.y += 4
	}
	p.c.Text(textLeft, p.y, "bold", "exact")
	p.paragraph(codeLeft, "", strings.TrimSpace("= "+r.exact.Decimal()+" "+r.exactOf))
	switch {
	case r.xor() != 0 && r.format.Flags() != 0:
		p.paragraph(textLeft, "faint", r.difference()+".")
	case r.xor() != 0:
		p.paragraph(textLeft, "faint", "Orange bits of the codes differ. "+r.difference()+".")
	}
}

// code draws the bits of a code by fields, those that stand together and look the same at
// once; those that differ are marked.
func (p *painter) code(r *result, code uint64) {
	f := r.format.Get()
	n := int(f.Bits())
	at := func(i int) (digit string, box, text string) { // of bit i, from the right
		bit := uint(i) + uint(f.Low)
		digit, box, text = strconv.FormatUint(code>>bit&1, 10), "f-zero", "bits mid small"
		if r.xor()>>bit&1 != 0 {
			return digit, "f-here", "bits mid small bold f-onone"
		}
		return digit, box, text
	}
	x := codeLeft
	for i := n - 1; i >= 0; {
		_, box, text := at(i)
		digits := ""
		var xs []int
		for first := i; i >= 0; i-- {
			d, b, _ := at(i)
			if b != box || i != first && (i == n-2 || i == int(f.FracBits)-1) {
				break
			}
			digits += d
			xs = append(xs, x+len(xs)*codeCell+codeCell/2)
		}
		p.c.Rect(x, p.y-13, len(xs)*codeCell-1, 17, box)
		p.c.Spread(xs, p.y, text, digits)
		if x += len(xs) * codeCell; i == n-2 || i == int(f.FracBits)-1 {
			x += codeCell
		}
	}
	p.c.W = max(p.c.W, x)
}

// key explains what occurs in drawings: a page has it once, for all of them.
func (p *painter) key() {
	p.y += 10
	p.c.Rect(0, p.y-8, p.width+textLeft, 26, "f-shade")
	p.y += 10
	p.line(textLeft, "bold", "How to read it")
	p.y += 8
	for _, k := range []struct {
		s    state
		text string
	}{
		{one, "a bit that counts: it is 1 at the power of two above its column"},
		{zero, "a bit that counts and is 0"},
		{onlyHere, "a 1 that is added on this side alone: the other drops it, or a cut on this side made it"},
		{lostOne, "a 1 that is dropped: by the cut of a term, or by the rounding of a sum"},
		{lostZero, "a 0 that is dropped"},
	} {
		p.run(k.s, textLeft+5, 1)
		p.line(textLeft+30, "", k.text)
		p.y += 3
	}
	p.y += 3
	p.c.Path(fmt.Sprintf("M%d %dv16", textLeft+11, p.y-13), "k-cut none thick")
	p.line(textLeft+30, "", "the cut: what is right of it is dropped before the terms are added")
	p.y += 6
	p.c.Path(fmt.Sprintf("M%d %dh4v18h-4", textLeft+8, p.y-14), "k-sum none thick")
	p.line(textLeft+30, "", "the end of the rounded result: what is right of it is rounded off")
	for _, text := range []string{
		"Each row is a number in binary, in the columns of its powers of two: the products p0, p1, … and the accumulator c as they are added, then the sum before it is rounded.",
		"Left of the bits stand the sign and the exponent by which the unit aligns the term. It is not always that of the leading 1: a product has the sum of its factors' exponents even if it is 2 or more times that power of two, a subnormal factor has the exponent of the smallest normal number, and a partial sum has the largest exponent of its terms.",
		"T or T0, T1, … are partial sums, which are added to others; d0, d1, … are the results of earlier steps, which the next step adds; d is the result. Where a number is rounded more than once, sum' is what the first rounding leaves.",
		"A term that a cut rounds away from zero stands there with its new bits and, crossed out, those that it has lost. One unit in the last place (ulp) is that of the exact value in the format of the result.",
	} {
		p.paragraph(textLeft, "faint", text)
	}
}
