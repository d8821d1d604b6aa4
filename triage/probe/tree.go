package probe

import (
	"fmt"
	"maps"
	"slices"
)

// Kind is the kind of a node of a summation tree.
type Kind uint8

// The kinds. A sum of two terms is always Add: whether it aligns or rounds them
// first is another question.
const (
	Leaf    Kind = iota // a product, or c
	Add                 // a sum of two terms
	Swamped             // a fused sum in which large terms swamp small ones even if the large ones cancel
	Exact               // a fused sum in which large terms that cancel leave the small ones intact
)

// Tree is the order in which a unit adds its K products and c, as far as inputs can
// show it. The children of a node have no order. See Prober.Tree for how it is
// found.
//
// Methods that print terms take K, which tells c from the products: these are
// p0, p1, and so on.
type Tree struct {
	Kind     Kind
	Term     int     // of a Leaf: the position of the product, or K for c
	Children []*Tree // of other nodes: two or more
}

// Terms returns the terms of all leaves in ascending order.
func (t *Tree) Terms() []int {
	if t.Kind == Leaf {
		return []int{t.Term}
	}
	var all []int
	for _, c := range t.Children {
		all = append(all, c.Terms()...)
	}
	slices.Sort(all)
	return all
}

// step returns the number of products that a tree with c takes at a time: those of the smallest
// subtree that holds c or, where c is added last to a sum that takes equal numbers of them one after
// the other, such a number.
func (t *Tree) step(k int) int {
	best := t
	t.visit(func(n *Tree) {
		if slices.Contains(n.Terms(), k) && n.size() < best.size() {
			best = n
		}
	})
	most := best.size() - 1
	if best.Kind != Add || most <= 2 {
		return most
	}
	largest := func(n *Tree) *Tree {
		return slices.MaxFunc(n.Children, func(x, y *Tree) int { return x.size() - y.size() })
	}
	step := 0
	for sum := largest(best); sum.size() != step; {
		if sum.Kind != Add {
			return most
		}
		rest := largest(sum)
		n := sum.size() - rest.size()
		if step == 0 && n == rest.size() || step != 0 && n != step {
			return most
		}
		step, sum = n, rest
	}
	return step
}

// widths returns the different numbers of products that fused sums take, beside the results of other fused sums
// and c, in the order of the products.
func (t *Tree) widths(k int) (all []string) {
	taken := map[int]int{} // by the least product of a sum
	t.visit(func(n *Tree) {
		if n.Kind == Add {
			return
		}
		if own := slices.DeleteFunc(n.own(), func(term int) bool { return term == k }); len(own) > 0 {
			taken[slices.Min(own)] = len(own)
		}
	})
	for _, first := range slices.Sorted(maps.Keys(taken)) {
		if n := fmt.Sprint(taken[first]); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// own returns the terms below a node that are in no fused sum below it.
func (t *Tree) own() (all []int) {
	for _, c := range t.Children {
		switch c.Kind {
		case Leaf:
			all = append(all, c.Term)
		case Add:
			all = append(all, c.own()...)
		}
	}
	return all
}

// size returns the number of leaves.
func (t *Tree) size() int {
	if t.Kind == Leaf {
		return 1
	}
	n := 0
	for _, c := range t.Children {
		n += c.size()
	}
	return n
}

// height returns the number of nodes on the longest way to a leaf.
func (t *Tree) height() int {
	h := 0
	for _, c := range t.Children {
		h = max(h, 1+c.height())
	}
	return h
}

// visit calls f for every node that is not a leaf.
func (t *Tree) visit(f func(*Tree)) {
	if t.Kind == Leaf {
		return
	}
	f(t)
	for _, c := range t.Children {
		c.visit(f)
	}
}

// arranged returns the children of a node: those that are not leaves, by their
// first term, and the terms of those that are, in ascending order.
func (t *Tree) arranged() (inner []*Tree, leaves []int) {
	for _, c := range t.Children {
		if c.Kind == Leaf {
			leaves = append(leaves, c.Term)
		} else {
			inner = append(inner, c)
		}
	}
	slices.SortFunc(inner, func(x, y *Tree) int { return slices.Compare(x.Terms(), y.Terms()) })
	slices.Sort(leaves)
	return inner, leaves
}
