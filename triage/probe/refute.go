package probe

import "github.com/mmafuzz/mmafuzz/sim/mma"

// The counts from which a tree is made know sums only in which two large terms cancel. A unit that
// adds the largest terms first, for example, gives the counts of an exact sum and computes
// none. So each exact sum is put to the test with a large term that does not cancel.

// refute returns results that contradict the exact sums of a tree, and says why; "" if none does.
func (p *Prober) refute(o order) (seen []Seen, why string) {
	o.tree.visit(func(n *Tree) {
		if n.Kind == Exact && seen == nil {
			seen = p.rounded(n, o.u, o.v.exp)
		}
	})
	if seen != nil {
		why = "two large terms that cancel leave small ones as they are, but beside one two small ones vanish that are large enough together: no tree of sums does this, the order depends on the data"
	}
	return seen, why
}

// rounded looks for x so that U + 2x arrives at a node, but not U + x + x; u and v are the exponents
// of U and of the smallest x.
func (p *Prober) rounded(n *Tree, u, v int) []Seen {
	var at []int // a term of each child
	for _, c := range n.Children {
		at = append(at, c.Terms()[0])
	}
	var dots []*mma.Dot
	var want []number
	for s := 2; s <= min(u-v, int(p.d.FracBits)+1); s++ {
		one, ok := p.dot(terms{at[0]: pow(u), at[1]: pow(u - s + 1)})
		two, okTwo := p.dot(terms{at[0]: pow(u), at[1]: pow(u - s), at[2]: pow(u - s)})
		if ok && okTwo {
			dots, want = append(dots, one, two), append(want, times(1<<(s-1)+1, u-s+1))
		}
	}
	seen := p.ask(dots...)
	for i, sum := range want {
		if one, two := seen[2*i], seen[2*i+1]; p.is(one, sum) && !p.is(two, sum) {
			return []Seen{two, one}
		}
	}
	return nil
}
