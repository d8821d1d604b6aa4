package readable

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a table whose last column takes what is left of the width and continues below
// itself. Columns that do not fit stand in further, indented lines of each row, in the heading
// as in the body; so does the last cell of a row that has a word too long for its column. Names
// are never cut: a word that is longer than a line is not cut.
type Table struct {
	Width int          // columns of the terminal
	Right map[int]bool // columns of numbers, which end in one line
	Head  bool         // the first row is a heading
	// Narrow is a column, the last but one, that continues below itself where two thirds of the
	// room for it and the last one are not enough; 0: none.
	Narrow int
	Rows   [][]string // all of the same length, but for titles, which have one cell
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
	for i, row := range t.Rows {
		mark := bold
		if i == 0 && t.Head {
			mark = nil
		}
		if t.title(row) {
			fmt.Fprintln(w, t.cell(row[0], 0, 0, mark))
		} else {
			t.writeRow(w, row, widths, mark)
		}
	}
}

// title reports whether a row is a line above others, which is not in columns.
func (t *Table) title(row []string) bool { return len(row) < len(t.Rows[0]) }

func (t *Table) columnWidths() []int {
	widths := make([]int, len(t.Rows[0]))
	for _, row := range t.Rows {
		if t.title(row) {
			continue
		}
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if n := t.Narrow; n > 0 {
		room := t.Width
		for _, w := range widths[:n] {
			room -= w + gap
		}
		narrow := min(widths[n], room*2/3)
		if room-narrow-gap < lastWidth {
			narrow = min(widths[n], room) // the last column is moved below
		}
		widths[n] = narrow
	}
	return widths
}

// Room is how many columns are left for the last one in a line with the others.
func (t *Table) Room() int {
	room := t.Width
	for _, w := range t.columnWidths()[:len(t.Rows[0])-1] {
		room -= w + gap
	}
	return room
}

// writeRow writes a row. Lines without text are left out, but a row without any is an empty line.
func (t *Table) writeRow(w io.Writer, row []string, widths []int, bold func(string) string) {
	if strings.Join(row, "") == "" {
		fmt.Fprintln(w)
		return
	}
	for _, g := range t.groups(row, widths) {
		for _, l := range t.lines(row, g, widths, bold) {
			if l = strings.TrimRight(l, " "); l != "" {
				fmt.Fprintln(w, l)
			}
		}
	}
}

// columnGroup is a part of a table: columns that stand in one line. The last one, if it wraps,
// continues below itself.
type columnGroup struct {
	first, end int // the columns from first to before end
	indent     int
	wraps      bool
}

// groups puts as many columns of a row into each line as fit. The last column of the table wraps,
// and so does one that has a line of its own.
func (t *Table) groups(row []string, widths []int) []columnGroup {
	var groups []columnGroup
	last := len(widths) - 1
	g := columnGroup{}
	used := 0 // columns of the line
	for i, n := range widths {
		if i == last {
			n = max(min(n, lastWidth), longestWord(row[last]))
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

// longestWord returns the length of the longest word in a text.
func longestWord(text string) int {
	longest := 0
	for _, word := range words(text) {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	return longest
}

// lines returns the lines of the cells of a row in a group of columns.
func (t *Table) lines(row []string, g columnGroup, widths []int, bold func(string) string) []string {
	cells := make([][]string, g.end) // lines of each
	column, most := g.indent, 1
	for i := g.first; i < g.end; i++ {
		switch {
		case g.wraps && i == g.end-1:
			widths = slices.Clone(widths)
			room := t.Width - column
			cells[i], widths[i] = Wrap(row[i], room), min(widths[i], room)
		case t.Narrow > 0 && i == t.Narrow:
			cells[i] = Wrap(row[i], widths[i])
		default:
			cells[i] = []string{row[i]}
		}
		column += widths[i] + gap
		most = max(most, len(cells[i]))
	}
	lines := make([]string, most)
	for n := range lines {
		lines[n] = strings.Repeat(" ", g.indent)
		for i := g.first; i < g.end; i++ {
			text := ""
			if n < len(cells[i]) {
				text = cells[i][n]
			}
			lines[n] += t.cell(text, i, widths[i], bold) + strings.Repeat(" ", gap)
		}
	}
	return lines
}

// cell fills a cell with blanks.
func (t *Table) cell(text string, column, width int, bold func(string) string) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
	if column == 0 && bold != nil && text != "" {
		text = bold(text)
	}
	if t.Right[column] {
		return fill + text
	}
	return text + fill
}
