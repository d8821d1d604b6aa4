package probe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Kind says what a node of a summation tree is.
type Kind uint8

// The kinds. A sum of two terms is always Add: whether it aligns or rounds them
// first is another question.
const (
	Leaf    Kind = iota // a product, or c
	Add                 // a sum of two terms
	Swamped             // a fused sum in which large terms swamp small ones, although they cancel
	Exact               // a fused sum in which they do not
)

// Tree is the order in which a unit adds its K products and c, as far as inputs
// can show it: the arguments of a node are unordered. It is found with the
// method of FPRev: with U at i, -U at j and a small v everywhere else, the result
// counts the terms that do not meet U before it cancels (arXiv:2511.10909,
// section 3.1.2).
type Tree struct {
	Kind     Kind
	Term     int // of a Leaf: the position of the product, or K for c
	Children []*Tree
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

// Terms returns the terms of the leaves, in order.
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

// Node returns the innermost node that has both terms among its leaves.
func (t *Tree) Node(i, j int) *Tree {
	for _, c := range t.Children {
		terms := c.Terms()
		if slices.Contains(terms, i) && slices.Contains(terms, j) {
			return c.Node(i, j)
		}
	}
	return t
}

// swallowed returns the number of terms that U and -U swallow, themselves
// included, if they stand in different children of t.
func (t *Tree) swallowed(a, b *Tree) int {
	if t.Kind == Exact {
		return a.size() + b.size()
	}
	return t.size()
}

// matrix returns what the tree says of swallowed terms for every pair.
func (t *Tree) matrix(n int) [][]int {
	m := square(n)
	t.fill(m)
	return m
}

func (t *Tree) fill(m [][]int) {
	for x, a := range t.Children {
		for _, b := range t.Children[x+1:] {
			s := t.swallowed(a, b)
			for _, i := range a.Terms() {
				for _, j := range b.Terms() {
					m[i][j], m[j][i] = s, s
				}
			}
		}
		a.fill(m)
	}
}

func square(n int) [][]int {
	m := make([][]int, n)
	for i := range m {
		m[i] = make([]int, n)
	}
	return m
}

// treeOf returns the tree of which a matrix of swallowed terms is the matrix.
// ok is false if there is none of our kinds.
func treeOf(m [][]int) (t *Tree, ok bool) {
	all := make([]int, len(m))
	for i := range all {
		all[i] = i
	}
	t, ok = grow(m, all)
	if !ok {
		return nil, false
	}
	for i, row := range t.matrix(len(m)) {
		if !slices.Equal(row, m[i]) {
			return nil, false
		}
	}
	return t, true
}

// grow returns the tree of a set of terms.
func grow(m [][]int, set []int) (*Tree, bool) {
	if len(set) == 1 {
		return &Tree{Kind: Leaf, Term: set[0]}, true
	}
	parts, kind := divide(m, set)
	if len(parts) < 2 {
		return nil, false
	}
	t := &Tree{Kind: kind}
	for _, s := range parts {
		c, ok := grow(m, s)
		if !ok {
			return nil, false
		}
		t.Children = append(t.Children, c)
	}
	return t, true
}

// divide returns the sets of terms of the children of a node.
func divide(m [][]int, set []int) ([][]int, Kind) {
	for _, j := range set[1:] {
		if m[set[0]][j] >= len(set) {
			parts := classes(m, set)
			if len(parts) == 2 {
				return parts, Add
			}
			return parts, Swamped
		}
	}
	return disjoint(m, nil, set), Exact
}

// classes divides the terms of a node that swamps: two terms are in one child if
// they meet before all terms have.
func classes(m [][]int, set []int) [][]int {
	var parts [][]int
	for left := set; len(left) > 0; {
		part, rest := split(left, func(j int) bool { return m[left[0]][j] < len(set) })
		parts, left = append(parts, part), rest
	}
	return parts
}

// split divides terms into the first with those that are near it, and the rest.
func split(terms []int, near func(int) bool) (in, out []int) {
	for i, j := range terms {
		if i == 0 || near(j) {
			in = append(in, j)
		} else {
			out = append(out, j)
		}
	}
	return in, out
}

// disjoint divides the terms of an exact node. A child of t leaves is closed: U
// and -U in it swallow at most t terms; and two that stand in different children
// swallow both. parts are the children found so far, left are the other terms. It
// returns nil if there is no such division.
func disjoint(m [][]int, parts [][]int, left []int) [][]int {
	if len(left) == 0 {
		return parts
	}
	for t := len(m) - 1; t >= 1; t-- {
		part, rest := split(left, func(j int) bool { return m[left[0]][j] <= t })
		if len(part) != t || !apart(m, part, parts) {
			continue
		}
		if all := disjoint(m, append(parts[:len(parts):len(parts)], part), rest); len(all) > 1 {
			return all
		}
	}
	return nil
}

// apart says whether a part and others swallow each other as children of an exact
// node do.
func apart(m [][]int, part []int, others [][]int) bool {
	for _, o := range others {
		for _, i := range part {
			for _, j := range o {
				if m[i][j] != len(part)+len(o) {
					return false
				}
			}
		}
	}
	return true
}

// order is what is known about the summation tree.
type order struct {
	tree   *Tree
	why    string // why there is none
	seen   []Seen
	u, v   int // U = 2^u, v = 2^v
	matrix [][]int
}

// Tree returns the summation tree, nil with the reason if no input shows one.
func (p *Prober) Tree() (t *Tree, why string) {
	o := p.order()
	return o.tree, o.why
}

// maxLeaves is the number of terms of the largest tree that is looked for: every pair
// of them is a question of all of them.
const maxLeaves = 512

func (p *Prober) order() order { return once(p, "order", p.findOrder) }

func (p *Prober) findOrder() order {
	if p.leaves() < 2 {
		return order{tree: &Tree{Kind: Leaf}, why: ""}
	}
	if n := p.leaves(); n > maxLeaves {
		return order{why: fmt.Sprintf("there are %d terms, more than the %d of which every pair is asked for", n, maxLeaves)}
	}
	u, v, ok := p.scales()
	if !ok {
		return order{why: "the formats have no two numbers of which the larger swamps the smaller"}
	}
	o := order{u: u, v: v}
	if s, ok := p.swamps(u, v); !ok {
		o.seen, o.why = s, fmt.Sprintf("2^%d is not swamped by 2^%d, or does not arrive", v, u)
		return o
	}
	return p.count(o)
}

// count asks for every pair of terms and builds the tree.
func (p *Prober) count(o order) order {
	n := p.leaves()
	var dots []*mma.Dot
	for i := range n {
		for j := i + 1; j < n; j++ {
			d, _ := p.dot(p.around(pow(o.v), map[int]number{i: pow(o.u), j: pow(o.u).minus()}))
			dots = append(dots, d)
		}
	}
	o.matrix = square(n)
	seen := p.ask(dots...)
	o.seen = seen[:min(len(seen), 3)]
	next := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			s := seen[next]
			next++
			left, ok := p.multiple(s, o.v)
			if !ok || left > n-2 {
				o.seen, o.why = []Seen{s}, fmt.Sprintf("with %d and %d large and of opposite sign the result is no number of small terms", i, j)
				return o
			}
			o.matrix[i][j], o.matrix[j][i] = n-left, n-left
		}
	}
	if t, ok := treeOf(o.matrix); ok {
		o.tree = t
	} else {
		o.why = "the counts of terms are those of no tree of sums: the order depends on the data"
	}
	return o
}

// around returns terms of v everywhere but where special has others.
func (p *Prober) around(v number, special map[int]number) map[int]number {
	terms := map[int]number{}
	for i := range p.leaves() {
		terms[i] = v
	}
	for i, n := range special {
		terms[i] = n
	}
	return terms
}

// multiple returns a result as a multiple of 2^v.
func (p *Prober) multiple(s Seen, v int) (int, bool) {
	r, ok := p.result(s)
	if !ok || r.neg && r.sig != 0 {
		return 0, false
	}
	if r.sig == 0 {
		return 0, true
	}
	if r.exp < v || r.exp-v > 20 || r.sig>>20 != 0 {
		return 0, false
	}
	return int(r.sig << (r.exp - v)), true
}

// scales chooses U and v: far apart, U below overflow, v above all that might be
// flushed or cut (an alignment may have a floor), which is at the half of what
// the formats reach.
func (p *Prober) scales() (u, v int, ok bool) {
	lo, hi := p.reach(false)
	if hi-lo < 40 && p.subnormals() {
		lo, hi = p.reach(true)
	}
	if hi-lo > 120 {
		mid := (lo + hi) / 2
		lo, hi = mid-60, mid+60
	}
	return hi, lo, hi-lo >= 16
}

// reach returns the exponents of powers of two that are products, c and d alike,
// with or without subnormal numbers, so that sums of leaves of the smallest and
// the largest stay within.
func (p *Prober) reach(sub bool) (lo, hi int) {
	low := func(e, frac int) int {
		if sub {
			return e - frac
		}
		return e
	}
	fa, fb, fd := p.a, p.b, p.d
	lo = max(low(int(fa.Emin()), int(fa.FracBits))+low(int(fb.Emin()), int(fb.FracBits)), low(int(fd.Emin()), int(fd.FracBits)))
	hi = min(int(fa.Emax())+int(fb.Emax()), int(fd.Emax())-1)
	if p.c != nil {
		lo = max(lo, low(int(p.c.Emin()), int(p.c.FracBits)))
		hi = min(hi, int(p.c.Emax())-1)
	}
	return lo, hi
}

// swamps says whether 2^u takes no notice of 2^v in all other terms, wherever it
// stands, and whether a 2^v alone arrives.
func (p *Prober) swamps(u, v int) ([]Seen, bool) {
	var dots []*mma.Dot
	for i := range p.leaves() {
		d, ok := p.dot(p.around(pow(v), map[int]number{i: pow(u)}))
		if !ok {
			return nil, false
		}
		alone, _ := p.dot(map[int]number{i: pow(v)})
		dots = append(dots, d, alone)
	}
	for i, s := range p.ask(dots...) {
		if !p.is(s, pow([]int{u, v}[i%2])) {
			return []Seen{s}, false
		}
	}
	return nil, true
}

// Groups returns the products that the innermost fused sum with product 0 adds:
// the width of the unit, in the words of FTTN. It is 1 if product 0 is added to c
// or to another sum alone.
func (t *Tree) Groups(k int) [][]int {
	var groups [][]int
	t.visit(func(n *Tree) {
		var g []int
		for _, c := range n.Children {
			if c.Kind == Leaf && c.Term < k {
				g = append(g, c.Term)
			}
		}
		if len(g) > 0 {
			slices.Sort(g)
			groups = append(groups, g)
		}
	})
	slices.SortFunc(groups, func(x, y []int) int { return cmp.Compare(x[0], y[0]) })
	return groups
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
