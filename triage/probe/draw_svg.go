package probe

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/document"
)

// Sizes of the picture, in pixels.
const (
	svgColumn = 34
	svgRow    = 46
	svgEdge   = 24
)

// SVG draws the tree for a unit of K products, with its leaves in a row at the bottom, as a
// file of its own.
func (t *Tree) SVG(title string, k int) string { return string(t.canvas(k).Titled(title).File()) }

func (t *Tree) canvas(k int) *document.Canvas {
	d := &drawing{k: k, levels: t.height()}
	d.c.H = svgRow*d.levels + 3*svgEdge
	d.node(t)
	d.c.W = svgColumn*d.column + 2*svgEdge
	return &d.c
}

// drawing is a picture under way.
type drawing struct {
	k, levels, column int
	c                 document.Canvas
}

// node draws a tree and returns where its root is.
func (d *drawing) node(t *Tree) (x, y int) {
	y = svgEdge + svgRow*(d.levels-t.height())
	if t.Kind == Leaf {
		x = svgEdge + svgColumn*d.column + svgColumn/2
		y = svgEdge + svgRow*d.levels
		d.column++
		d.c.Text(x, y+16, "small mid", leafName(t.Term, d.k))
		return x, y
	}
	inner, leaves := t.arranged()
	if n := len(leaves); n > 0 && leaves[n-1] == d.k { // c first, as in the formula
		leaves = append([]int{d.k}, leaves[:n-1]...)
	}
	for _, l := range leaves {
		inner = append(inner, &Tree{Kind: Leaf, Term: l})
	}
	feet := make([][2]int, len(inner))
	for i, c := range inner {
		feet[i][0], feet[i][1] = d.node(c)
	}
	x = (feet[0][0] + feet[len(feet)-1][0]) / 2
	for _, f := range feet {
		d.c.Path(fmt.Sprintf("M%d %dV%dH%dV%d", x, y, y+svgRow/2, f[0], f[1]), "k-faint none")
	}
	look := looks[t.Kind]
	half := 12 + 4*(len([]rune(look.symbol))-1)
	d.c.Rect(x-half, y-10, 2*half, 20, look.box)
	d.c.Text(x, y+5, look.digit, look.symbol)
	return x, y
}
