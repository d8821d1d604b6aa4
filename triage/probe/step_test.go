package probe

import "testing"

// TestStep holds that the products of a step are as many as package infer says of the same sums.
func TestStep(t *testing.T) {
	leaf := func(term int) *Tree { return &Tree{Term: term} }
	node := func(kind Kind, children ...*Tree) *Tree { return &Tree{Kind: kind, Children: children} }
	pair := func(k int) *Tree { return node(Add, leaf(k), leaf(k+1)) }
	four := func(kind Kind) *Tree { return node(kind, leaf(0), leaf(1), leaf(2), leaf(3)) }
	for name, c := range map[string]struct {
		tree    *Tree
		k, want int
	}{
		"c, then one product after the other": {node(Add, node(Add, leaf(0), leaf(2)), leaf(1)), 2, 1},
		"one product":                         {node(Add, leaf(0), leaf(1)), 1, 1},
		"a pair and c":                        {node(Add, pair(0), leaf(2)), 2, 2},
		"one product after the other, then c": {node(Add, node(Add, pair(0), leaf(2)), leaf(3)), 3, 1},
		"pairs, one after the other, then c":  {node(Add, node(Add, node(Add, pair(0), pair(2)), pair(4)), leaf(6)), 6, 2},
		"a tree, and c":                       {node(Add, node(Add, pair(0), pair(2)), leaf(4)), 4, 4},
		"a fused sum, and c":                  {node(Add, four(Exact), leaf(4)), 4, 4},
		"a fused sum with c":                  {node(Swamped, leaf(0), leaf(1), leaf(2)), 2, 2},
	} {
		if got := c.tree.step(c.k); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
