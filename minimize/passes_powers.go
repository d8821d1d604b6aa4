package minimize

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// threePowers puts three powers of two in the place of more products, with c as one of them or 0:
// 1 and twice a small one, which each rounding drops alone and no rounding of their sum does; and 1,
// -1 and a small one, of which the order decides what is left. Where a sum of many fractions shows
// a difference because they round just so, no removal of a term leads there.
func threePowers(p *proposals) {
	const (
		from  = 4 // of the products, in whose place they are put
		reach = 36
		most  = 4 * 5 * 6 * reach // more than are tried
	)
	if len(p.terms) < from || most*p.bytes() > maxPoolBytes/4 { // of a long one they would be all that memory allows
		return
	}
	slots := p.terms[:from:from]
	if p.formats[p.c()] != nil {
		slots = append(slots, p.k)
	}
	v := slices.Clone(p.base)
	for _, k := range p.terms {
		v[p.a(k)], v[p.b(k)] = 0, 0
	}
	v[p.c()] = p.plain[p.c()]
	none := p.on(v)
	one, minusOne := p.power(0, false), p.power(0, true)
	for e := 1; e <= reach; e++ {
		small, minusSmall := p.power(-e, false), p.power(-e, true)
		for _, x := range slots {
			for j, y := range slots {
				for i, z := range slots {
					if x == y || x == z || y == z {
						continue
					}
					if i < j {
						none.put([3]int{x, y, z}, [3]*power{one, small, small})
						none.put([3]int{x, y, z}, [3]*power{one, minusSmall, minusSmall})
					}
					none.put([3]int{x, y, z}, [3]*power{one, minusOne, small})
				}
			}
		}
	}
}

// power is a power of two, or minus it, as a product and as c.
type power struct {
	a, b, c uint64
	ok      bool // the formats of a and b have it
}

func (p *proposals) power(e int, neg bool) *power {
	var x power
	var hasA, hasB bool
	x.a, hasA = number{class: fp.Finite, sig: 1, exp: e / 2, neg: neg}.code(p.formats[p.a(0)])
	x.b, hasB = number{class: fp.Finite, sig: 1, exp: e - e/2}.code(p.formats[p.b(0)])
	x.ok = hasA && hasB
	if f := p.formats[p.c()]; f != nil {
		x.c = f.Encode(fp.Dyadic{Lo: 1, Q: int32(e), Neg: neg}, fp.RZ, fp.OverMax)
	}
	return &x
}

// put proposes the base with powers as three products, of which number K is c.
func (p *proposals) put(slots [3]int, powers [3]*power) {
	p.try(func(v vector) bool {
		for i, k := range slots {
			x := powers[i]
			if k == p.k {
				v[p.c()] = x.c
				continue
			}
			if p.blocks > 0 {
				sa, sb := p.sa(p.block(k)), p.sb(p.block(k))
				v[sa], v[sb] = p.plain[sa], p.plain[sb]
			}
			if v[p.a(k)], v[p.b(k)] = x.a, x.b; !x.ok {
				return false
			}
		}
		return true
	})
}
