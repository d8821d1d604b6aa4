package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// maxOperands is the number of products that are listed.
const maxOperands = 128

// title adds what the picture is of.
func (p *printer) title(in *Input) {
	f := in.Formats
	text := fmt.Sprintf("%s %s * %s", readable.Plural(len(in.Dot.A), "product"), f.A, f.B)
	if in.converts() {
		text = converted(f, " * ")
	}
	if f.C != fp.None {
		text += " + " + f.C.String()
	}
	text += " → " + f.D.String()
	if f.Scale != fp.None {
		text += fmt.Sprintf(", a %s scale per %d", f.Scale, f.Block)
	}
	if f.Down != 0 {
		text += fmt.Sprintf(", products times 2^-%d", f.Down)
	}
	if f.Mode != 0 {
		text += ", rounding " + f.Mode.String()
	}
	switch {
	case in.Title == "":
	case p.brief:
		text = in.Title + ": " + text
	default:
		p.text(in.Title, 2, strong)
	}
	p.text(text, 2, plain)
}

// converted names what a conversion rounds: its operand, or that times its scale.
func converted(f mma.Formats, times string) string {
	if f.B.IsOne() {
		return f.A.String()
	}
	return f.A.String() + times + f.B.String()
}

// operandNotes returns notes for the elements in which a side flushes a factor.
func operandNotes(views ...*view) map[int]string {
	notes := map[int]string{}
	for i, v := range views {
		for k, t := range v.products {
			if !t.FlushedA && !t.FlushedB {
				continue
			}
			switch {
			case len(views) == 1:
				notes[k] = "flushed"
			case notes[k] != "":
				notes[k] = "flushed by A and B"
			default:
				notes[k] = "flushed by " + sideNames[i]
			}
		}
	}
	return notes
}

var sideNames = []string{"A", "B"}

// operands lists the factors that are not all zero bits, C and the scales.
func (p *printer) operands(in *Input, notes map[int]string) {
	if !p.brief {
		p.blank()
	}
	rows, zeros := productCells(in, notes)
	if in.Formats.C != fp.None {
		rows = append(rows, cCells(in))
	}
	p.columns(rows)
	if len(zeros) > 0 && !p.brief { // the sums say it, too
		p.text("  a = b = 0: "+strings.Join(Ranges("p", zeros), " "), 4, plain)
	}
	p.scales(in)
	for _, f := range in.Free {
		if p.brief {
			break
		}
		p.text("  free: "+f, 4, plain)
	}
}

func productCells(in *Input, notes map[int]string) (rows [][]string, zeros []int) {
	f, d := in.Formats, in.Dot
	if in.converts() {
		rows = [][]string{{"  a", mma.FormatCode(f.A, d.A[0]), strings.TrimSpace("(" + Decimal(f.A, d.A[0]) + ") " + notes[0])}}
		if name := readable.Beside(f); name != "" {
			row := []string{"  " + name, mma.FormatCode(f.B, d.B[0]), ""}
			if !f.B.IsOne() {
				row[2] = "(" + Decimal(f.B, d.B[0]) + ")"
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
	left := 0
	for k := range d.A {
		switch {
		case d.A[k]|d.B[k] == 0 && f.B != fp.One:
			zeros = append(zeros, k)
		case len(rows) == maxOperands:
			left++
		default:
			value := "(" + productText(&f, d, k, Decimal) + ")"
			if notes[k] != "" {
				value += " " + notes[k]
			}
			rows = append(rows, []string{fmt.Sprintf("  p%d", k), productText(&f, d, k, mma.FormatCode), value})
		}
	}
	if left > 0 {
		rows = append(rows, []string{"  …", fmt.Sprintf("%d more", left), ""})
	}
	return rows, zeros
}

// productText writes the operands of product k; where b is the number 1, as of many conversions, a alone.
func productText(f *mma.Formats, d *mma.Dot, k int, write func(fp.ID, uint64) string) string {
	if f.B.IsOne() {
		return write(f.A, d.A[k])
	}
	return write(f.A, d.A[k]) + " * " + write(f.B, d.B[k])
}

func cCells(in *Input) []string {
	c, code := in.Formats.C, in.Dot.C
	return []string{"  c", mma.FormatCode(c, code), "(" + Decimal(c, code) + ")"}
}

// columns prints a long table in several columns, read downwards.
func (p *printer) columns(rows [][]string) {
	const short, gap = 8, 2
	widths := columnWidths(rows)
	width := 0 // of an entry and the gap after it
	for _, w := range widths {
		width += w + gap
	}
	n := max((p.width+gap)/max(width, 1), 1)
	if len(rows) <= short || n == 1 {
		p.table(rows)
		return
	}
	height := (len(rows) + n - 1) / n
	for i := range height {
		var l line
		for j := i; j < len(rows); j += height {
			l = l.padded(j / height * width)
			for c, cell := range rows[j] {
				l = l.add(cell+strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell)+gap), plain)
			}
		}
		p.lines = append(p.lines, l)
	}
}

// scales lists the scales; blocks that have the same ones are joined.
func (p *printer) scales(in *Input) {
	f, d := in.Formats, in.Dot
	block := int(f.Block)
	for i := 0; i < len(d.SA) && f.Scale != fp.None; {
		n := 1
		for i+n < len(d.SA) && d.SA[i+n] == d.SA[i] && d.SB[i+n] == d.SB[i] {
			n++
		}
		last := min((i+n)*block, len(d.A)) - 1
		p.text(fmt.Sprintf("  scales of p%d..p%d: %s * %s (%s * %s)", i*block, last,
			mma.FormatCode(f.Scale, d.SA[i]), mma.FormatCode(f.Scale, d.SB[i]), Decimal(f.Scale, d.SA[i]), Decimal(f.Scale, d.SB[i])), 4, plain)
		i += n
	}
}
