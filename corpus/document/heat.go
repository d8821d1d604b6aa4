package document

import (
	"fmt"
	"strconv"
)

// Heat is a matrix of shares as colours, with the numbers in them.
type Heat struct {
	Title         string   // what it shows, for those who cannot see it
	Rows, Columns []string // their names
	// Cells by row and column. A row may be shorter: what is missing is empty.
	Cells [][]HeatCell
	Key   string // what the colours mean; "": no key
}

// HeatCell is a cell of a heat map.
type HeatCell struct {
	Share float64 // 0 to 1, by which it is coloured; less than 0: there is nothing
	Text  string  // in the cell, of few characters
	Title string  // for those who hover
	Mark  bool    // framed: it needs attention
	Href  string  // of a place in this page
}

// level returns the level of a share, which has a colour: 0 for nothing, then shares below
// 0.1, 1, 10 and 50 %, and the rest.
func (c *HeatCell) level() int {
	switch {
	case c.Share <= 0:
		return 0
	case c.Share < 0.001:
		return 1
	case c.Share < 0.01:
		return 2
	case c.Share < 0.1:
		return 3
	case c.Share < 0.5:
		return 4
	}
	return 5
}

// Color names the colour of a share. The class of the style sheet that has it is f- and the name.
func (c *HeatCell) Color() string { return "h" + strconv.Itoa(c.level()) }

// heatKey is what the levels mean.
var heatKey = []string{"0", "< 0.1 %", "< 1 %", "< 10 %", "< 50 %", "to 100 %"}

// Sizes of heat maps, in pixels.
const (
	heatCell, heatRow    = 62, 26
	heatWidest, heatRoom = 150, 600 // of a cell and of all of them, if cells become as wide as the names of columns
	heatChar             = 7        // of a name, on average
)

func (h *Heat) empty() bool { return len(h.Rows) == 0 || len(h.Columns) == 0 }

func (h *Heat) data() *Table {
	t := &Table{Columns: append([]Column{{}}, Columns(h.Columns...)...)}
	for i, name := range h.Rows {
		row := Row{{Text: name}}
		for _, c := range h.Cells[i] {
			if c.Share < 0 {
				row = append(row, Cell{})
			} else {
				row = append(row, numberCell(c.Share))
			}
		}
		t.Rows = append(t.Rows, append(row, make(Row, len(h.Columns)+1-len(row))...))
	}
	return t
}

// SVG draws the heat map. If names of columns are too long, the columns get numbers, and their
// names stand below.
func (h *Heat) SVG() HTML {
	gutter, name := 0, 0
	for _, r := range h.Rows {
		gutter = max(gutter, heatChar*min(len([]rune(r)), 60)+14)
	}
	for _, c := range h.Columns {
		name = max(name, heatChar*len([]rune(c)))
	}
	cell := heatCell
	if width := min(name+8, heatWidest); len(h.Columns)*width <= heatRoom {
		cell = max(cell, width)
	}
	d := heatDrawn{Heat: h, Gutter: gutter - 8, Box: cell - 2}
	coded := name > cell-4
	for i, c := range h.Columns {
		text := show(c)
		if coded {
			d.Names = append(d.Names, heatName{Y: 28 + heatRow*len(h.Rows) + 30 + 18*i, Text: fmt.Sprintf("%d  %s", i+1, text)})
			text = strconv.Itoa(i + 1)
		}
		d.Heads = append(d.Heads, heatName{X: gutter + cell*i + cell/2, Text: text})
	}
	for i, r := range h.Rows {
		d.Labels = append(d.Labels, heatName{Y: 28 + heatRow*i + 17, Text: show(r)})
		for j := range h.Cells[i] {
			if c := &h.Cells[i][j]; c.Share >= 0 {
				n := c.level()
				x := heatSquare{X: gutter + cell*j + 1, Y: 28 + heatRow*i + 1, MidX: gutter + cell*j + cell/2, MidY: 28 + heatRow*i + 17,
					Fill: c.Color(), On: "onlow", Text: show(c.Text), Title: show(c.Title), Mark: c.Mark, Href: c.Href}
				if n > 3 {
					x.On = "onhigh"
				}
				d.Squares = append(d.Squares, x)
			}
		}
	}
	bottom := 28 + heatRow*len(h.Rows) + 12
	d.W, d.H = gutter+cell*len(h.Columns)+8, bottom
	if coded {
		d.H += 22 + 18*len(h.Columns)
		d.W = max(d.W, name+50)
	}
	if h.Key != "" {
		for i, text := range heatKey {
			d.Keys = append(d.Keys, heatSquare{X: 8 + 92*i, Y: d.H + 22, Fill: "h" + strconv.Itoa(i), Text: text})
		}
		d.KeyY = d.H + 12
		d.H += 48
		d.W = max(d.W, 92*len(heatKey)+16)
	}
	return render("heat", d)
}

type heatDrawn struct {
	*Heat
	W, H, Gutter, Box, KeyY int
	Heads, Labels, Names    []heatName
	Squares, Keys           []heatSquare
}

type heatName struct {
	X, Y int
	Text string
}

type heatSquare struct {
	X, Y, MidX, MidY            int
	Fill, On, Text, Title, Href string
	Mark                        bool
}
