package probe

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// maxLeaves is the number of terms of the largest tree that is looked for: each pair
// of terms takes a dot product of all terms.
const maxLeaves = 512

// order is what is known about the summation tree.
type order struct {
	tree  *Tree
	why   string // why there is none
	seen  []Seen
	asked []Seen // all that the tree was made from
	u     int    // U is 2^u
	v     number
	// counted is the tree of these questions, which is tree unless other questions refute it.
	counted *Tree
}

// refuted reports whether the counts give a tree that other answers contradict.
func (o order) refuted() bool { return o.tree == nil && o.counted != nil }

// Tree returns the summation tree; nil and the reason if no input shows one. It is
// found with the method of FPRev: with U at one term, -U at another and a small v
// everywhere else, the result counts the terms that do not meet U before it cancels
// (arXiv:2511.10909, section 3.1.2). Some trees with exact sums give the same counts,
// such as {(p0 + p1) p2 p3} and {(p2 + p3) p0 p1}: one of them is returned.
func (p *Prober) Tree() (t *Tree, why string) {
	o := p.order()
	return o.tree, o.why
}

// CountedTree returns the tree that the counts give, before any other question is asked that may
// refute it; nil and the reason if there is none.
func (p *Prober) CountedTree() (t *Tree, why string) {
	o := p.countedOrder()
	return o.tree, o.why
}

// TreeQuestions returns the questions from whose answers CountedTree has made the tree: any other
// unit with these answers has that tree.
func (p *Prober) TreeQuestions() []Seen { return p.countedOrder().asked }

// order is what is known when the sums of the tree have been put to the test.
func (p *Prober) order() order {
	return once(p, "order", func() order {
		o := p.countedOrder()
		if o.counted = o.tree; o.tree != nil {
			if seen, why := p.refute(o); why != "" {
				o.tree, o.why, o.seen = nil, why, seen
			}
		}
		return o
	})
}

func (p *Prober) countedOrder() order { return once(p, "counted order", p.findOrder) }

func (p *Prober) findOrder() order {
	if p.leaves() < 2 {
		return order{tree: &Tree{Kind: Leaf}}
	}
	if n := p.leaves(); n > maxLeaves {
		return order{why: fmt.Sprintf("there are %d terms, more than the %d of which every pair is asked for", n, maxLeaves)}
	}
	u, v, ok := p.largeAndSmall()
	if !ok {
		return order{why: "the formats have no two numbers of which the larger swamps the smaller"}
	}
	o := p.countBoth(u, v)
	if o.tree == nil {
		if hi, lo := p.arriving(u, v); hi-lo >= apart && (hi < u || lo > v) {
			return p.countBoth(hi, lo)
		}
	}
	return o
}

// countBoth is count with v = 2^e or, if that shows no tree, -2^e.
func (p *Prober) countBoth(u, e int) order {
	o := p.count(u, pow(e))
	if o.tree == nil {
		// Sums that are rounded up lose small negative terms only.
		if negative := p.count(u, pow(e).minus()); negative.tree != nil {
			return negative
		}
	}
	return o
}

// count asks for every pair of terms, with U = 2^u and v a positive or negative power of two,
// and builds the tree.
func (p *Prober) count(u int, v number) order {
	asked, why := p.swamps(u, v)
	if why != "" {
		return order{seen: asked, why: why}
	}
	n := p.leaves()
	var pairs [][2]int
	var dots []*mma.Dot
	for i := range n {
		for j := i + 1; j < n; j++ {
			t := p.everywhere(v)
			t[i], t[j] = pow(u), pow(u).minus()
			d, _ := p.dot(t)
			dots, pairs = append(dots, d), append(pairs, [2]int{i, j})
		}
	}
	m := newCounts(n)
	seen := p.ask(dots...)
	for x, s := range seen {
		i, j := pairs[x][0], pairs[x][1]
		left, ok := p.multiple(s, v)
		if !ok || left > n-2 {
			return order{seen: []Seen{s}, why: fmt.Sprintf("with %d and %d large and of opposite sign the result is no number of small terms", i, j)}
		}
		m.set(i, j, n-left)
	}
	o := order{u: u, v: v, seen: seen[:min(len(seen), 3)], asked: append(asked, seen...)}
	var ok bool
	if o.tree, ok = m.tree(); !ok {
		o.why = "the counts of terms are those of no tree of sums: the order depends on the data"
	}
	return o
}

// everywhere returns terms that are all n.
func (p *Prober) everywhere(n number) terms {
	t := terms{}
	for i := range p.leaves() {
		t[i] = n
	}
	return t
}

// multiple returns a result as a multiple of v, a power of two.
func (p *Prober) multiple(s Seen, v number) (int, bool) {
	r, ok := p.result(s)
	if !ok || r.neg != v.neg && r.sig != 0 {
		return 0, false
	}
	if r.sig == 0 {
		return 0, true
	}
	if r.exp < v.exp || r.exp-v.exp > 20 || r.sig>>20 != 0 {
		return 0, false
	}
	return int(r.sig << (r.exp - v.exp)), true
}

// largeAndSmall chooses the exponents of U and v: far apart, U below overflow, v
// above all that might be flushed or cut (an alignment may have a floor). They lie
// around the middle of what the formats reach.
func (p *Prober) largeAndSmall() (u, v int, ok bool) {
	lo, hi := p.reach(false)
	if hi-lo < 40 && p.subnormals() {
		lo, hi = p.reach(true)
	}
	if hi-lo > 120 {
		mid := (lo + hi) / 2
		lo, hi = mid-60, mid+60
	}
	return hi, lo, hi-lo >= apart
}

// apart is by how many powers of two U and v differ at least, farApart that no sum that cuts terms keeps.
const apart, farApart = 16, 34

// reach returns the least and the largest exponent of powers of two that are
// products and numbers of c and d, with or without subnormal numbers, so that sums of
// the smallest and of the largest stay within.
func (p *Prober) reach(subnormal bool) (lo, hi int) {
	least := func(f *fp.Format) int {
		if subnormal {
			return int(f.Emin()) - int(f.FracBits)
		}
		return int(f.Emin())
	}
	w, _ := p.weight()
	lo = max(least(p.a)+least(p.b)+w, least(p.d))
	hi = min(p.productEmax(), int(p.d.Emax())-1)
	if p.c != nil {
		lo = max(lo, least(p.c))
		hi = min(hi, int(p.c.Emax())-1)
	}
	return lo, hi
}

// arriving narrows the exponents of U and v until a product 2^v arrives, and 2^(U+1), unless that
// is beyond the formats: products may be rounded to a narrower format than those of the
// instruction.
func (p *Prober) arriving(u, v int) (hi, lo int) {
	hi, lo = u, v
	for hi > lo && !p.arrives(pow(hi)) {
		hi--
	}
	for lo < hi && !p.arrives(pow(lo)) {
		lo++
	}
	if hi < u {
		hi-- // sums of the largest stay within, too
	}
	return hi, lo
}

// arrives reports whether product 0 alone comes back.
func (p *Prober) arrives(n number) bool {
	s, ok := p.sum(terms{0: n})
	return ok && p.is(s, n)
}

// swamps asks whether 2^u at any place makes v at all others vanish, and whether v alone
// arrives; if not, why says so, and the result shows it.
func (p *Prober) swamps(u int, v number) (asked []Seen, why string) {
	var dots []*mma.Dot
	for i := range p.leaves() {
		t := p.everywhere(v)
		t[i] = pow(u)
		d, ok := p.dot(t)
		alone, okAlone := p.dot(terms{i: v})
		if !ok || !okAlone {
			return nil, noNumbers
		}
		dots = append(dots, d, alone)
	}
	asked = p.ask(dots...)
	for i, s := range asked {
		if p.is(s, []number{pow(u), v}[i%2]) {
			continue
		}
		switch _, finite := p.result(s); {
		case i%2 == 1:
			why = fmt.Sprintf("2^%d alone does not arrive", v.exp)
		case !finite:
			why = fmt.Sprintf("2^%d overflows in this unit", u)
		default:
			why = fmt.Sprintf("2^%d does not make 2^%d vanish", u, v.exp)
		}
		return []Seen{s}, why
	}
	return asked, ""
}

func (p *Prober) formula() finding {
	o := p.order()
	if o.tree == nil {
		return finding{value: "-", why: o.why, seen: o.seen}
	}
	return finding{value: o.tree.Formula(p.k), why: p.nearlyExact(), seen: o.seen}
}

// nearlyExact says that sums are known to be exact for terms alone that are not far apart, as of a narrow
// d; "" if that is not so.
func (p *Prober) nearlyExact() string {
	o := p.order()
	if far := o.u - o.v.exp; o.tree != nil && far < farApart && strings.Contains(o.tree.Formula(p.k), "{") {
		return fmt.Sprintf("exact as far as %s shows: with terms 2^%d apart", p.d.Name, far)
	}
	return ""
}

func (p *Prober) stepLength() finding {
	t, why := p.Tree()
	if t == nil {
		if w := p.blockWidth(); w.value != "-" {
			w.why = "products that are added before they are rounded: " + why
			return w
		}
		return finding{value: "-", why: why}
	}
	if p.c == nil {
		return undecided("the instruction has no c, and so no steps")
	}
	f := finding{value: fmt.Sprint(t.step(p.k))}
	if f.value != "1" && len(t.widths(p.k)) == 0 {
		f.why = "these are added, two terms at a time, before the sum takes them"
	}
	return f
}
