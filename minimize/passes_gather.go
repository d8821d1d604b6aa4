package minimize

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// gather replaces all products by one, so that the sum stays what it is. It leaves c as it is and
// makes the product the exact sum of all products; or it makes c the sum of all terms rounded toward
// zero, or the largest power of two in that, and the product the rest. Two terms then show an error
// that needs a sum in one binade, or certain bits below the last one of the sum that several terms
// make together: there, removing any term changes the sum and loses the error. A sum that does not
// fit into a product is tried rounded toward zero, to nearest and to odd, which keeps a trace of the
// bits that are lost.
func gather(p *proposals) {
	if len(p.terms) < 2 {
		return
	}
	products, ok := p.exact()
	if !ok {
		return
	}
	f := p.formats[p.c()]
	c := p.x[p.c()]
	cs := []number{c}
	if f != nil {
		if sum := products.plus(exactOf(c.dyadic())); sum.m.Sign() != 0 {
			x := read(f, f.Encode(sum.dyadic(), fp.RZ, fp.OverMax))
			cs = append(cs, x, x.cut(0))
		}
		products = products.plus(exactOf(c.dyadic()))
	}
	for _, c := range cs {
		rest := products
		if f != nil {
			rest = products.minus(exactOf(c.dyadic()))
		}
		for _, m := range []fp.Mode{fp.RTO, fp.RNE, fp.RZ} {
			for _, k := range []int{p.terms[0], p.terms[len(p.terms)-1]} {
				p.try(func(v vector) bool {
					for _, k := range p.terms {
						v[p.a(k)], v[p.b(k)] = 0, 0
					}
					return (f == nil || p.set(v, p.c(), c)) && p.setProduct(v, k, rest, m)
				})
			}
		}
	}
}

// setProduct makes product k the number x, rounded to as many bits as b has, and sets the scales of
// its block to 1. It reports whether the formats allow that.
func (p *proposals) setProduct(v vector, k int, x exact, m fp.Mode) bool {
	if x.m.Sign() == 0 {
		return false
	}
	d := x.dyadic()
	d = d.Round(d.Exponent()-int32(p.formats[p.b(k)].FracBits), m)
	if p.blocks > 0 {
		for _, s := range []int{p.sa(p.block(k)), p.sb(p.block(k))} {
			v[s] = p.plain[s]
		}
	}
	e := int(d.Exponent())
	b := number{class: fp.Finite, sig: d.Lo, frac: e - int(d.Q), exp: e - e/2}.normalised()
	a := number{class: fp.Finite, sig: 1, exp: e / 2, neg: d.Neg}
	return p.set(v, p.a(k), a) && p.set(v, p.b(k), b)
}

// exact is the number m * 2^q.
type exact struct {
	m *big.Int
	q int
}

// exactOf returns a number as an exact one.
func exactOf(d fp.Dyadic) exact {
	m := new(big.Int).SetUint64(d.Hi)
	m.Or(m.Lsh(m, 64), new(big.Int).SetUint64(d.Lo))
	if d.Neg {
		m.Neg(m)
	}
	return exact{m, int(d.Q)}
}

// exact returns the sum of all products; ok is false if one is not finite.
func (p *proposals) exact() (sum exact, ok bool) {
	sum = exact{new(big.Int), 0}
	for _, k := range p.terms {
		x := fp.Dyadic{}
		if p.x[p.a(k)].class != fp.Zero && p.x[p.b(k)].class != fp.Zero {
			if x, ok = p.product(k); !ok {
				return sum, false
			}
		}
		sum = sum.plus(exactOf(x))
	}
	return sum, p.x[p.c()].class <= fp.Finite
}

func (x exact) plus(y exact) exact {
	switch {
	case x.m.Sign() == 0:
		return y
	case y.m.Sign() == 0:
		return x
	case x.q < y.q:
		x, y = y, x
	}
	m := new(big.Int).Lsh(x.m, uint(x.q-y.q))
	return exact{m.Add(m, y.m), y.q}
}

func (x exact) minus(y exact) exact { return x.plus(exact{new(big.Int).Neg(y.m), y.q}) }

// dyadic returns the number with at most 127 bits: what is beyond is left as one bit, for
// roundings that depend on it.
func (x exact) dyadic() fp.Dyadic {
	m, q := new(big.Int).Abs(x.m), x.q
	if more := m.BitLen() - 126; more > 0 {
		rest := m.TrailingZeroBits() < uint(more)
		m.Rsh(m, uint(more))
		m.Lsh(m, 1)
		if q += more - 1; rest {
			m.SetBit(m, 0, 1)
		}
	}
	low := new(big.Int).And(m, new(big.Int).SetUint64(^uint64(0)))
	return fp.Dyadic{Hi: new(big.Int).Rsh(m, 64).Uint64(), Lo: low.Uint64(), Q: int32(q), Neg: x.m.Sign() < 0}
}
