package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// simplifySpecials turns NaNs into the simplest quiet and signalling ones and
// into infinities, infinities into large numbers, subnormals into the smallest
// normal and the smallest subnormal number, and clears bits that are not part of
// a value.
func simplifySpecials(p *proposals) {
	p.clearLoose()
	for _, set := range p.alike() {
		f := p.formats[set[0]]
		switch x := p.x[set[0]]; {
		case x.class == fp.NaN:
			p.each(set, to(number{class: fp.NaN, sig: 1, frac: 1}))
			p.each(set, to(number{class: fp.NaN, sig: 1, frac: 2}))
			p.each(set, to(number{class: fp.Inf}))
		case x.class == fp.Inf:
			p.each(set, to(number{class: fp.Finite, sig: 1, exp: int(f.Emax())}))
			p.each(set, to(read(f, f.MaxFinite())))
		case x.subnormal:
			p.each(set, to(number{class: fp.Finite, sig: 1, exp: int(f.Emin())}))
			p.each(set, to(read(f, 1<<f.Low)))
		}
	}
}

// clearLoose clears the bits that are not part of a value: all, those of each
// element, and single ones.
func (p *proposals) clearLoose() {
	p.try(func(v vector) bool {
		for i := range v {
			v[i] &^= p.loose(i)
		}
		return true
	})
	for i := range p.base {
		if p.loose(i) == 0 {
			continue
		}
		p.try(func(v vector) bool { v[i] &^= p.loose(i); return true })
		for _, code := range flips(p.base[i], p.loose(i)) {
			p.try(func(v vector) bool { v[i] = code; return true })
		}
	}
}

// loose masks the bits of element i that are set and not part of its value.
func (p *proposals) loose(i int) uint64 {
	if p.formats[i] == nil {
		return 0
	}
	return p.base[i] &^ valueBits(p.formats[i])
}
