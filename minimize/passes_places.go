package minimize

import "slices"

// The passes of this file move what a case has to other places: tidy, moveTerms, swapFactors.

// tidy changes what mostly does not matter: it swaps factors so that the simpler
// one is b, moves signs from a to b, moves products to the front without gaps,
// and sorts them; each of these alone and in all combinations.
func tidy(p *proposals) {
	edits := []func(v vector){p.simplerB, p.signToB, p.compact, p.sort}
	for chosen := 1; chosen < 1<<len(edits); chosen++ {
		p.try(func(v vector) bool {
			for i, edit := range edits {
				if chosen>>i&1 != 0 {
					edit(v)
				}
			}
			return true
		})
	}
}

// simplerB swaps factors of the same format where that makes b 1, or, if neither is
// 1, where it makes a smaller.
func (l *layout) simplerB(v vector) {
	if l.A != l.B {
		return
	}
	for _, k := range l.occupied(v) {
		a, b := l.number(v, l.a(k)), l.number(v, l.b(k))
		if !b.isOne() && (a.isOne() || v[l.a(k)]&^l.signBit(0) > v[l.b(k)]&^l.signBit(0)) {
			v[l.a(k)], v[l.b(k)] = v[l.b(k)], v[l.a(k)]
		}
	}
}

// signToB flips both signs of products whose a is negative.
func (l *layout) signToB(v vector) {
	for _, k := range l.occupied(v) {
		if l.number(v, l.a(k)).neg {
			l.flip(v, l.a(k))
			l.flip(v, l.b(k))
		}
	}
}

// compact moves the products to the front in their order.
func (l *layout) compact(v vector) {
	for i, k := range l.occupied(v) {
		l.swapTerms(v, i, k)
	}
}

// sort sorts the products by codes, at the positions they have.
func (l *layout) sort(v vector) {
	terms := l.occupied(v)
	for i := range terms {
		least := slices.MinFunc(terms[i:], func(j, k int) int {
			return slices.Compare(v[l.a(j):l.b(j)+1], v[l.a(k):l.b(k)+1])
		})
		l.swapTerms(v, terms[i], least)
	}
}

// moveTerms moves products toward the front, all by the same distance and each
// alone. They change places with what stands there.
func moveTerms(p *proposals) {
	if len(p.terms) == 0 {
		return
	}
	for _, d := range p.steps(p.terms[0]) {
		p.try(func(v vector) bool {
			for _, k := range p.terms {
				p.swapTerms(v, k-d, k)
			}
			return true
		})
	}
	for _, k := range p.terms {
		for _, d := range p.steps(k) {
			p.try(func(v vector) bool { p.swapTerms(v, k-d, k); return true })
			p.try(func(v vector) bool { return p.swapTermsAndScales(v, k-d, k) })
		}
	}
}

func (l *layout) swapTerms(v vector, j, k int) {
	v[l.a(j)], v[l.a(k)] = v[l.a(k)], v[l.a(j)]
	v[l.b(j)], v[l.b(k)] = v[l.b(k)], v[l.b(j)]
}

// swapTermsAndScales also swaps the scales of their blocks.
func (l *layout) swapTermsAndScales(v vector, j, k int) bool {
	if l.block(j) == l.block(k) {
		return false
	}
	l.swapTerms(v, j, k)
	l.swapScales(v, l.block(j), l.block(k))
	return true
}

func (l *layout) swapScales(v vector, i, j int) {
	v[l.sa(i)], v[l.sa(j)] = v[l.sa(j)], v[l.sa(i)]
	v[l.sb(i)], v[l.sb(j)] = v[l.sb(j)], v[l.sb(i)]
}

// swapFactors swaps a and b where they have one format: of all products with the
// scales, and of single products without.
func swapFactors(p *proposals) {
	if p.A != p.B {
		return
	}
	swap := func(v vector, i int) { v[i], v[i+1] = v[i+1], v[i] }
	p.try(func(v vector) bool {
		for _, k := range p.terms {
			swap(v, p.a(k))
		}
		for i := range p.blocks {
			swap(v, p.sa(i))
		}
		return true
	})
	for _, k := range p.terms {
		p.try(func(v vector) bool { swap(v, p.a(k)); return true })
	}
}
