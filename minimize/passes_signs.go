package minimize

// flipSigns proposes to clear the signs of all elements, of those of equal magnitude, and
// of each; and to flip the signs of both factors of a product, of all terms, of a product
// and c, and of two products.
func flipSigns(p *proposals) {
	p.clearSigns(nil)
	for _, set := range p.groups {
		p.clearSigns(set)
	}
	for i := range p.base {
		p.clearSigns([]int{i})
	}
	for _, k := range p.terms {
		p.try(func(v vector) bool { return p.flip(v, p.a(k)) && p.flip(v, p.b(k)) })
	}
	p.negateTerms(p.a)
	p.negateTerms(p.b)
	p.negateTerms(p.negativeFactor)
}

// clearSigns clears the signs of a set of elements; nil: of all.
func (p *proposals) clearSigns(set []int) {
	p.try(func(v vector) bool {
		if set == nil {
			for i := range v {
				v[i] &^= p.signBit(i)
			}
		}
		for _, i := range set {
			v[i] &^= p.signBit(i)
		}
		return true
	})
}

// negateTerms flips the signs of all terms together; if there are few, also of each product
// with c and of every two products. factor(k) is the element whose sign is flipped for
// product k.
func (p *proposals) negateTerms(factor func(k int) int) {
	p.try(func(v vector) bool {
		for _, k := range p.terms {
			p.flip(v, factor(k))
		}
		p.flip(v, p.c())
		return true
	})
	if len(p.terms) > few {
		return
	}
	for i, k := range p.terms {
		p.try(func(v vector) bool { return p.flip(v, factor(k)) && p.flip(v, p.c()) })
		for _, j := range p.terms[:i] {
			p.try(func(v vector) bool { return p.flip(v, factor(k)) && p.flip(v, factor(j)) })
		}
	}
}

// negativeFactor returns the factor of product k that is negative, else a.
func (p *proposals) negativeFactor(k int) int {
	if !p.x[p.a(k)].neg && p.x[p.b(k)].neg {
		return p.b(k)
	}
	return p.a(k)
}

// flip flips the sign of element i, and reports whether it has one.
func (l *layout) flip(v vector, i int) bool {
	v[i] ^= l.signBit(i)
	return l.signBit(i) != 0
}

// signBit returns the mask of element i's sign bit, 0 if it has none.
func (l *layout) signBit(i int) uint64 {
	if l.formats[i] == nil {
		return 0
	}
	return l.formats[i].SignBit()
}
