package minimize

import "slices"

// moveTerms moves terms to the front: all of them, without gaps or together, and
// each; and sorts them.
func moveTerms(p *proposals) {
	p.try(func(v vector) bool {
		for i, k := range p.terms {
			p.swapTerms(v, i, k)
		}
		return true
	})
	if len(p.terms) > 0 {
		for _, d := range steps(p.terms[0]) {
			p.try(func(v vector) bool {
				for _, k := range p.terms {
					p.swapTerms(v, k-d, k)
				}
				return true
			})
		}
	}
	for _, k := range p.terms {
		for _, d := range steps(k) {
			p.move(k, k-d)
		}
	}
	p.sortTerms()
}

// move tries the terms at two positions in each other's place; with their
// blocks' scales, too.
func (p *proposals) move(from, to int) {
	p.try(func(v vector) bool { p.swapTerms(v, from, to); return true })
	if p.blocks == 0 || p.block(from) == p.block(to) {
		return
	}
	p.try(func(v vector) bool {
		p.swapTerms(v, from, to)
		p.swapScales(v, p.block(from), p.block(to))
		return true
	})
}

// sortTerms sorts the terms at their positions by codes.
func (p *proposals) sortTerms() {
	p.try(func(v vector) bool {
		for i := range p.terms {
			least := slices.MinFunc(p.terms[i:], func(j, k int) int {
				return slices.Compare(v[p.a(j):p.b(j)+1], v[p.a(k):p.b(k)+1])
			})
			p.swapTerms(v, p.terms[i], least)
		}
		return true
	})
}

func (l *layout) swapTerms(v vector, j, k int) {
	v[l.a(j)], v[l.a(k)] = v[l.a(k)], v[l.a(j)]
	v[l.b(j)], v[l.b(k)] = v[l.b(k)], v[l.b(j)]
}

func (l *layout) swapScales(v vector, i, j int) {
	v[l.sa(i)], v[l.sa(j)] = v[l.sa(j)], v[l.sa(i)]
	v[l.sb(i)], v[l.sb(j)] = v[l.sb(j)], v[l.sb(i)]
}

// swapFactors swaps a and b where they have the same format: of all terms, with
// their scales, and of each.
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
