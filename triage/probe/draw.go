package probe

import (
	"fmt"
	"slices"
	"strings"
)

// names of the kinds of nodes.
var kindNames = map[Kind]string{Add: "add", Swamped: "fused", Exact: "fused exact"}

// leafName names a term: p0, p1, ..., c.
func leafName(term, k int) string {
	if term == k {
		return "c"
	}
	return fmt.Sprintf("p%d", term)
}

// runs writes the leaves of terms, runs shortened: c p0..p7.
func runs(terms []int, k int) string {
	slices.Sort(terms)
	var words []string
	if n := len(terms); n > 0 && terms[n-1] == k {
		words, terms = append(words, "c"), terms[:n-1]
	}
	for i := 0; i < len(terms); {
		j := i
		for j+1 < len(terms) && terms[j+1] == terms[j]+1 {
			j++
		}
		switch {
		case j-i >= 2:
			words = append(words, leafName(terms[i], k)+".."+leafName(terms[j], k))
		default:
			for ; i < j; i++ {
				words = append(words, leafName(terms[i], k))
			}
			words = append(words, leafName(terms[j], k))
		}
		i = j + 1
	}
	return strings.Join(words, " ")
}

// arranged returns the children of a node: those that are not leaves first, by
// their first product, and the terms of those that are.
func (t *Tree) arranged() (inner []*Tree, leaves []int) {
	for _, c := range t.Children {
		if c.Kind == Leaf {
			leaves = append(leaves, c.Term)
		} else {
			inner = append(inner, c)
		}
	}
	slices.SortFunc(inner, func(x, y *Tree) int { return slices.Compare(x.Terms(), y.Terms()) })
	return inner, leaves
}

// Text draws the tree for a unit of K products, a node to a line.
func (t *Tree) Text(k int) string {
	var b strings.Builder
	t.text(&b, k, "", "")
	return b.String()
}

func (t *Tree) text(b *strings.Builder, k int, first, rest string) {
	if t.Kind == Leaf {
		fmt.Fprintf(b, "%s%s\n", first, leafName(t.Term, k))
		return
	}
	inner, leaves := t.arranged()
	label := kindNames[t.Kind]
	if t.Kind != Add {
		label += fmt.Sprintf(", %d terms", len(t.Children))
	}
	fmt.Fprintf(b, "%s%s", first, label)
	if len(leaves) > 0 {
		fmt.Fprintf(b, ": %s", runs(leaves, k))
	}
	if len(inner) > 0 && len(leaves) > 0 {
		b.WriteString(" and")
	}
	b.WriteString("\n")
	for i, c := range inner {
		if i == len(inner)-1 {
			c.text(b, k, rest+"└─ ", rest+"   ")
		} else {
			c.text(b, k, rest+"├─ ", rest+"│  ")
		}
	}
}

// Formula writes the tree in a line: + between the terms of an add, [ ] around
// those of a fused sum, { } around those of an exact one.
func (t *Tree) Formula(k int) string {
	if t.Kind == Leaf {
		return leafName(t.Term, k)
	}
	inner, leaves := t.arranged()
	var words []string
	for _, c := range inner {
		words = append(words, c.Formula(k))
	}
	if t.Kind == Add {
		for _, l := range leaves {
			words = append(words, leafName(l, k))
		}
		return "(" + strings.Join(words, " + ") + ")"
	}
	if len(leaves) > 0 {
		words = append(words, runs(leaves, k))
	}
	if t.Kind == Exact {
		return "{" + strings.Join(words, " ") + "}"
	}
	return "[" + strings.Join(words, " ") + "]"
}

// Graphviz writes the tree in the DOT language.
func (t *Tree) Graphviz(name string, k int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  node [shape=box];\n  edge [dir=back];\n", name)
	next := 0
	var draw func(*Tree) string
	draw = func(t *Tree) string {
		if t.Kind == Leaf {
			id := leafName(t.Term, k)
			fmt.Fprintf(&b, "  %s [shape=plain];\n", id)
			return id
		}
		id := fmt.Sprintf("n%d", next)
		next++
		fmt.Fprintf(&b, "  %s [label=%q];\n", id, kindNames[t.Kind])
		inner, leaves := t.arranged()
		for _, l := range leaves {
			fmt.Fprintf(&b, "  %s -> %s;\n", id, draw(&Tree{Kind: Leaf, Term: l}))
		}
		for _, c := range inner {
			fmt.Fprintf(&b, "  %s -> %s;\n", id, draw(c))
		}
		return id
	}
	draw(t)
	b.WriteString("}\n")
	return b.String()
}

// Sizes of the SVG picture, in pixels.
const (
	svgColumn = 34
	svgRow    = 46
	svgEdge   = 24
)

// SVG draws the tree with its leaves in a row at the bottom.
func (t *Tree) SVG(title string, k int) string {
	d := &drawing{k: k, levels: t.height()}
	d.node(t)
	w := svgColumn*d.column + 2*svgEdge
	h := svgRow*d.levels + 3*svgEdge
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`, w, h, w, h, escape(title), d.body.String())
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// height returns the number of nodes on the longest way to a leaf.
func (t *Tree) height() int {
	h := 0
	for _, c := range t.Children {
		h = max(h, 1+c.height())
	}
	return h
}

// drawing is an SVG picture under way.
type drawing struct {
	k, levels, column int
	body              strings.Builder
}

// node draws a tree and returns where its root is.
func (d *drawing) node(t *Tree) (x, y int) {
	y = svgEdge + svgRow*(d.levels-t.height())
	if t.Kind == Leaf {
		x = svgEdge + svgColumn*d.column + svgColumn/2
		d.column++
		fmt.Fprintf(&d.body, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x, y+14, leafName(t.Term, d.k))
		return x, y
	}
	inner, leaves := t.arranged()
	var feet [][2]int
	foot := func(c *Tree) {
		cx, cy := d.node(c)
		feet = append(feet, [2]int{cx, cy})
	}
	for _, c := range inner {
		foot(c)
	}
	slices.Sort(leaves)
	if n := len(leaves); n > 0 && leaves[n-1] == d.k { // c first, as it is added
		leaves = append([]int{d.k}, leaves[:n-1]...)
	}
	for _, l := range leaves {
		foot(&Tree{Kind: Leaf, Term: l})
	}
	x = (feet[0][0] + feet[len(feet)-1][0]) / 2
	for _, f := range feet {
		fmt.Fprintf(&d.body, `<path d="M%d %dV%dH%dV%d" fill="none" stroke="#888"/>`+"\n", x, y, y+svgRow/2, f[0], f[1])
	}
	fill := map[Kind]string{Add: "#fff", Swamped: "#ffd9b3", Exact: "#cfe8cf"}[t.Kind]
	name := map[Kind]string{Add: "+", Swamped: "Σ", Exact: "Σ exact"}[t.Kind]
	half := 10 + 3*(len(name)-1)
	fmt.Fprintf(&d.body, `<rect x="%d" y="%d" width="%d" height="18" rx="4" fill="%s" stroke="#444"/><text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		x-half, y-9, 2*half, fill, x, y+4, name)
	return x, y
}
