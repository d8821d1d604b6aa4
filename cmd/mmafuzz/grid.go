package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table for people. Its last column takes what room is left of the
// width and goes on below itself; where hardly any is left, it gets lines of its
// own.
type grid struct {
	width int
	right map[int]bool // columns of numbers
	rows  [][]string
	head  bool // the first row is a heading
}

const (
	gridGap  = 2  // blanks between columns
	gridLast = 16 // the least width of the last column
)

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// write writes the table; bolden changes the first cell of a row under the
// heading, after it has been measured.
func (g *grid) write(w io.Writer, bolden func(string) string) {
	widths := g.columnWidths()
	last := len(widths) - 1
	indent := 0
	for _, n := range widths[:last] {
		indent += n + gridGap
	}
	apart := g.width-indent < min(gridLast, widths[last])
	if apart {
		indent = 4
	}
	for i, row := range g.rows {
		line := g.line(row[:last], widths, i > 0 || !g.head, bolden)
		text := wrap(row[last], g.width-indent)
		if !apart {
			line += text[0]
			text = text[1:]
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		for _, t := range text {
			if t != "" {
				fmt.Fprintf(w, "%*s%s\n", indent, "", t)
			}
		}
	}
}

func (g *grid) columnWidths() []int {
	widths := make([]int, len(g.rows[0]))
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func (g *grid) line(cells []string, widths []int, body bool, bolden func(string) string) string {
	var b strings.Builder
	for i, cell := range cells {
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i == 0 && body {
			cell = bolden(cell)
		}
		if g.right[i] {
			cell, fill = fill, cell
		}
		b.WriteString(cell + fill + strings.Repeat(" ", gridGap))
	}
	return b.String()
}

// wrap breaks text into lines of a width at blanks, at least one. A word that is
// longer than a line stays whole.
func wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
