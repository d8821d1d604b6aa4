package document

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// writeLaTeX writes all tables for a paper, by the macros of the package booktabs.
func (d *Document) writeLaTeX(w io.Writer, _ Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s\n", printable.Line(d.Title))
	for _, s := range d.Sections {
		for _, t := range blocksOf[*Table](&Document{Sections: []Section{s}}) {
			t.latex(&b, cmp.Or(t.Caption, s.Title))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) latex(b *strings.Builder, caption string) {
	t = t.words()
	align := ""
	var head Row
	for _, c := range t.Columns {
		head = append(head, Cell{Text: c.Name})
		align += map[bool]string{false: "l", true: "r"}[c.Number]
	}
	fmt.Fprintf(b, "\\begin{table}\n\\caption{%s}\n\\begin{tabular}{%s}\n\\toprule\n%s\\midrule\n", texText(marked(printable.Line(caption))), align, head.latex())
	for _, row := range t.Rows {
		b.WriteString(row.latex())
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
}

// latex is a row of a tabular.
func (r Row) latex() string {
	var cells []string
	for _, c := range r {
		cells = append(cells, texText(c.pieces()))
	}
	return strings.Join(cells, " & ") + " \\\\\n"
}

// texText writes a text for LaTeX.
func texText(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Code {
			b.WriteString(`\texttt{` + texSpecial.Replace(p.Text) + "}")
		} else {
			b.WriteString(texSpecial.Replace(p.Text))
		}
	}
	return b.String()
}

// texSpecial writes what LaTeX would take for markup as what it is.
var texSpecial = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "→", `$\rightarrow$`, "`", "{`}")
