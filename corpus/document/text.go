package document

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// terminal is a document as text for a terminal, under way.
type terminal struct {
	bytes.Buffer
	Options
	indent int
}

// writeText writes a document for a terminal: its sections with an empty line between two, the
// overview last. The title is not shown: the command that asked for it is above.
func (d *Document) writeText(w io.Writer, o Options) error {
	if o.Bold == nil {
		o.Bold = func(s string) string { return s }
	}
	t := &terminal{Options: o}
	for _, s := range append(d.Sections[:len(d.Sections):len(d.Sections)], Section{Blocks: present(d.Overview)}) {
		part := &terminal{Options: o}
		part.indented(0, s.Blocks)
		if part.Len() == 0 {
			continue
		}
		if t.Len() > 0 {
			t.WriteByte('\n')
		}
		if !d.Untitled && s.Title != "" {
			t.line(s.Title)
		}
		t.Write(part.Bytes())
	}
	_, err := w.Write(t.Bytes())
	return err
}

// line writes a paragraph whose further lines are indented.
func (t *terminal) line(text string) {
	t.WriteString(readable.Indented(t.indent, text, t.Width))
}

// verbatim writes lines that are not broken.
func (t *terminal) verbatim(lines string) {
	for line := range strings.Lines(lines) {
		fmt.Fprintf(t, "%*s%s\n", t.indent, "", strings.TrimSuffix(line, "\n"))
	}
}

// indented writes blocks behind further blanks.
func (t *terminal) indented(blanks int, blocks []Block) {
	t.indent += blanks
	for _, b := range blocks {
		b.text(t)
	}
	t.indent -= blanks
}

// rowsInTerminal are the rows of a table that a terminal shows if a file has all of them.
const rowsInTerminal = 40

// belowRow is how far what is below a row is indented.
const belowRow = 4

func (t *Table) text(o *terminal) {
	if t.Caption != "" {
		o.line(t.Caption)
	}
	blanks := strings.Repeat(" ", o.indent)
	g := readable.Table{Width: o.Width, Right: map[int]bool{}}
	if t.Name != "" {
		g.Width = cmp.Or(o.Rows, o.Width)
	}
	words := t.words()
	var head []string
	for i, c := range words.Columns {
		head = append(head, capitals(c.Name))
		g.Right[i] = c.Number
		if c.Narrow {
			g.Narrow = i
		}
	}
	if g.Head = !t.Bare && strings.Join(head, "") != ""; g.Head {
		head[0] = blanks + head[0]
		g.Add(head...)
	}
	shown := words.Rows
	if t.Name != "" && !o.Verbose {
		shown = shown[:min(rowsInTerminal, len(shown))]
	}
	for n, row := range shown {
		var cells []string
		for _, c := range row {
			cells = append(cells, plain(c.pieces()))
		}
		cells[0] = blanks + cells[0]
		g.Add(cells...)
		for _, c := range t.Rows[n] {
			if f, is := c.Block.(fold); is && o.Verbose {
				below := &terminal{Options: o.Options}
				below.indented(o.indent+belowRow, f.blocks)
				for line := range strings.Lines(below.String()) {
					g.Add(strings.TrimSuffix(line, "\n"))
				}
			}
		}
	}
	below := strings.Repeat(" ", o.indent+belowRow)
	g.Write(o, func(text string) string {
		if strings.HasPrefix(text, below) {
			return text
		}
		return o.Bold(text)
	})
	if n := len(t.Rows) - len(shown); n > 0 {
		o.line(fmt.Sprintf("%s more: --all shows them, --out DIR keeps them in %s.csv", readable.Plural(n, "row"), t.Name))
	}
}

// capitals is how a terminal writes the name of a column; one that begins with a number, such as
// 8 x 16x8, stays as it is.
func capitals(name string) string {
	if name != "" && '0' <= name[0] && name[0] <= '9' {
		return name
	}
	return strings.ToUpper(name)
}

// A terminal has no pictures: it shows the numbers of a figure where there is a table of them.
func (f Figure) text(t *terminal) {
	if f.Text != "" {
		t.verbatim(f.Text)
	} else if f.Numbers != nil && !f.Numbers.empty() {
		Text(f.Caption).text(t)
		f.Numbers.text(t)
	}
}
