package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// lowerExponents moves exponents toward 0: of values of one magnitude together,
// and of each value alone.
func lowerExponents(p *proposals) {
	for _, set := range p.alike() {
		x := p.number(p.base.v, set[0])
		if x.class != fp.Finite {
			continue
		}
		for _, d := range steps(abs(x.exp)) {
			p.each(set, shifted(-sign(x.exp)*d))
		}
	}
}

// shiftExponents shifts everything: all products, in one factor of each or in
// the scales, and c. Sums keep their significands. Products without c, too.
func shiftExponents(p *proposals) {
	for _, by := range p.shifts() {
		p.try(func(v vector) bool { return p.shiftProducts(v, by) && p.shift(v, p.c(), by) })
		p.try(func(v vector) bool { return p.shiftProducts(v, by) })
		if p.blocks > 0 {
			p.try(func(v vector) bool { return p.shiftScales(v, by) && p.shift(v, p.c(), by) })
			p.try(func(v vector) bool { return p.shiftScales(v, by) })
		}
	}
}

// shifts returns the distances by which everything is shifted: small ones, and
// those that make c or a factor 1.
func (p *proposals) shifts() []int {
	const small = 16
	var list []int
	for d := 1; d <= small; d++ {
		list = append(list, -d, d)
	}
	if len(p.values) > small {
		return list
	}
	for _, i := range p.values {
		if x := p.number(p.base.v, i); abs(x.exp) > small {
			for _, d := range steps(abs(x.exp)) {
				list = append(list, -sign(x.exp)*d)
			}
		}
	}
	return list
}

// shiftProducts multiplies all products by 2^by.
func (l *layout) shiftProducts(v vector, by int) bool {
	for k := range l.k {
		a, b := l.number(v, l.a(k)), l.number(v, l.b(k))
		if a.class != fp.Finite || b.class != fp.Finite {
			continue
		}
		n := toward0(a.exp, by)
		m := toward0(b.exp, by-n)
		if !l.shift(v, l.a(k), by-m) || !l.shift(v, l.b(k), m) {
			return false
		}
	}
	return true
}

// shiftScales multiplies the scales of every block by 2^by.
func (l *layout) shiftScales(v vector, by int) bool {
	for i := range l.blocks {
		n := toward0(l.number(v, l.sa(i)).exp, by)
		m := toward0(l.number(v, l.sb(i)).exp, by-n)
		if !l.shift(v, l.sa(i), by-m) || !l.shift(v, l.sb(i), m) {
			return false
		}
	}
	return true
}

// toward0 returns how much of a change by of an exponent e brings it nearer to 0.
func toward0(e, by int) int {
	if sign(e) != -sign(by) {
		return 0
	}
	return sign(by) * min(abs(e), abs(by))
}

// shiftOpposite keeps products: what one factor, or scale, gains in exponent the
// other loses.
func shiftOpposite(p *proposals) {
	for _, k := range p.terms {
		p.trade([]int{p.a(k)}, []int{p.b(k)})
		if p.blocks > 0 {
			i := p.block(k)
			p.trade([]int{p.a(k)}, []int{p.sa(i)})
		}
	}
	for i := range p.blocks {
		as, bs := p.factors(i)
		p.trade([]int{p.sa(i)}, []int{p.sb(i)})
		p.trade([]int{p.sa(i)}, as)
		p.trade([]int{p.sb(i)}, bs)
	}
}

// factors returns the elements a and b of a block that are not zero.
func (p *proposals) factors(block int) (as, bs []int) {
	for _, k := range p.terms {
		if p.block(k) == block {
			as, bs = append(as, p.a(k)), append(bs, p.b(k))
		}
	}
	return as, bs
}

// trade shifts one set of elements up and another down by the same, until a
// first exponent is 0, or part of the way.
func (p *proposals) trade(up, down []int) {
	if len(up) == 0 || len(down) == 0 {
		return
	}
	for _, e := range []int{-p.number(p.base.v, up[0]).exp, p.number(p.base.v, down[0]).exp} {
		for _, d := range steps(abs(e)) {
			p.try(func(v vector) bool {
				return p.shiftAll(v, up, sign(e)*d) && p.shiftAll(v, down, -sign(e)*d)
			})
		}
	}
}

func (l *layout) shiftAll(v vector, set []int, by int) bool {
	for _, i := range set {
		if !l.shift(v, i, by) {
			return false
		}
	}
	return true
}

// shift multiplies element i by 2^by, and says whether its format has the
// result. What is not a finite number other than 0 stays.
func (l *layout) shift(v vector, i, by int) bool {
	if l.formats[i] == nil {
		return true
	}
	return l.set(v, i, shifted(by)(l.number(v, i)))
}

func shifted(by int) func(x number) number {
	return finite(func(x number) number {
		x.exp += by
		return x
	})
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
