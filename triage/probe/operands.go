package probe

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// terms are the terms of a sum: term i is the product of position i, and term K is
// c. Products without a term are +0*+0.
type terms map[int]number

// uniform returns terms that are all n, at the given places.
func uniform(n number, places []int) terms {
	t := terms{}
	for _, i := range places {
		t[i] = n
	}
	return t
}

// leaves returns the number of terms: K products, and c if there is one.
func (p *Prober) leaves() int {
	if p.c == nil {
		return p.k
	}
	return p.k + 1
}

// last returns the place of the last term: c, or else the last product.
func (p *Prober) last() int { return p.leaves() - 1 }

// dot builds a dot product. ok is false if the formats lack the terms.
func (p *Prober) dot(t terms) (d *mma.Dot, ok bool) {
	d = p.blank()
	for k, n := range t {
		n = n.scaled(p.shift)
		if k == p.k {
			if p.c == nil {
				return nil, false
			}
			if d.C, ok = code(p.c, n); !ok {
				return nil, false
			}
			continue
		}
		if d.A[k], d.B[k], ok = p.factors(n); !ok {
			return nil, false
		}
	}
	return d, true
}

// blank returns a dot product of zeros, with scales of 1.
func (p *Prober) blank() *mma.Dot {
	d := mma.NewDot(p.f, p.k)
	if p.f.Scale != fp.None {
		one, _ := code(p.f.Scale.Get(), pow(0))
		for i := range d.SA {
			d.SA[i], d.SB[i] = one, one
		}
	}
	return d
}

// set puts x and y into a and b at a position. ok is false if the formats lack the
// numbers.
func (p *Prober) set(d *mma.Dot, k int, x, y number) (ok bool) {
	a, okA := code(p.a, x)
	b, okB := code(p.b, y)
	d.A[k], d.B[k] = a, b
	return okA && okB
}

// pair is a cached result of factors.
type pair struct {
	a, b uint64
	ok   bool
}

// factors returns codes of a and b whose product counts as n. It takes the first way to split
// the significand that works, with normal numbers of nearly equal exponents if possible,
// else with subnormal ones.
func (p *Prober) factors(n number) (a, b uint64, ok bool) {
	if n.sig == 0 {
		return 0, 0, true
	}
	w, _ := p.weight()
	n = n.scaled(-w).reduced()
	f, known := p.pairs[n]
	if !known {
		f = p.findFactors(n)
		p.pairs[n] = f
	}
	return f.a, f.b, f.ok
}

func (p *Prober) findFactors(n number) pair {
	for _, s := range p.split(n.sig) {
		for _, subnormal := range []bool{false, true} {
			for off := range 600 {
				half := n.exp/2 + (off+1)/2*(1-off%2*2) // n.exp/2 and its neighbours, the nearest first
				a, okA := code(p.a, number{n.neg, s[0], half})
				b, okB := code(p.b, times(s[1], n.exp-half))
				if okA && okB && (subnormal || normal(p.a, a) && normal(p.b, b)) {
					return pair{a, b, true}
				}
			}
		}
	}
	return pair{}
}

// split returns ways to write sig as a product of significands of a and b: sig*1 and
// 1*sig or, if neither fits the formats, the one with the least odd first factor.
func (p *Prober) split(sig uint64) [][2]uint64 {
	pa, pb := uint64(1)<<(p.a.FracBits+1), uint64(1)<<(p.b.FracBits+1)
	var ways [][2]uint64
	for _, s := range [][2]uint64{{sig, 1}, {1, sig}} {
		if s[0] < pa && s[1] < pb {
			ways = append(ways, s)
		}
	}
	for s := uint64(3); len(ways) == 0 && s < min(pa, 1<<12); s += 2 {
		if sig%s == 0 && sig/s < pb {
			ways = append(ways, [2]uint64{s, sig / s})
		}
	}
	return ways
}
