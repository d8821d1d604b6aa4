package readable

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table whose last column takes what is left of the width and continues below
// itself. Columns that do not fit stand in further, indented lines of each row, in the heading
// as in the body. Names are never cut: a word that is longer than a line stays whole.
type Table struct {
	Width int          // columns of the terminal
	Right map[int]bool // columns of numbers, which end in one line
	Head  bool         // the first row is a heading
	Rows  [][]string   // all of the same length
}

const (
	gap       = 2  // blanks between columns
	lastWidth = 16 // the least width of the last column
	further   = 4  // indent of further lines of a row
)

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write writes the table; without rows it writes nothing. bold marks up the first cells of
// the rows below the heading, after they have been measured; nil leaves them plain.
func (t *Table) Write(w io.Writer, bold func(string) string) {
	if len(t.Rows) == 0 {
		return
	}
	widths := t.columnWidths()
	groups := t.groups(widths)
	for i, row := range t.Rows {
		mark := bold
		if i == 0 && t.Head {
			mark = nil
		}
		for _, g := range groups {
			t.writeGroup(w, row, g, widths, mark)
		}
	}
}

func (t *Table) columnWidths() []int {
	widths := make([]int, len(t.Rows[0]))
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// columnGroup is a part of a table: columns that stand in one line. The last one, if it wraps,
// continues below itself.
type columnGroup struct {
	first, end int // the columns from first to before end
	indent     int
	wraps      bool
}

// groups puts as many columns into each line as fit. The last column of the table wraps, and so
// does one that has a line of its own.
func (t *Table) groups(widths []int) []columnGroup {
	var groups []columnGroup
	last := len(widths) - 1
	g := columnGroup{}
	used := 0 // columns of the line
	for i, n := range widths {
		if i == last {
			n = max(min(n, lastWidth), t.longestWord(last))
		}
		if i > g.first && used+n > t.Width {
			groups = append(groups, g)
			g = columnGroup{first: i, indent: further}
			used = further
		}
		used += n + gap
		g.end = i + 1
		g.wraps = i == last || i == g.first && used-gap > t.Width
	}
	return append(groups, g)
}

// longestWord returns the length of the longest word in a column.
func (t *Table) longestWord(column int) int {
	longest := 0
	for _, row := range t.Rows {
		for word := range strings.FieldsSeq(row[column]) {
			longest = max(longest, utf8.RuneCountInString(word))
		}
	}
	return longest
}

// writeGroup writes the cells of a row in a group of columns. Empty lines are left out, but for
// the first of a row.
func (t *Table) writeGroup(w io.Writer, row []string, g columnGroup, widths []int, bold func(string) string) {
	plain := g.end
	if g.wraps {
		plain--
	}
	line := strings.Repeat(" ", g.indent)
	column := g.indent
	for i := g.first; i < plain; i++ {
		line += t.cell(row[i], i, widths[i], bold) + strings.Repeat(" ", gap)
		column += widths[i] + gap
	}
	lines := []string{line}
	if g.wraps {
		lines = Wrap(row[plain], t.Width-column)
		if plain == 0 && bold != nil {
			for i := range lines {
				lines[i] = bold(lines[i])
			}
		}
		lines[0] = line + lines[0]
	}
	for i, l := range lines {
		if i > 0 {
			l = strings.Repeat(" ", column) + l
		}
		if l = strings.TrimRight(l, " "); l != "" || g.first+i == 0 {
			fmt.Fprintln(w, l)
		}
	}
}

// cell fills a cell with blanks.
func (t *Table) cell(text string, column, width int, bold func(string) string) string {
	fill := strings.Repeat(" ", width-utf8.RuneCountInString(text))
	if column == 0 && bold != nil {
		text = bold(text)
	}
	if t.Right[column] {
		return fill + text
	}
	return text + fill
}
