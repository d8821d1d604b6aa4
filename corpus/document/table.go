package document

import (
	"fmt"
	"slices"
	"strings"
)

// Table is a table. Long ones can be filtered and sorted where scripts run.
type Table struct {
	Name    string // of its file, which has all rows if other media show some; "": they show all
	Caption string
	Bare    bool // a terminal does not show the names of columns
	Columns []Column
	Rows    []Row
}

// Column is the heading of a column.
type Column struct {
	Name   string
	Number bool   // its cells are numbers, aligned on the right
	Title  string // what it means, for those who hover
	Narrow bool   // a terminal may wrap its text; only the last column but one can be narrow
	Blocks bool   // its cells are folded blocks, which a terminal shows below their rows if it is to show all
}

// Row is the cells of a row.
type Row []Cell

// Cell is a cell: text, or a block.
type Cell struct {
	Text  string // what stands between backquotes is code
	Plain bool   // backquotes in Text are ordinary characters
	Block Block  // instead of Text
	Exact string // the text in files, if it differs from Text: a number with all digits
	Key   string // by which it is sorted, if not by its text
	Class string // a class of the style sheet, such as bad or good
	Href  string // of a place in this page; the text becomes a link
}

// pieces is the text of a cell, divided into words and code.
func (c *Cell) pieces() []piece {
	if c.Plain {
		return []piece{{Text: show(c.Text)}}
	}
	return marked(show(c.Text))
}

// Columns makes columns of text; a # before a name makes its column one of numbers.
func Columns(names ...string) []Column {
	var all []Column
	for _, n := range names {
		c := Column{Name: n}
		if n != "" && n[0] == '#' {
			c = Column{Name: n[1:], Number: true}
		}
		all = append(all, c)
	}
	return all
}

// Add appends a row of texts.
func (t *Table) Add(cells ...string) {
	var r Row
	for _, c := range cells {
		r = append(r, Cell{Text: c})
	}
	t.Rows = append(t.Rows, r)
}

// manyRows is the number of rows from which a table gets a field to filter it.
const manyRows = 12

// manyColumns is the number of columns from which a table scrolls rather than becoming
// narrow.
const manyColumns = 5

// rowsOnPage are the rows of a table that a page shows if a file has all of them.
const rowsOnPage = 500

// words returns the table without the columns of blocks.
func (t *Table) words() *Table {
	some := *t
	some.Columns, some.Rows = nil, make([]Row, len(t.Rows))
	for i, c := range t.Columns {
		if c.Blocks {
			continue
		}
		some.Columns = append(some.Columns, c)
		for n, r := range t.Rows {
			some.Rows[n] = append(some.Rows[n], r[i])
		}
	}
	return &some
}

func (t *Table) empty() bool { return t == nil || len(t.Rows) == 0 }

func (t *Table) html() HTML {
	type cell struct {
		Cell
		Pieces []piece
		Column
	}
	caption, shown := t.Caption, t.Rows
	if n := len(shown); t.Name != "" && n > rowsOnPage {
		shown = shown[:rowsOnPage]
		caption = strings.TrimSpace(caption + fmt.Sprintf(" The first %d of %d rows; %s.csv has all.", rowsOnPage, n, t.Name))
	}
	rows := make([][]cell, len(shown))
	for i, r := range shown {
		for j, c := range r {
			c.Key = show(c.Key)
			rows[i] = append(rows[i], cell{c, c.pieces(), t.Columns[j]})
		}
	}
	head := slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" })
	return render("table", struct {
		Caption string
		Columns []Column
		Rows    [][]cell
		Head    bool
		Filter  bool
		Wide    bool
	}{show(caption), t.Columns, rows, head, len(rows) >= manyRows, len(t.Columns) >= manyColumns})
}
