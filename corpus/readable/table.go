package readable

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table whose last column takes what is left of the width and continues
// below itself; where hardly anything is left, it gets lines of its own.
type Table struct {
	Width int          // columns of the terminal
	Right map[int]bool // columns of numbers, which end in one line
	Head  bool         // the first row is a heading
	Rows  [][]string   // all of the same length
}

const (
	gap       = 2  // blanks between columns
	lastWidth = 16 // the least width of the last column
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
	last := len(widths) - 1
	indent := 0
	for _, n := range widths[:last] {
		indent += n + gap
	}
	apart := t.Width-indent < min(lastWidth, widths[last])
	if apart {
		indent = 4
	}
	for i, row := range t.Rows {
		line := t.line(row[:last], widths, i > 0 || !t.Head, bold)
		text := Wrap(row[last], t.Width-indent)
		if !apart {
			line += text[0]
			text = text[1:]
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		for _, l := range text {
			if l != "" {
				fmt.Fprintf(w, "%*s%s\n", indent, "", l)
			}
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

func (t *Table) line(cells []string, widths []int, body bool, bold func(string) string) string {
	var b strings.Builder
	for i, cell := range cells {
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i == 0 && body && bold != nil {
			cell = bold(cell)
		}
		if t.Right[i] {
			cell, fill = fill, cell
		}
		b.WriteString(cell + fill + strings.Repeat(" ", gap))
	}
	return b.String()
}
