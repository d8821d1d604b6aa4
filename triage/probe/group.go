package probe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// group is the sum in which product 0 is first added to other leaves of the tree; if these are two
// only, it is the fused sum above it, or another one, if the tree has any.
type group struct {
	kind     Kind
	products []int // a product of each child of that node, in ascending order
	c        bool  // c is a child
	terms    []int // all leaves below that node
	nested   bool  // a child is a sum itself
	guess    bool  // the tree is not known: the group is taken to be the first products and c, which are one fused sum unless cancelled shows another
}

// first returns the group of product 0.
func (p *Prober) first() group {
	return p.groupOf(0)
}

// groupOf returns the group of a product.
func (p *Prober) groupOf(product int) group {
	return once(p, fmt.Sprint("group ", product), func() group {
		t, _ := p.Tree()
		if t == nil {
			g := group{kind: Swamped, c: p.c != nil, guess: true}
			if p.cancelled() != nil {
				g.kind = Add
			}
			for k := range min(p.k, 4) {
				g.products = append(g.products, k)
			}
			g.terms = g.places(p.k)
			return g
		}
		n := t.sumOf(product)
		if n == nil {
			return group{}
		}
		g := group{kind: n.Kind, terms: n.Terms(), nested: n.size() > len(n.Children)}
		for _, child := range n.Children {
			if first := child.Terms()[0]; first == p.k {
				g.c = true
			} else {
				g.products = append(g.products, first)
			}
		}
		slices.Sort(g.products)
		return g
	})
}

// cancelled asks for the sum of a large number, of its opposite and of a small one, in the orders
// that the first three products can have. If the results differ, as a small number counts where the
// large ones have cancelled and is lost where they have not, the three are in no fused sum, and it
// returns two of them; else nil.
func (p *Prober) cancelled() []Seen {
	return once(p, "cancelled", func() []Seen {
		if p.k < 3 {
			return nil
		}
		top := p.top(0)
		for small := max(p.least(), top-60); small < top; small++ {
			var dots []*mma.Dot
			for at := range 3 {
				if d, ok := p.dot(terms{at: pow(small), (at + 1) % 3: pow(top), (at + 2) % 3: pow(top).minus()}); ok {
					dots = append(dots, d)
				}
			}
			if len(dots) < 3 {
				continue
			}
			seen := p.ask(dots...)
			for _, s := range seen[1:] {
				if s.Got != seen[0].Got {
					return []Seen{seen[0], s}
				}
			}
			return nil
		}
		return nil
	})
}

// sumOf returns the node in which a term is added first or, if that is a sum of two, the smallest
// fused one that holds it, or else any fused one; nil if there is one term only.
func (t *Tree) sumOf(term int) *Tree {
	var first, above, other *Tree
	t.visit(func(n *Tree) {
		holds := slices.Contains(n.Terms(), term)
		if holds {
			first = n
		}
		switch {
		case n.Kind != Add && holds:
			above = n
		case n.Kind != Add:
			other = n
		}
	})
	return cmp.Or(above, other, first)
}

// places returns the places of all leaves of a group, c last.
func (g group) places(k int) []int {
	t := slices.Clone(g.products)
	if g.c {
		t = append(t, k)
	}
	return t
}

// fused reports whether the group is a sum of more than two terms.
func (g group) fused() bool { return g.kind != Add && g.kind != Leaf }

// alignment returns three leaves of a fused group that show to which width the third
// is aligned beside the two others: a product, or c.
func (p *Prober) alignment(ofC bool) (at [3]int, why string) {
	g := p.first()
	n := len(g.products)
	switch {
	case ofC && p.c == nil:
		return at, "the instruction has no c"
	case p.order().refuted():
		return at, treeUnknown
	case ofC && (!g.fused() || !g.c || n < 2):
		return at, "c is in no sum of three leaves or more"
	case ofC:
		return [3]int{g.products[0], g.products[1], p.k}, ""
	case !g.fused() && g.guess:
		return at, treeUnknown
	case !g.fused():
		return at, "no sum of three terms or more"
	case n >= 3:
		return [3]int(g.products), ""
	case n == 2 && g.c:
		return [3]int{g.products[0], p.k, g.products[1]}, ""
	}
	return at, "the fused sum has too few leaves"
}

// carriers are the places of terms that together make a number of many digits: one or more terms of
// the value 1, and a tail, which is the small rest. If there is one 1, the tail may be at its place:
// then a single term has the whole number.
type carriers struct {
	ones []int // places of the terms 1: a power of two of them
	tail int
	one  scale // the power of two used in place of 1
}

// carriers returns ways to make a number of many digits, the best first. The first way has one 1,
// which is c, where products are too narrow; elsewhere it takes places in the group of product 0,
// with four ones if that is a fused sum of five leaves or more, otherwise one. The other ways use
// other sums, which may keep more digits: that of the last term and product 0, and that of c alone.
func (p *Prober) carriers() []carriers {
	g := p.first()
	places := g.places(p.k)
	first := carriers{[]int{p.k}, 0, productScale} // product 0 and c, or what stands for it
	switch {
	case p.c != nil && p.needed() > p.shiftOf(productScale):
		first.one = cScale
	case g.fused() && len(places) >= 5:
		first.ones, first.tail = places[:4], places[len(places)-1]
	case len(places) >= 2:
		first.ones, first.tail = places[:1], places[len(places)-1]
	}
	ways := []carriers{first}
	if p.last() > 0 {
		ways = append(ways, carriers{[]int{p.last()}, 0, cScale})
	}
	if p.c != nil {
		ways = append(ways, carriers{[]int{p.k}, p.k, cScale})
	}
	return ways
}

// carry returns the exponent of the sum of the ones: 0 for one of them, 2 for four.
func (c carriers) carry() int { return times(uint64(len(c.ones)), 0).reduced().exp }

// alone reports whether the ones and the tail are one term.
func (c carriers) alone() bool { return c.tail == c.ones[0] }

// cut returns the exponent below which the alignment of a fused sum cuts the tail. ok is false if
// no fused sum has both the tail and the ones, or it is not known where the tail is cut.
func (p *Prober) cut(c carriers) (e int, ok bool) {
	if places := p.first().places(p.k); !slices.Contains(places, c.ones[0]) || !slices.Contains(places, c.tail) {
		return 0, false
	}
	w := p.productWidth()
	if w.all {
		w = p.cWidth()
	}
	return -w.bits, w.ok
}
