package minimize

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// sets returns the sets of elements that a change of values is applied to:
// everything, all factors, those of a and of b, values of one magnitude, and
// each value alone.
func (p *proposals) sets() [][]int {
	var factors, as, bs []int
	for _, i := range p.values {
		switch {
		case i >= p.c():
			continue
		case i%2 == 0:
			as = append(as, i)
		default:
			bs = append(bs, i)
		}
		factors = append(factors, i)
	}
	return append([][]int{p.values, factors, as, bs}, p.alike()...)
}

// alike returns the sets of values of one magnitude, and each value alone.
func (p *proposals) alike() [][]int {
	var sets [][]int
	sets = append(sets, p.groups...)
	for _, i := range p.values {
		sets = append(sets, []int{i})
	}
	return sets
}

// each tries a change of all elements of a set. A set of one must change; of
// more, those elements that cannot take the new value keep their old one.
func (p *proposals) each(set []int, change func(x number) number) {
	p.try(func(v vector) bool {
		for _, i := range set {
			p.set(v, i, change(p.number(v, i)))
		}
		return true
	})
}

// setOnes sets values to 1.0, and to 1.0 with their sign.
func setOnes(p *proposals) {
	for _, set := range p.sets() {
		p.each(set, func(number) number { return one })
		p.each(set, func(x number) number { return number{class: fp.Finite, sig: 1, neg: x.neg} })
	}
}

// setPowers sets values to the power of two below and above them.
func setPowers(p *proposals) {
	for _, set := range p.sets() {
		p.each(set, finite(func(x number) number { return x.cut(0) }))
		p.each(set, finite(func(x number) number { return x.up(0) }))
	}
}

// cutBits clears low fraction bits, down and up to a number of fewer bits.
func cutBits(p *proposals) {
	for _, set := range p.sets() {
		longest := 0
		for _, i := range set {
			longest = max(longest, p.number(p.base.v, i).frac)
		}
		for _, d := range steps(longest) {
			p.each(set, func(x number) number { return x.cut(longest - d) })
			p.each(set, finite(func(x number) number { return x.up(longest - d) }))
		}
	}
}

// clearBits clears single fraction bits of values of one magnitude and of each.
func clearBits(p *proposals) {
	for _, set := range p.alike() {
		for n := range p.number(p.base.v, set[0]).frac {
			p.each(set, func(x number) number {
				x.sig &^= 1 << n
				return x.normalised()
			})
			p.each(set, func(x number) number {
				top := uint64(1) << max(x.frac, n)
				x.sig = x.sig&(1<<n-1) | x.sig&top
				return x.normalised()
			})
		}
	}
}

// finite makes a change of finite numbers leave infinities and NaNs alone.
func finite(change func(x number) number) func(x number) number {
	return func(x number) number {
		if x.class == fp.Finite {
			x = change(x)
		}
		return x
	}
}

// unify gives all values of one magnitude that of others.
func unify(p *proposals) {
	const most = 8
	if len(p.groups) > most {
		return
	}
	for _, from := range p.groups {
		for _, to := range p.groups {
			y := p.number(p.base.v, to[0])
			p.each(from, func(x number) number {
				y.neg = x.neg
				return y
			})
		}
	}
}
