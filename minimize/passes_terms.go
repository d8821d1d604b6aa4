package minimize

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// dropTerms zeroes c, runs of products, and all but runs of products, of all
// lengths that halving gives; each with c and without.
func dropTerms(p *proposals) {
	n := len(p.terms)
	p.keep(func(int) bool { return true })
	for size := n; size > 0; size /= 2 {
		for from := 0; from < n; from += size {
			p.keep(func(i int) bool { return i < from || i >= from+size })
			p.keep(func(i int) bool { return i >= from && i < from+size })
		}
	}
}

// keepPairs zeroes all but two products, or of very many all but two runs: most
// mismatches need no more.
func keepPairs(p *proposals) {
	size := (len(p.terms) + few - 1) / few
	groups := few
	if size <= 1 {
		groups = len(p.terms)
	}
	for x := range groups {
		for y := range x {
			p.keep(func(i int) bool { return i/size == x || i/size == y })
		}
	}
}

// keepSamples zeroes all but some products drawn at random, mostly three.
// In mismatches that depend on how all terms together round, no term can go alone,
// but a few terms by themselves may show the same.
func keepSamples(p *proposals) {
	n := len(p.terms)
	if n < 4 {
		return
	}
	for seed := range uint64(96) {
		size := []int{3, 3, 3, 4, max(n/4, 3), max(n/2, 3)}[seed%6]
		kept := sample(n, size, seed)
		p.keep(func(i int) bool { return kept[i] })
	}
}

// sample draws size of 0..n-1.
func sample(n, size int, seed uint64) []bool {
	drawn := make([]bool, n)
	for x := seed << 32; size > 0; x++ {
		if i := mix(x) % uint64(n); !drawn[i] {
			drawn[i] = true
			size--
		}
	}
	return drawn
}

// mix is splitmix64: a hash of a number.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keep proposes to zero all products but those that are chosen by their index
// among the terms; with c as it is, and with c zeroed.
func (p *proposals) keep(chosen func(i int) bool) {
	edit := func(v vector) bool {
		for i, k := range p.terms {
			if !chosen(i) {
				v[p.a(k)], v[p.b(k)] = 0, 0
			}
		}
		return true
	}
	p.try(edit)
	p.try(func(v vector) bool {
		v[p.c()] = 0
		return edit(v)
	})
}

// zeroFactors zeroes single values, with their sign and without, and both
// factors of all products that are zero.
func zeroFactors(p *proposals) {
	p.try(func(v vector) bool {
		for _, k := range p.terms {
			if p.x[p.a(k)].class == fp.Zero || p.x[p.b(k)].class == fp.Zero {
				v[p.a(k)], v[p.b(k)] = 0, 0
			}
		}
		return true
	})
	for _, i := range p.values {
		p.try(func(v vector) bool { return p.set(v, i, number{}) })
		p.try(func(v vector) bool { return p.set(v, i, number{neg: p.x[i].neg}) })
	}
}

// foldIntoC puts a product in the place of c.
func foldIntoC(p *proposals) {
	f := p.formats[p.c()]
	if f == nil {
		return
	}
	for _, k := range p.terms {
		p.try(func(v vector) bool {
			x, ok := p.product(k)
			v[p.a(k)], v[p.b(k)] = 0, 0
			v[p.c()] = f.Encode(x, fp.RZ, fp.OverMax)
			return ok
		})
	}
}

// product returns product k, scaled, if it is finite.
func (p *proposals) product(k int) (fp.Dyadic, bool) {
	a, b, sa, sb := p.x[p.a(k)], p.x[p.b(k)], one, one
	if p.blocks > 0 {
		sa, sb = p.x[p.sa(p.block(k))], p.x[p.sb(p.block(k))]
	}
	x := fp.Dyadic{Neg: a.neg != b.neg}
	for _, f := range []number{a, b, sa, sb} {
		if f.class != fp.Finite {
			return x, false
		}
		x.Q += f.dyadic().Q
	}
	// No overflow: factors have at most 53 significant bits, scales 4.
	x.Hi, x.Lo = bits.Mul64(a.sig*sa.sig, b.sig*sb.sig)
	return x, true
}
