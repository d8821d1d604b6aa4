package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// lowerExponents moves exponents toward 0: of values of one magnitude, and of
// each value.
func lowerExponents(p *proposals) {
	for _, set := range p.alike() {
		e := p.x[set[0]].exp
		for _, d := range p.steps(abs(e)) {
			p.each(set, shifted(-sign(e)*d))
		}
	}
}

// shiftAll shifts the exponents of all products and of c together, so that the
// sum keeps its significand; and of all products alone. Products are shifted in
// their factors, or in their scales.
func shiftAll(p *proposals) {
	for _, by := range p.shifts() {
		for _, shift := range []func(vector, int) bool{p.shiftFactors, p.shiftScales} {
			p.try(func(v vector) bool { return shift(v, by) })
			p.try(func(v vector) bool { return shift(v, by) && p.shift(v, p.c(), by) })
		}
	}
}

// shifts returns the distances by which everything is shifted: small ones, and
// with few values those that bring one of them to 1, or part of the way.
func (p *proposals) shifts() []int {
	var list []int
	for d := 1; d <= few; d++ {
		list = append(list, -d, d)
	}
	if len(p.values) > few {
		return list
	}
	for _, i := range p.values {
		e := p.x[i].exp
		for _, d := range p.steps(abs(e)) {
			if d > few {
				list = append(list, -sign(e)*d)
			}
		}
	}
	return list
}

// shiftFactors multiplies all products by 2^by.
func (p *proposals) shiftFactors(v vector, by int) bool {
	for _, k := range p.terms {
		if !p.shiftPair(v, p.a(k), p.b(k), by) {
			return false
		}
	}
	return true
}

// shiftScales multiplies the scales of all blocks that have products by 2^by.
func (p *proposals) shiftScales(v vector, by int) bool {
	last := -1
	for _, k := range p.terms {
		i := p.block(k)
		if i == last {
			continue
		}
		if last = i; p.blocks == 0 || !p.shiftPair(v, p.sa(i), p.sb(i), by) {
			return false
		}
	}
	return true
}

// shiftPair multiplies the product of two elements by 2^by, in the one whose exponent
// this brings nearer to 0; in the first if it makes no difference.
func (p *proposals) shiftPair(v vector, i, j, by int) bool {
	if p.x[i].class != fp.Finite || p.x[j].class != fp.Finite {
		return true
	}
	n := toward0(p.x[j].exp, by-toward0(p.x[i].exp, by))
	return p.shift(v, i, by-n) && p.shift(v, j, n)
}

// toward0 returns how much of a change by of an exponent e brings it nearer to 0.
func toward0(e, by int) int {
	if sign(e) != -sign(by) {
		return 0
	}
	return sign(by) * min(abs(e), abs(by))
}

// tradeExponents keeps products: what one factor, or scale, gains in exponent
// another loses.
func tradeExponents(p *proposals) {
	for _, k := range p.terms {
		p.trade(p.a(k), []int{p.b(k)})
		if p.blocks > 0 {
			p.trade(p.a(k), []int{p.sa(p.block(k))})
			p.trade(p.b(k), []int{p.sb(p.block(k))})
		}
	}
	for i := range p.blocks {
		as, bs := p.factors(i)
		p.trade(p.sa(i), []int{p.sb(i)})
		p.trade(p.sa(i), as)
		p.trade(p.sb(i), bs)
	}
}

// factors returns the factors of a block's products that are not zero.
func (p *proposals) factors(block int) (as, bs []int) {
	for _, k := range p.terms {
		if p.block(k) == block {
			as, bs = append(as, p.a(k)), append(bs, p.b(k))
		}
	}
	return as, bs
}

// trade shifts one element toward 1 and a set of others the opposite way; and
// the first of the set toward 1 and the element the opposite way.
func (p *proposals) trade(i int, set []int) {
	if len(set) == 0 {
		return
	}
	for _, e := range []int{-p.x[i].exp, p.x[set[0]].exp} {
		for _, d := range p.steps(abs(e)) {
			p.try(func(v vector) bool {
				ok := p.shift(v, i, sign(e)*d)
				for _, j := range set {
					ok = ok && p.shift(v, j, -sign(e)*d)
				}
				return ok
			})
		}
	}
}

// shift multiplies element i by 2^by and reports whether its format has the result.
// What is not a finite number other than 0 stays.
func (p *proposals) shift(v vector, i, by int) bool {
	if p.x[i].class != fp.Finite {
		return true
	}
	return p.set(v, i, shifted(by)(p.x[i]))
}

// shifted multiplies finite numbers by 2^by.
func shifted(by int) change {
	return finite(func(x number) number {
		x.exp += by
		return x
	})
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
