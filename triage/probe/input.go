package probe

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// number is (-1)^neg * sig * 2^exp.
type number struct {
	neg bool
	sig uint64
	exp int
}

// pow returns 2^e.
func pow(e int) number { return number{sig: 1, exp: e} }

// times returns sig * 2^e.
func times(sig uint64, e int) number { return number{sig: sig, exp: e} }

// minus returns -n.
func (n number) minus() number { n.neg = !n.neg; return n }

// signed returns n, negated if neg.
func (n number) signed(neg bool) number { n.neg = n.neg != neg; return n }

// code returns the code of a number that a format can represent.
func code(f *fp.Format, n number) (uint64, bool) {
	if n.sig == 0 {
		return 0, !f.NoZero
	}
	if n.neg && !f.Signed {
		return 0, false
	}
	d := fp.Dyadic{Lo: n.sig, Q: int32(n.exp), Neg: n.neg}
	if d.Exponent() > f.Emax() {
		return 0, false
	}
	c := f.Encode(d, fp.RZ, fp.Overflow(0))
	return c, value(f, c) == n.reduced()
}

// value returns the number of a finite code, with an odd significand.
func value(f *fp.Format, c uint64) number {
	d := f.Dyadic(f.Decode(c))
	if d.IsZero() {
		return number{neg: d.Neg}
	}
	return number{d.Neg, d.Lo, int(d.Q)}.reduced()
}

// reduced returns n with an odd significand.
func (n number) reduced() number {
	for n.sig != 0 && n.sig&1 == 0 {
		n.sig, n.exp = n.sig>>1, n.exp+1
	}
	if n.sig == 0 {
		n.exp = 0
	}
	return n
}

// normal says whether a code is a normal number of a format.
func normal(f *fp.Format, c uint64) bool {
	n := f.Decode(c)
	return n.Class == fp.Finite && f.Dyadic(n).Exponent() >= f.Emin()
}

// factors returns codes of a and b whose product is n: normal numbers of nearly
// equal exponents where there are such, else subnormal ones.
func (p *Prober) factors(n number) (a, b uint64, ok bool) {
	if n.sig == 0 {
		return 0, 0, true
	}
	n = n.reduced()
	f, known := p.pairs[n]
	if !known {
		f.a, f.b, f.ok = p.findFactors(n)
		p.pairs[n] = f
	}
	return f.a, f.b, f.ok
}

// pair is what factors returns.
type pair struct {
	a, b uint64
	ok   bool
}

func (p *Prober) findFactors(n number) (a, b uint64, ok bool) {
	for _, s := range p.split(n.sig) {
		for _, sub := range []bool{false, true} {
			for off := range 600 {
				half := n.exp/2 + (off+1)/2*(1-off%2*2)
				a, okA := code(p.a, number{n.neg, s[0], half})
				b, okB := code(p.b, times(s[1], n.exp-half))
				if okA && okB && (sub || normal(p.a, a) && normal(p.b, b)) {
					return a, b, true
				}
			}
		}
	}
	return 0, 0, false
}

// split returns the ways to write sig as a product of significands of a and b.
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

// dot builds a dot product: term k is the product of position k, term p.k is c.
// Positions without a term are +0*+0.
func (p *Prober) dot(terms map[int]number) (*mma.Dot, bool) {
	d := p.blank()
	for k, n := range terms {
		n.exp += p.shift
		if k == p.k {
			if p.c == nil {
				return nil, false
			}
			c, ok := code(p.c, n)
			if !ok {
				return nil, false
			}
			d.C = c
			continue
		}
		a, b, ok := p.factors(n)
		if !ok {
			return nil, false
		}
		d.A[k], d.B[k] = a, b
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

// leaves returns the number of terms: K products, and c if there is one.
func (p *Prober) leaves() int {
	if p.c == nil {
		return p.k
	}
	return p.k + 1
}

// result is the number that a code of d stands for; ok is false for infinities
// and NaNs.
func (p *Prober) result(s Seen) (number, bool) {
	if n := p.d.Decode(s.Got); n.Class == fp.Inf || n.Class == fp.NaN {
		return number{}, false
	}
	return value(p.d, s.Got), true
}

// is says whether a result is a number, whatever the sign of a zero.
func (p *Prober) is(s Seen, n number) bool {
	r, ok := p.result(s)
	n = n.scaled(p.shift).reduced()
	return ok && (r == n || r.sig == 0 && n.sig == 0)
}

// scaled returns n * 2^e.
func (n number) scaled(e int) number { n.exp += e; return n }

// one asks one dot product.
func (p *Prober) one(terms map[int]number) (Seen, bool) {
	d, ok := p.dot(terms)
	if !ok {
		return Seen{}, false
	}
	return p.ask(d)[0], true
}

// anchored makes a test that takes 1 as its large number take another power of
// two, so that the small numbers beside it are products of the formats.
func anchored(ask func(*Prober) finding) func(*Prober) finding {
	return func(p *Prober) finding { return p.at(p.anchor(), ask) }
}

// anchoredC is anchored for tests whose large number is c, which may be above all
// products.
func anchoredC(ask func(*Prober) finding) func(*Prober) finding {
	return func(p *Prober) finding { return p.at(p.anchorC(), ask) }
}

// at runs a test with 2^shift for 1.
func (p *Prober) at(shift int, ask func(*Prober) finding) finding {
	old := p.shift
	p.shift = shift
	f := ask(p)
	p.shift = old
	return f
}

// anchor is 0 if products go down to an eighth of the last bit of 1, else as far
// up as needed, or as the formats allow.
func (p *Prober) anchor() int {
	most := min(int(p.a.Emax())+int(p.b.Emax())-2, int(p.d.Emax())-8)
	return max(0, min(p.needed(), most))
}

func (p *Prober) anchorC() int {
	if p.c == nil {
		return p.anchor()
	}
	return max(0, min(p.needed(), int(p.c.Emax())-8, int(p.d.Emax())-8))
}

// needed is the exponent of a number of which an eighth of the last bit in d is
// the smallest product.
func (p *Prober) needed() int {
	return once(p, "needed", func() int {
		least := int(p.a.Emin()) + int(p.b.Emin())
		if p.inputsKept(false).value == "yes" && p.inputsKept(true).value == "yes" {
			least -= int(p.a.FracBits) + int(p.b.FracBits)
		}
		return least + int(p.d.FracBits) + 3
	})
}
