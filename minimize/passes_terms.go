package minimize

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// dropTerms zeroes runs of terms, and all but runs of terms, from all of them
// down to one; each with c and without.
func dropTerms(p *proposals) {
	n := len(p.terms)
	p.dropOrKeep(0, 0)
	for size := n; size > 0; size = halve(size) {
		for from := 0; from < n; from += size {
			p.dropOrKeep(from, min(from+size, n))
		}
	}
}

// keepPairs zeroes all but two terms, or of very many all but two runs: most
// mismatches need no more.
func keepPairs(p *proposals) {
	const most = 16
	n := len(p.terms)
	size := (n + most - 1) / most
	for i := size; i < n; i += size {
		for j := 0; j < i; j += size {
			p.withAndWithoutC(func(v vector) bool {
				p.zeroTerms(v, 0, j)
				p.zeroTerms(v, j+size, i)
				p.zeroTerms(v, min(i+size, n), n)
				return true
			})
		}
	}
}

// keepSamples zeroes all but a few terms, drawn at random, where there are too many
// for keepPairs to be all that is worth a try.
func keepSamples(p *proposals) {
	n := len(p.terms)
	if n <= 4 {
		return
	}
	state := uint64(0)
	for size := 3; size < n; size += max(1, size/2) {
		for range 48 {
			keep := map[int]bool{}
			for len(keep) < size {
				state = mix(state + 0x9e3779b97f4a7c15)
				keep[int(state%uint64(n))] = true
			}
			p.withAndWithoutC(func(v vector) bool {
				for i := range p.terms {
					if !keep[i] {
						p.zeroTerms(v, i, i+1)
					}
				}
				return true
			})
		}
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// zeroFactors zeroes single factors, which leaves a zero with its sign, and all
// those that stand beside a zero. Most terms go as a whole; one of zeros and
// infinities may matter by one factor.
func zeroFactors(p *proposals) {
	p.try(func(v vector) bool {
		for _, k := range p.terms {
			if p.number(v, p.a(k)).class == fp.Zero || p.number(v, p.b(k)).class == fp.Zero {
				v[p.a(k)], v[p.b(k)] = 0, 0
			}
		}
		return true
	})
	for _, i := range p.values {
		p.try(func(v vector) bool { return p.set(v, i, number{}) })
		p.try(func(v vector) bool { return p.set(v, i, number{neg: p.number(v, i).neg}) })
	}
}

// foldIntoC replaces a product and c by c alone.
func foldIntoC(p *proposals) {
	if p.formats[p.c()] == nil {
		return
	}
	for _, k := range p.terms {
		p.try(func(v vector) bool {
			x, ok := p.product(v, k)
			v[p.a(k)], v[p.b(k)] = 0, 0
			v[p.c()] = p.formats[p.c()].Encode(x, fp.RZ, fp.OverMax)
			return ok
		})
	}
}

// product returns product k, scaled, if it is finite.
func (l *layout) product(v vector, k int) (fp.Dyadic, bool) {
	a, b, sa, sb := l.number(v, l.a(k)), l.number(v, l.b(k)), one, one
	if l.blocks > 0 {
		sa, sb = l.number(v, l.sa(l.block(k))), l.number(v, l.sb(l.block(k)))
	}
	x := fp.Dyadic{Neg: a.neg != b.neg}
	for _, f := range []number{a, b, sa, sb} {
		if f.class != fp.Finite {
			return x, false
		}
		x.Q += f.dyadic().Q
	}
	// Scaled formats have significands of 4 bits and scales of 4 more.
	x.Hi, x.Lo = bits.Mul64(a.sig*sa.sig, b.sig*sb.sig)
	return x, true
}

// dropOrKeep tries without the terms from..to-1 and with no others.
func (p *proposals) dropOrKeep(from, to int) {
	p.withAndWithoutC(func(v vector) bool {
		p.zeroTerms(v, from, to)
		return true
	})
	p.withAndWithoutC(func(v vector) bool {
		p.zeroTerms(v, 0, from)
		p.zeroTerms(v, to, len(p.terms))
		return true
	})
}

func (p *proposals) withAndWithoutC(edit func(v vector) bool) {
	p.try(edit)
	if p.base.v[p.c()] == 0 {
		return
	}
	p.try(func(v vector) bool {
		v[p.c()] = 0
		return edit(v)
	})
}

func (p *proposals) zeroTerms(v vector, from, to int) {
	for i := from; i < to; i++ {
		v[p.a(p.terms[i])], v[p.b(p.terms[i])] = 0, 0
	}
}

// halve goes from n through n/2, rounded up, ... down to 1, then 0.
func halve(n int) int {
	if n == 1 {
		return 0
	}
	return (n + 1) / 2
}
