package probe

import (
	"fmt"
	"strings"
)

// looks has what each kind of node is called and drawn as.
var looks = map[Kind]struct{ name, symbol, box, digit, open, close string }{
	Add:     {"add", "+", "f-paper k-ink", "mid", "(", ")"},
	Swamped: {"fused", "Σ", "f-one", "mid f-onone", "[", "]"},
	Exact:   {"fused exact", "Σ exact", "f-zero k-sum", "mid", "{", "}"},
}

// leafName names a term: p0, p1, ..., c.
func leafName(term, k int) string {
	if term == k {
		return "c"
	}
	return fmt.Sprintf("p%d", term)
}

// runs writes leaves in ascending order, c first and runs shortened: c p0..p7.
func runs(leaves []int, k int) string {
	var words []string
	if n := len(leaves); n > 0 && leaves[n-1] == k {
		words, leaves = append(words, "c"), leaves[:n-1]
	}
	for len(leaves) > 0 {
		n := 1
		for n < len(leaves) && leaves[n] == leaves[0]+n {
			n++
		}
		if n >= 3 {
			words = append(words, leafName(leaves[0], k)+".."+leafName(leaves[n-1], k))
		} else {
			n = 1
			words = append(words, leafName(leaves[0], k))
		}
		leaves = leaves[n:]
	}
	return strings.Join(words, " ")
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
	label := looks[t.Kind].name
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

// Formula writes the tree in a line: + between the terms of an add, [ ] around those
// of a fused sum, { } around those of an exact one.
func (t *Tree) Formula(k int) string {
	if t.Kind == Leaf {
		return leafName(t.Term, k)
	}
	inner, leaves := t.arranged()
	var words []string
	for _, c := range inner {
		words = append(words, c.Formula(k))
	}
	between := " "
	switch {
	case t.Kind == Add:
		between = " + "
		for _, l := range leaves {
			words = append(words, leafName(l, k))
		}
	case len(leaves) > 0:
		words = append(words, runs(leaves, k))
	}
	look := looks[t.Kind]
	return look.open + strings.Join(words, between) + look.close
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
		fmt.Fprintf(&b, "  %s [label=%q];\n", id, looks[t.Kind].name)
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
