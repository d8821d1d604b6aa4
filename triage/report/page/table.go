package page

// Table is a table. Long ones can be filtered and sorted where scripts run.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
}

// Column is the heading of a column.
type Column struct {
	Name   string
	Number bool   // numbers, which end in one line
	Title  string // what it means, for those who hover
}

// Row is the cells of a row.
type Row []Cell

// Cell is a cell: text, or a block.
type Cell struct {
	Text  string // what stands between backquotes is code
	HTML  HTML   // instead of Text
	Key   string // by which it is sorted, if not by its text
	Class string // a class of the style sheet, such as bad or good
	Href  string // of a place in this page; the text becomes a link
}

// Columns makes columns of text; a name that begins with # is of numbers.
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

// HTML returns the table as a block; "" without rows.
func (t *Table) HTML() HTML {
	if len(t.Rows) == 0 {
		return ""
	}
	type cell struct {
		Cell
		Pieces []piece
		Column
	}
	rows := make([][]cell, len(t.Rows))
	for i, r := range t.Rows {
		for j, c := range r {
			c.Key = show(c.Key)
			rows[i] = append(rows[i], cell{c, marked(show(c.Text)), t.Columns[j]})
		}
	}
	return render("table", struct {
		Caption string
		Columns []Column
		Rows    [][]cell
		Filter  bool
		Wide    bool
	}{show(t.Caption), t.Columns, rows, len(rows) >= manyRows, len(t.Columns) >= manyColumns})
}
