package probe

import "fmt"

// fttn is the workflow of FTTN, section III: see also Table IV. An ulp is that of
// results at 1.
var fttn = []question{
	{"T_si_no", "subnormal a and b give a normal product", func(p *Prober) finding {
		if f := p.inputsKept(false); f.value != "yes" {
			return f
		}
		return p.inputsKept(true)
	}},
	{"T_ni_so", "normal a and b give a subnormal result", (*Prober).outKept},
	{"T_sa", "a subnormal c comes back", (*Prober).cKept},
	{"T_1_bit", "1 - ulp/2 is exact: there is an extra bit at least", anchoredC((*Prober).oneBit)},
	{"T_rnd_dir", "direction in which 1 + x is rounded", (*Prober).sumDirection},
	{"T_3_bits_fin_rnd", "extra bits of the sum", anchored((*Prober).threeBits)},
	{"T_prod", "direction in which a product is rounded", (*Prober).productDirection},
	{"T_blk_fma_width", "products that are added before they are rounded", (*Prober).blockWidth},
	{"T_pres_extra_acc", "extra bits are preserved: 1 + 3 ulp/2 is above 1", anchoredC((*Prober).preserved)},
	{"T_acc_order", "the order of 1 and four times ulp/4 matters", anchored((*Prober).orderMatters)},
}

// ulp is the exponent of the last bit of a result at 1. It is d's, unless results
// are shorter.
func (p *Prober) ulp() int {
	if w := p.fraction(); w.ok {
		return -w.bits
	}
	return -int(p.d.FracBits)
}

// big returns where to put a large term: c, or the last product.
func (p *Prober) big() int {
	if p.c != nil {
		return p.k
	}
	return p.k - 1
}

func (p *Prober) oneBit() finding {
	if p.big() == 0 {
		return undecided("one term only")
	}
	return p.kept2(map[int]number{p.big(): pow(0), 0: pow(p.ulp() - 1).minus()}, times(1<<(1-p.ulp())-1, p.ulp()-1))
}

// kept2 is kept for results that are not 0 where the answer is no.
func (p *Prober) kept2(terms map[int]number, want number) finding {
	s, ok := p.one(terms)
	if !ok {
		return undecided("no such numbers in these formats")
	}
	v := "no"
	if p.is(s, want) {
		v = "yes"
	}
	return finding{value: v, seen: []Seen{s}}
}

// sumDirection is the direction of the sum of 1 and a product.
func (p *Prober) sumDirection() finding {
	return once(p, "sum direction", func() finding { return anchoredC((*Prober).findSumDirection)(p) })
}

func (p *Prober) findSumDirection() finding {
	if p.big() == 0 {
		return undecided("one term only")
	}
	e := p.ulp()
	return p.direction(func(q uint64, neg bool) (map[int]number, func(uint64) number) {
		terms := map[int]number{p.big(): pow(0).signed(neg), 0: times(q, e-2).signed(neg)}
		if p.c != nil && int(p.c.FracBits) >= -e { // c takes the whole units: narrow products need not
			terms[p.k] = times(uint64(1)<<-e+q/4, e).signed(neg)
			terms[0] = times(q%4, e-2).signed(neg)
		}
		return terms, func(n uint64) number {
			return times(uint64(1)<<-e+n, e).signed(neg)
		}
	})
}

// threeBits is Table III, with the large term in a product and the term to be
// aligned in c: only c holds its digits.
func (p *Prober) threeBits() finding {
	if p.c == nil || int(p.c.FracBits) < -p.ulp() {
		return undecided("c has fewer digits than d")
	}
	switch f := anchoredC((*Prober).oneBit)(p); f.value {
	case "-":
		return f
	case "no":
		return finding{value: "0", seen: f.seen}
	}
	u, dir := p.ulp(), p.sumDirection().value
	if u > -3 {
		return undecided("results have fewer than 3 fraction bits: an eighth is none of their last bits")
	}
	eighth := uint64(1) << (-u - 3) // of 2^u
	large := times(5, -2)
	lower := times(uint64(1)<<-u+eighth-1, u) // 1 + 2^-3 - ulp
	if dir == "RNE" {
		s, ok := p.one(map[int]number{0: large, p.k: times(8*eighth+5, u-3).minus()})
		switch {
		case !ok:
			return undecided("no such numbers in these formats")
		case p.is(s, lower):
			return finding{value: "3", seen: []Seen{s}}
		}
		return finding{value: "1 or 2", seen: []Seen{s}}
	}
	s, ok := p.one(map[int]number{0: large, p.k: times(4*eighth+1, u-2).minus()})
	switch {
	case !ok:
		return undecided("no such numbers in these formats")
	case p.is(s, lower):
		return finding{value: ">= 2", seen: []Seen{s}}
	}
	return finding{value: "1", seen: []Seen{s}}
}

// productDirection multiplies n ulp by 5/4: the tail is n mod 4 quarters.
func (p *Prober) productDirection() finding {
	bits := int(p.d.FracBits)
	if int(p.a.FracBits)+int(p.b.FracBits)+1 <= bits {
		return undecided("every product of %s and %s is a number of %s", p.a.Name, p.b.Name, p.d.Name)
	}
	if int(p.a.FracBits) < bits {
		return undecided("a has too few digits for a product that ends within a quarter of the last bit")
	}
	var trials []trial
	for _, odd := range []bool{false, true} {
		for q := 1; q <= 3; q++ {
			for _, neg := range []bool{false, true} {
				n := uint64(1)<<bits + uint64(q)
				for (n*5/4)%2 == 1 != odd {
					n += 4
				}
				d, ok := p.dot(map[int]number{})
				if !ok {
					continue
				}
				a, okA := code(p.a, times(n, -bits).signed(neg))
				b, okB := code(p.b, times(5, -2))
				if !okA || !okB {
					return undecided("no such numbers in these formats")
				}
				d.A[0], d.B[0] = a, b
				low := n * 5 / 4
				base := uint64(0)
				if odd {
					base = 1
				}
				trials = append(trials, trial{q, odd, neg, d, func(m uint64) number {
					return times(low+m-base, -bits).signed(neg)
				}})
			}
		}
	}
	return p.explainTrials(trials, p.ask(dotsOf(trials)...))
}

// blockWidth is FTTN's Algorithm 1: c = 1, half an ulp fixed at product 0 and half
// an ulp that moves.
func (p *Prober) blockWidth() finding {
	return once(p, "block width", func() finding { return anchoredC((*Prober).findBlockWidth)(p) })
}

func (p *Prober) findBlockWidth() finding {
	switch f := anchoredC((*Prober).oneBit)(p); f.value {
	case "-":
		return f
	case "no":
		return finding{value: "-", why: "there is no extra bit", seen: f.seen}
	}
	half := pow(p.ulp() - 1)
	for i := 1; i < p.k; i++ {
		if i == p.big() {
			break
		}
		s, ok := p.one(map[int]number{p.big(): pow(0), 0: half, i: half})
		if !ok {
			return undecided("half an ulp is no product of these formats")
		}
		if p.is(s, pow(0)) {
			return finding{value: fmt.Sprint(i), seen: []Seen{s}}
		}
	}
	return finding{value: fmt.Sprintf(">= %d", p.k)}
}

func (p *Prober) preserved() finding {
	if p.k < 4 {
		return undecided("the unit has fewer than four products")
	}
	half := pow(p.ulp() - 1)
	s, ok := p.one(map[int]number{p.big(): pow(0), 0: half, 1: half, 2: half})
	if !ok {
		return undecided("half an ulp is no product of these formats")
	}
	if p.is(s, pow(0)) {
		return finding{value: "no", seen: []Seen{s}}
	}
	return finding{value: "yes", seen: []Seen{s}}
}

// orderMatters permutes 1 and four times ulp/4 over the terms of a block.
func (p *Prober) orderMatters() finding {
	w := p.blockWidth()
	if w.value == "-" || w.value == "1" {
		return finding{value: "-", why: "the unit has no block of products", seen: w.seen}
	}
	g := p.first().terms(p.k)
	if len(g) > 5 {
		g = append(g[:4:4], g[len(g)-1])
	}
	var seen []Seen
	for _, one := range g {
		terms := map[int]number{}
		for _, t := range g {
			terms[t] = pow(p.ulp() - 2)
		}
		terms[one] = pow(0)
		s, ok := p.one(terms)
		if !ok {
			return undecided("a quarter of an ulp is no product of these formats")
		}
		seen = append(seen, s)
	}
	for _, s := range seen {
		if s.Got != seen[0].Got {
			return finding{value: "yes", seen: []Seen{seen[0], s}}
		}
	}
	return finding{value: "no", seen: seen}
}
