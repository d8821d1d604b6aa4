package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// simplifySpecials turns NaNs into simpler ones and into infinities, infinities
// into large numbers, subnormals into the smallest normal number, and clears the
// bits that are not part of a value.
func simplifySpecials(p *proposals) {
	p.clearLoose()
	for _, set := range p.alike() {
		f := p.formats[set[0]]
		switch x := p.number(p.base.v, set[0]); {
		case x.class == fp.NaN:
			p.each(set, to(number{class: fp.NaN, sig: 1, frac: 1}))
			p.each(set, to(number{class: fp.NaN, sig: 1, frac: 2}))
			p.each(set, to(number{class: fp.Inf}))
		case x.class == fp.Inf:
			p.each(set, to(number{class: fp.Finite, sig: 1, exp: int(f.Emax())}))
			p.each(set, to(read(f, f.MaxFinite())))
		case x.subnormal:
			p.each(set, to(number{class: fp.Finite, sig: 1, exp: int(f.Emin())}))
			p.each(set, to(number{class: fp.Finite, sig: 1, exp: int(f.Emin()) - int(f.FracBits)}))
		}
	}
}

// clearLoose clears the bits that are not part of a value: of everything, and of
// each element.
func (p *proposals) clearLoose() {
	clean := func(v vector, i int) {
		if f := p.formats[i]; f != nil {
			v[i] &= (1<<f.Bits() - 1) << f.Low
		}
	}
	p.try(func(v vector) bool {
		for i := range v {
			clean(v, i)
		}
		return true
	})
	for i := range p.base.v {
		p.try(func(v vector) bool { clean(v, i); return true })
	}
}

// to is a change to y, with the old sign.
func to(y number) func(x number) number {
	return func(x number) number {
		y.neg = x.neg
		return y
	}
}
