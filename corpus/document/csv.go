package document

import (
	"cmp"
	"encoding/csv"
	"io"
	"strings"
)

// writeCSV writes all tables, and the numbers of figures as tables. If there is more than one, a line
// with its name precedes each, and an empty line separates two.
func (d *Document) writeCSV(w io.Writer, _ Options) error {
	tables := blocksOf[*Table](d)
	for _, f := range blocksOf[Figure](d) {
		if t := f.numbers(); t != nil {
			tables = append(tables, t)
		}
	}
	for i, t := range tables {
		between := ""
		if i > 0 {
			between = "\n"
		}
		if len(tables) > 1 {
			between += "# " + show(cmp.Or(t.Name, t.Caption, "table")) + "\n"
		}
		if _, err := io.WriteString(w, between); err != nil {
			return err
		}
		if err := t.CSV(w); err != nil {
			return err
		}
	}
	return nil
}

// CSV writes a table as CSV, its numbers with all digits.
func (t *Table) CSV(w io.Writer) error {
	t = t.words()
	c := csv.NewWriter(w)
	var head []string
	for _, x := range t.Columns {
		head = append(head, x.Name)
	}
	if err := c.Write(head); err != nil {
		return err
	}
	for _, row := range t.Rows {
		var cells []string
		for _, x := range row {
			cells = append(cells, noFormula(cmp.Or(x.Exact, plain(x.pieces()))))
		}
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// noFormula makes a text, such as the name of a unit, one that no spreadsheet takes for a formula.
func noFormula(text string) string {
	if strings.HasPrefix(text, "=") || strings.HasPrefix(text, "@") {
		return "'" + text
	}
	return text
}
