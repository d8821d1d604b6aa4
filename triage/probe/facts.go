package probe

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Facts that several questions need. Each is found out once.

// inputsKept says whether subnormal numbers in a (or b) are numbers, shown by a
// product that is normal in every format.
func (p *Prober) inputsKept(ofB bool) finding {
	key := "subnormal a"
	if ofB {
		key = "subnormal b"
	}
	return once(p, key, func() finding {
		f, g := p.a, p.b
		if ofB {
			f, g = p.b, p.a
		}
		x := pow(int(f.Emin()) - int(f.FracBits)) // the smallest number
		if f.FracBits == 0 {
			return undecided("%s has no subnormal numbers", f.Name)
		}
		for e := int(g.Emax()) - 1; e >= 0; e-- {
			y := pow(e)
			want := pow(x.exp + e)
			if want.exp > int(p.d.Emax()) {
				continue
			}
			d := p.blank()
			cx, _ := code(f, x)
			cy, _ := code(g, y)
			d.A[0], d.B[0] = cx, cy
			if ofB {
				d.A[0], d.B[0] = cy, cx
			}
			s := p.ask(d)[0]
			switch {
			case p.is(s, want):
				return finding{value: "yes", seen: []Seen{s}}
			case p.is(s, number{}):
				return finding{value: "no", seen: []Seen{s}}
			}
			return finding{value: "other", seen: []Seen{s}}
		}
		return undecided("no product of a subnormal number stays within d's range")
	})
}

// cKept says whether a subnormal c alone comes back.
func (p *Prober) cKept() finding {
	return once(p, "subnormal c", func() finding {
		if p.c == nil {
			return undecided("the instruction has no c")
		}
		x := pow(int(p.c.Emin()) - 1)
		return p.kept(map[int]number{p.k: x}, x)
	})
}

// outKept says whether normal operands give a subnormal result.
func (p *Prober) outKept() finding {
	return once(p, "subnormal d", func() finding {
		x := pow(int(p.d.Emin()) - 1)
		if a, b, ok := p.factors(x); ok && normal(p.a, a) && normal(p.b, b) {
			return p.kept(map[int]number{0: x}, x)
		}
		if p.c != nil && p.c.Emin() == p.d.Emin() { // as the difference of normal numbers
			min := pow(int(p.d.Emin()))
			return p.kept(map[int]number{0: min, p.k: times(3, min.exp-1).minus()}, x.minus())
		}
		return undecided("no normal operands give a subnormal number of %s", p.d.Name)
	})
}

// kept asks whether terms give a number: yes, no (0), other, or undecided.
func (p *Prober) kept(terms map[int]number, want number) finding {
	s, ok := p.one(terms)
	switch {
	case !ok:
		return undecided("no such numbers in these formats")
	case p.is(s, want):
		return finding{value: "yes", seen: []Seen{s}}
	case p.is(s, number{}):
		return finding{value: "no", seen: []Seen{s}}
	}
	return finding{value: "other", seen: []Seen{s}}
}

// subnormals says whether subnormal numbers can be used wherever they stand.
func (p *Prober) subnormals() bool {
	for _, f := range []finding{p.inputsKept(false), p.inputsKept(true), p.outKept(), p.cKept()} {
		if f.value != "yes" && f.value != "-" {
			return false
		}
	}
	return true
}

// group is the sum in which product 0 is first added to other leaves.
type group struct {
	kind     Kind
	products []int // leaves of the node, product 0 first
	c        bool  // c is one of them
	guess    bool  // the tree is not known: the first products and c are taken
}

// first returns the group of product 0.
func (p *Prober) first() group {
	return once(p, "group", func() group {
		t, _ := p.Tree()
		if t == nil {
			g := group{kind: Swamped, c: p.c != nil, guess: true}
			for k := range min(p.k, 4) {
				g.products = append(g.products, k)
			}
			return g
		}
		var g group
		t.visit(func(n *Tree) {
			terms := n.leafTerms()
			if slices.Contains(terms, 0) {
				g = group{kind: n.Kind, c: slices.Contains(terms, p.k), products: slices.DeleteFunc(terms, func(t int) bool { return t == p.k })}
			}
		})
		return g
	})
}

// leafTerms returns the terms that are children of a node, in order.
func (t *Tree) leafTerms() []int {
	var terms []int
	for _, c := range t.Children {
		if c.Kind == Leaf {
			terms = append(terms, c.Term)
		}
	}
	slices.Sort(terms)
	return terms
}

// terms returns all leaves of a group, c last.
func (g group) terms(k int) []int {
	t := slices.Clone(g.products)
	if g.c {
		t = append(t, k)
	}
	return t
}

// fused says whether the group is a sum of more than two terms.
func (g group) fused() bool { return g.kind != Add && g.kind != Leaf }

// productWidth is the width to which products are aligned in their fused sum.
func (p *Prober) productWidth() width {
	return once(p, "product width", func() width {
		g := p.first()
		switch {
		case !g.fused():
			return width{why: "product 0 is in no sum of three terms or more"}
		case len(g.products) >= 3:
			return p.cutWidth(g.products[0], g.products[1], g.products[2], pow(0))
		case len(g.products) == 2 && g.c:
			return p.cutWidth(g.products[0], p.k, g.products[1], pow(0))
		}
		return width{why: "the fused sum has too few leaves"}
	})
}

// cWidth is the width to which c is aligned there.
func (p *Prober) cWidth() width {
	return once(p, "c width", func() width {
		g := p.first()
		switch {
		case p.c == nil:
			return width{why: "the instruction has no c"}
		case !g.fused() || !g.c || len(g.products) < 2:
			return width{why: "c is in no sum of three leaves or more"}
		}
		return p.cutWidth(g.products[0], g.products[1], p.k, pow(0))
	})
}

// fraction is the number of fraction bits of results. Four ones make room above
// the cut of an alignment: 4 + 2^-s is exact down to s = fraction - 2.
func (p *Prober) fraction() width {
	return once(p, "fraction", func() width {
		ones, tail := p.carriers()
		terms := map[int]number{}
		for _, t := range ones {
			terms[t] = pow(0)
		}
		sum := times(uint64(len(ones)), 0).reduced()
		carry := sum.exp
		w := width{why: "no such numbers in these formats"}
		for s := 0; s <= int(p.d.FracBits)+2; s++ {
			terms[tail] = pow(carry - s)
			seen, ok := p.one(terms)
			if !ok && !w.ok {
				continue // products do not reach that far up
			}
			if !ok {
				break
			}
			want := times(uint64(1)<<s+1, carry-s)
			if !p.is(seen, want) {
				w.seen = append(w.seen, seen)
				w.all = false
				break
			}
			w = width{bits: s, ok: true, all: true, seen: []Seen{seen}}
		}
		if w.ok && w.bits == 0 || !w.ok && len(w.seen) > 0 {
			w = width{why: "not even the first fraction bit arrives", seen: w.seen}
		}
		return w
	})
}

// carriers returns terms for ones, a power of two of them, and one for a tail,
// that are added in one sum, and sets what 1 is: with a fused sum of five leaves or
// more four ones, else one, which is c where products are too narrow.
func (p *Prober) carriers() (ones []int, tail int) {
	g := p.first()
	terms := g.terms(p.k)
	p.shift = p.anchor()
	switch {
	case p.c != nil && p.shift < p.needed() && p.needed() > 0:
		p.shift = p.anchorC()
		return []int{p.k}, 0
	case g.fused() && len(terms) >= 5:
		return terms[:4], terms[len(terms)-1]
	case len(terms) >= 2:
		return terms[:1], terms[len(terms)-1]
	}
	return []int{p.k}, 0 // product 0 and c, or what stands for it
}

// isNaN says whether a code of d is a NaN.
func (p *Prober) isNaN(c uint64) bool { return p.d.Decode(c).Class == fp.NaN }

// isInf says whether a code of d is an infinity.
func (p *Prober) isInf(c uint64) bool { return p.d.Decode(c).Class == fp.Inf }
