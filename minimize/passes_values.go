package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// setOnes sets values to 1, and to 1 with their sign.
func setOnes(p *proposals) {
	for _, set := range p.sets() {
		p.each(set, func(number) number { return one })
		p.each(set, to(one))
	}
}

// setPowers sets values to the power of two below and above them.
func setPowers(p *proposals) {
	for _, set := range p.sets() {
		p.each(set, finite(func(x number) number { return x.cut(0) }))
		p.each(set, finite(func(x number) number { return x.up(0) }))
	}
}

// unify gives all values of one magnitude that of others.
func unify(p *proposals) {
	if len(p.groups) > few/2 {
		return
	}
	for _, from := range p.groups {
		for _, other := range p.groups {
			p.each(from, to(p.x[other[0]]))
		}
	}
}

// jumpAmongOnes sets one value to any power of two of moderate exponent, and all
// others to 1. It reaches dot products to which no simplifying steps lead: from
// 1 + 3*2^-24 to 1 - 2^-25, which shows the same without a fraction.
func jumpAmongOnes(p *proposals) {
	p.jump(func(v vector) {
		for _, i := range p.values {
			p.set(v, i, one)
		}
	})
}

// jumpAlone leaves the others as they are.
func jumpAlone(p *proposals) { p.jump(func(vector) {}) }

func (p *proposals) jump(prepare func(v vector)) {
	const reach = 36 // somewhat more than the widest known alignment has bits
	if len(p.values) > 6 {
		return
	}
	for _, i := range p.values {
		if i < p.c() && i%2 == 1 && p.A == p.B {
			continue // a does as well as b
		}
		for e := -reach; e <= reach; e++ {
			for _, negate := range []bool{false, true} {
				p.try(func(v vector) bool {
					prepare(v)
					return p.set(v, i, number{class: fp.Finite, sig: 1, exp: e}) && (!negate || p.negate(v, i))
				})
			}
		}
	}
}

// negate flips the sign of a value or, if it cannot have one, that of c.
func (p *proposals) negate(v vector, i int) bool { return p.flip(v, i) || p.flip(v, p.c()) }

// cutBits rounds values down and up to fewer fraction bits.
func cutBits(p *proposals) {
	for _, set := range p.sets() {
		longest := 0
		for _, i := range set {
			longest = max(longest, p.x[i].frac)
		}
		for _, d := range p.steps(longest) {
			p.each(set, func(x number) number { return x.cut(longest - d) })
			p.each(set, finite(func(x number) number { return x.up(longest - d) }))
		}
	}
}

// clearBits clears single fraction bits, and all from a bit upward.
func clearBits(p *proposals) {
	for _, set := range p.alike() {
		for n := range p.x[set[0]].frac {
			p.each(set, func(x number) number { return x.clear(1 << n) })
			p.each(set, func(x number) number { return x.clear(1<<x.frac - 1<<n) })
		}
	}
}
