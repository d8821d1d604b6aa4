package minimize

import "github.com/mmafuzz/mmafuzz/sim/fp"

// jumpAmongOnes sets one value to any power of two of moderate exponent and all
// others to 1.0. It goes where no sequence of small steps leads: from 1 + 3*2^-24
// to 1 - 2^-25, which shows the same without a fraction.
func jumpAmongOnes(p *proposals) {
	p.jump(func(v vector) {
		for _, j := range p.values {
			p.set(v, j, one)
		}
	})
}

// jumpAlone does so with the others as they are.
func jumpAlone(p *proposals) { p.jump(func(vector) {}) }

func (p *proposals) jump(prepare func(v vector)) {
	const most, reach = 6, 32
	if len(p.values) > most {
		return
	}
	for _, i := range p.values {
		if p.A == p.B && i < p.c() && i%2 == 1 {
			continue
		}
		for e := -reach; e <= reach; e++ {
			for _, neg := range []bool{false, true} {
				p.try(func(v vector) bool {
					prepare(v)
					return p.set(v, i, number{class: fp.Finite, sig: 1, exp: e, neg: neg})
				})
			}
		}
	}
}
