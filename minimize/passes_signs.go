package minimize

// flipSigns flips sign bits: of everything that has one set, of values of one
// magnitude, of each element; of all terms, which negates the sum; of the two
// factors of a term, of two terms, and of a term and c.
func flipSigns(p *proposals) {
	p.try(func(v vector) bool {
		for i := range v {
			p.clearSign(v, i)
		}
		return true
	})
	for _, set := range p.groups {
		p.try(func(v vector) bool {
			for _, i := range set {
				p.clearSign(v, i)
			}
			return true
		})
	}
	for i := range p.base.v {
		p.try(func(v vector) bool { p.clearSign(v, i); return true })
	}
	p.negateSums()
	for _, k := range p.terms {
		p.try(func(v vector) bool { return p.flip(v, p.a(k)) && p.flip(v, p.b(k)) })
	}
}

// negateSums flips the signs of all terms and of two.
func (p *proposals) negateSums() {
	const most = 16
	for _, factor := range []func(k int) int{p.a, p.b, p.negativeFactor} {
		p.try(func(v vector) bool {
			for _, k := range p.terms {
				p.flip(v, factor(k))
			}
			p.flip(v, p.c())
			return true
		})
		if len(p.terms) > most {
			continue
		}
		for i, k := range p.terms {
			p.try(func(v vector) bool { return p.flip(v, factor(k)) && p.flip(v, p.c()) })
			for _, j := range p.terms[:i] {
				p.try(func(v vector) bool { return p.flip(v, factor(k)) && p.flip(v, factor(j)) })
			}
		}
	}
}

// negativeFactor returns that factor of product k that is negative, or a.
func (p *proposals) negativeFactor(k int) int {
	if !p.number(p.base.v, p.a(k)).neg && p.number(p.base.v, p.b(k)).neg {
		return p.b(k)
	}
	return p.a(k)
}

func (l *layout) clearSign(v vector, i int) {
	if f := l.formats[i]; f != nil {
		v[i] &^= l.signBit(i)
	}
}

// flip flips the sign of element i, and says whether it has one.
func (l *layout) flip(v vector, i int) bool {
	v[i] ^= l.signBit(i)
	return l.signBit(i) != 0
}

// signBit returns the mask of the sign of element i, 0 if it has none.
func (l *layout) signBit(i int) uint64 {
	if l.formats[i] == nil {
		return 0
	}
	return l.formats[i].SignBit()
}
