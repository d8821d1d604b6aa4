package probe

import (
	"fmt"
	"math/bits"
)

// fasi is Fasi et al., section 3.1, with constants that follow from the bits the
// unit keeps, as section 3.2 asks.
var fasi = []question{
	{"3.1.1 inputs", "subnormal a and b are numbers", func(p *Prober) finding {
		if f := p.inputsKept(false); f.value != "yes" {
			return f
		}
		return p.inputsKept(true)
	}},
	{"3.1.1 c", "subnormal c is a number", (*Prober).cKept},
	{"3.1.1 results", "subnormal results of normal operands", (*Prober).outKept},
	{"3.1.2 products", "products are exact", (*Prober).productsExact},
	{"3.1.2 roundings", "terms of a sum with 1 that are lost one by one", anchored((*Prober).roundings)},
	{"3.1.2 order", "the place of the largest term decides what is lost", anchored((*Prober).largestFirst)},
	{"3.1.3 sum", "rounding direction of the sum", (*Prober).sumDirection},
	{"3.1.3 result", "rounding direction of the result", (*Prober).resultDirection},
	{"3.1.4 extra bits", "bits below the last of d to which terms are aligned", (*Prober).extraBits},
	{"3.1.4 addition", "partial sums are normalised after a carry", anchoredC((*Prober).normalisedUp)},
	{"3.1.4 subtraction", "partial sums are normalised after a cancellation", anchored((*Prober).normalisedDown)},
	{"3.1.4 carry", "bits for carries", (*Prober).carryBits},
	{"3.1.4 monotonicity", "a larger c never gives a smaller result", anchoredC((*Prober).monotone)},
}

// productsExact takes the product of the largest significands, and where d has too
// few digits for it, adds what makes it short: (2^n-1)^2 + (2^n-1) = (2^n-1)*2^n.
func (p *Prober) productsExact() finding {
	n := uint64(1)<<(min(p.a.FracBits, p.b.FracBits)+1) - 1
	e := -2 * int(min(p.a.FracBits, p.b.FracBits))
	full, _ := bits.Mul64(n, n)
	if full != 0 || n == 0 {
		return p.squareShort(n, e)
	}
	if w := bits.Len64(n * n); w <= int(p.d.FracBits)+1 {
		d := p.blank()
		ca, okA := code(p.a, times(n, e/2))
		cb, okB := code(p.b, times(n, e/2))
		if !okA || !okB {
			return undecided("the largest significands are not numbers of exponent 0")
		}
		d.A[0], d.B[0] = ca, cb
		s := p.ask(d)[0]
		return yesNo(p.is(s, times(n*n, e)), s)
	}
	return p.squareShort(n, e)
}

func (p *Prober) squareShort(n uint64, e int) finding {
	if p.k < 2 || bits.Len64(n) > int(p.d.FracBits)+1 {
		return undecided("d has too few digits to tell")
	}
	d := p.blank()
	ca, okA := code(p.a, times(n, e/2))
	cb, okB := code(p.b, times(n, e/2))
	cl, okL := code(p.b, pow(e/2))
	if !okA || !okB || !okL {
		return undecided("the formats lack the numbers")
	}
	d.A[0], d.B[0], d.A[1], d.B[1] = ca, cb, ca, cl
	s := p.ask(d)[0]
	return yesNo(p.is(s, times(n, e+bits.Len64(n))), s)
}

func yesNo(ok bool, seen ...Seen) finding {
	if ok {
		return finding{value: "yes", seen: seen}
	}
	return finding{value: "no", seen: seen}
}

// lost is the exponent of a term that a 1 in the same sum makes vanish, the largest
// such power of two.
func (p *Prober) lost() (int, bool) {
	if p.big() == 0 {
		return 0, false // there is nothing beside it
	}
	if w := p.productWidth(); w.ok && !w.all {
		return -w.bits - 1, true
	}
	for e := p.ulp(); e >= p.ulp()-2; e-- {
		if s, ok := p.one(map[int]number{p.big(): pow(0), 0: pow(e)}); ok && p.is(s, pow(0)) {
			return e, true
		}
	}
	return 0, false
}

// permuted asks for sums of a 1 and equal terms below the cut, with the 1 in turn
// in every place of the first group.
func (p *Prober) permuted() ([]Seen, int, finding) {
	e, ok := p.lost()
	if !ok {
		return nil, 0, undecided("no power of two is lost beside 1")
	}
	g := p.first().terms(p.k)
	if len(g) < 2 {
		return nil, 0, undecided("one term only")
	}
	if len(g) < 3 && p.c != nil && p.k >= 4 {
		g = []int{0, 1, 2, 3, p.k}
	}
	var seen []Seen
	for _, one := range g {
		terms := map[int]number{}
		for _, t := range g {
			terms[t] = pow(e)
		}
		terms[one] = pow(0)
		s, ok := p.one(terms)
		if !ok {
			return nil, 0, undecided("2^%d is no product of these formats", e)
		}
		seen = append(seen, s)
	}
	return seen, len(g) - 1, finding{}
}

func (p *Prober) roundings() finding {
	seen, n, f := p.permuted()
	if seen == nil {
		return f
	}
	all := 0
	for _, s := range seen {
		if p.is(s, pow(0)) {
			all++
		}
	}
	switch all {
	case len(seen):
		return finding{value: fmt.Sprintf("%d of %d", n, n), seen: seen}
	case 0:
		return finding{value: "fewer", why: "small terms add up", seen: seen}
	}
	return finding{value: "depends on the order", seen: seen}
}

func (p *Prober) largestFirst() finding {
	seen, _, f := p.permuted()
	if seen == nil {
		return f
	}
	for _, s := range seen {
		if s.Got != seen[0].Got {
			return finding{value: "yes", why: "the terms are added in an order of their own", seen: []Seen{seen[0], s}}
		}
	}
	return finding{value: "no", why: "as if added to the largest", seen: seen}
}

// resultDirection rounds a sum that the alignment does not touch: four ones and a
// tail of quarters, which end above the cut of a fused sum.
func (p *Prober) resultDirection() finding {
	return once(p, "result direction", func() finding {
		w := p.fraction()
		if !w.ok {
			return undecided("the number of fraction bits of results is not known")
		}
		ones, tail := p.carriers()
		carry := times(uint64(len(ones)), 0).reduced().exp
		unit := carry - w.bits
		cut := p.productWidth()
		if cut.all {
			cut = p.cWidth()
		}
		if cut.ok && unit-2 < -cut.bits {
			return undecided("all that an alignment keeps stays in the result")
		}
		return p.direction(func(q uint64, neg bool) (map[int]number, func(uint64) number) {
			terms := map[int]number{tail: times(q, unit-2).signed(neg)}
			for _, t := range ones {
				terms[t] = pow(0).signed(neg)
			}
			if len(ones) == 1 && ones[0] == p.k { // c takes the whole units: narrow products need not
				terms[tail] = times(q%4, unit-2).signed(neg)
				terms[p.k] = times(uint64(1)<<w.bits+q/4, unit).signed(neg)
			}
			return terms, func(n uint64) number { return times(uint64(1)<<w.bits+n, unit).signed(neg) }
		})
	})
}

func (p *Prober) extraBits() finding {
	w := p.productWidth()
	if !w.ok {
		return undecided("%s", w.why)
	}
	if w.all {
		return finding{value: fmt.Sprintf(">= %d", w.bits+p.ulp()), seen: w.seen}
	}
	return finding{value: fmt.Sprint(w.bits - int(p.d.FracBits)), seen: w.seen}
}

// creeping builds c = 1-2^-n and small terms that reach c but not 1.
func (p *Prober) creeping() (below, at Seen, want number, f finding) {
	w := p.productWidth()
	g := p.first()
	if !w.ok || w.all || !g.c {
		return below, at, want, undecided("c is in no fused sum in which products are cut")
	}
	n := 1 - p.ulp()
	small := -w.bits - 1
	finer := max(0, -n-small) // small terms are 2^-(n+finer): 3<<finer of them are 3*2^-n
	if w.bits < n-1 {
		return below, at, want, undecided("the sum keeps fewer bits than c has")
	}
	if finer > 8 || 3<<finer > len(g.products) {
		return below, at, want, undecided("%d products of 2^%d are too few for 3*2^%d", len(g.products), small, -n)
	}
	need := 3 << finer
	terms := map[int]number{p.k: times(1<<n-1, -n)}
	for _, t := range g.products[:need] {
		terms[t] = pow(small)
	}
	below, ok := p.one(terms)
	if !ok {
		return below, at, want, undecided("2^%d is no product of these formats", small)
	}
	terms[p.k] = pow(0)
	if at, ok = p.one(terms); !ok {
		return below, at, want, undecided("1 is no number of c's format")
	}
	return below, at, times(1<<(n-1)+1, 1-n), finding{}
}

func (p *Prober) normalisedUp() finding {
	below, _, want, f := p.creeping()
	if f.value != "" {
		return f
	}
	return yesNo(!p.is(below, want), below)
}

func (p *Prober) monotone() finding {
	below, at, want, f := p.creeping()
	if f.value != "" {
		if !p.first().fused() && !p.first().guess {
			return finding{value: "yes", why: "no fused sum: rounding a sum of two is monotone"}
		}
		return f
	}
	return yesNo(!(p.is(below, want) && p.is(at, pow(0))), below, at)
}

// normalisedDown asks whether what is below the cut of U counts once U has gone.
func (p *Prober) normalisedDown() finding {
	g := p.first()
	w := p.productWidth()
	switch {
	case g.fused() && w.ok && !w.all:
		return finding{value: "no", why: "U - U + e is cut at U's exponent", seen: w.seen}
	case g.fused() && w.ok:
		return finding{value: "-", why: "no product is cut", seen: w.seen}
	case p.k < 2 || p.c == nil:
		return undecided("too few terms")
	}
	e := p.ulp() - 3
	s, ok := p.one(map[int]number{0: pow(0), 1: pow(e), p.k: pow(0).minus()})
	if !ok {
		return undecided("2^%d is no product of these formats", e)
	}
	return yesNo(p.is(s, pow(e)), s)
}

// carryBits adds as many terms of 15/8 as the first sum has, or of 3/2 where that
// is no product: none is lost if the sum has room for it.
func (p *Prober) carryBits() finding {
	g := p.first().terms(p.k)
	if len(g) < 3 {
		return undecided("no sum of three terms or more")
	}
	for _, x := range []number{times(15, -3), times(3, -1)} {
		terms := map[int]number{}
		for _, t := range g {
			terms[t] = x
		}
		s, ok := p.one(terms)
		if !ok {
			continue
		}
		sum := times(x.sig*uint64(len(g)), x.exp)
		if p.is(s, sum) {
			return finding{value: fmt.Sprintf(">= %d", bits.Len64(sum.sig)-1+sum.exp), seen: []Seen{s}}
		}
		return finding{value: "other", why: "the sum of equal terms is not exact", seen: []Seen{s}}
	}
	return undecided("neither 15/8 nor 3/2 is a product of these formats")
}
