package probe

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// Most questions of this file put small terms beside 1: which of them are lost, one by one
// or together, and what a cancellation changes. The others ask for exact products, room for
// carries, and truncation.

// productsExact takes the product of the largest significands, and where d has too
// few digits for it, adds what makes it short: (2^n-1)^2 + (2^n-1) = (2^n-1)*2^n.
func (p *Prober) productsExact() finding {
	frac := int(min(p.a.FracBits, p.b.FracBits))
	digits, most := frac+1, int(p.d.FracBits)+1
	n := uint64(1)<<digits - 1
	x := times(n, -frac)
	d := p.blank()
	if digits <= 32 && bits.Len64(n*n) <= most {
		if !p.set(d, 0, x, x) {
			return undecided("the largest significands are not numbers of exponent 0")
		}
		s := p.ask(d)[0]
		return yesNo(p.is(s, p.weighted(times(n*n, -2*frac))), s)
	}
	if p.k < 2 || digits > most {
		return undecided("d has too few digits to tell")
	}
	if !p.set(d, 0, x, x) || !p.set(d, 1, x, pow(-frac)) {
		return undecided("the formats lack the numbers")
	}
	s := p.ask(d)[0]
	return yesNo(p.is(s, p.weighted(times(n, digits-2*frac))), s)
}

// oneBit asks for 1 - ulp/2.
func (p *Prober) oneBit() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	half := p.ulp() - 1
	return p.try(terms{p.last(): pow(0), 0: pow(half).minus()}, noNumbers, equals(times(1<<-half-1, half), "yes"), otherwise("no"))
}

// threeBits is Table III of FTTN (whose results of the mode to nearest are reversed), with the large term in a product and the term to
// be aligned in c: only c holds its digits.
func (p *Prober) threeBits() finding {
	if p.c == nil || int(p.c.FracBits) < -p.ulp() {
		return undecided("c has fewer digits than d")
	}
	switch f := p.at(cScale, (*Prober).oneBit); f.value {
	case "-":
		return f
	case "no":
		return finding{value: "0", seen: f.seen}
	}
	u, dir := p.ulp(), p.sumDirection().value
	if u > -3 {
		return undecided("results have fewer than 3 fraction bits: an eighth is none of their last bits")
	}
	eighth := uint64(1) << (-u - 3)           // of 2^u
	lower := times(uint64(1)<<-u+eighth-1, u) // 1 + 2^-3 - ulp
	c, yes, no := times(4*eighth+1, u-2), ">= 2", "1"
	if dir == "RNE" {
		c, yes, no = times(8*eighth+5, u-3), ">= 3", "1 or 2"
	}
	return p.try(terms{0: times(5, -2), p.k: c.minus()}, noNumbers, equals(lower, yes), otherwise(no))
}

// blockWidth is what FTTN's Algorithm 1, as printed, loses from its second round on: c = 1, half an ulp at product 0 and half an ulp
// that moves.
func (p *Prober) blockWidth() finding {
	return once(p, "block width", func() finding { return p.at(cScale, (*Prober).findBlockWidth) })
}

func (p *Prober) findBlockWidth() finding {
	switch f := p.oneBit(); f.value {
	case "-":
		return f
	case "no":
		return finding{value: "-", why: "there is no extra bit", seen: f.seen}
	}
	half := pow(p.ulp() - 1)
	for i := 1; i < min(p.k, p.last()); i++ {
		s, ok := p.sum(terms{p.last(): pow(0), 0: half, i: half})
		if !ok {
			return undecided("half an ulp is no product of these formats")
		}
		if p.is(s, pow(0)) {
			return finding{value: fmt.Sprint(i), seen: []Seen{s}}
		}
	}
	switch g := p.first(); {
	case p.order().refuted():
		return undecided("%s", treeUnknown)
	case g.guess || len(g.products) == p.k:
		return finding{value: fmt.Sprintf(">= %d", p.k)}
	case g.fused():
		return finding{value: fmt.Sprint(len(g.products)), why: "by the summation tree: half an ulp and half an ulp are never lost beside c"}
	}
	return undecided("half an ulp and half an ulp are never lost beside c")
}

// preserved adds three halves of an ulp to 1.
func (p *Prober) preserved() finding {
	if p.k < 4 {
		return undecided("the unit has fewer than four products")
	}
	half := pow(p.ulp() - 1)
	return p.try(terms{p.last(): pow(0), 0: half, 1: half, 2: half}, "half an ulp is no product of these formats",
		equals(pow(0), "no"), otherwise("yes"))
}

// orderMatters permutes 1 and four terms of ulp/4 over the terms of a block, and beyond it where it
// has fewer.
func (p *Prober) orderMatters() finding {
	w := p.blockWidth()
	if w.value == "-" || w.value == "1" {
		return finding{value: "-", why: cmp.Or(w.why, "the unit has no block of products"), seen: w.seen}
	}
	g, beyond := p.first().places(p.k), ""
	switch {
	case len(g) >= 5:
		g = append(g[:4:4], g[len(g)-1])
	case p.last() < 4:
		return undecided("the unit has fewer than five terms")
	default:
		g, beyond = []int{0, 1, 2, 3, p.last()}, "the block has fewer than five terms: they go beyond it"
	}
	seen, ok := p.permute(g, pow(p.ulp()-2))
	if !ok {
		return undecided("a quarter of an ulp is no product of these formats")
	}
	return depends(seen, beyond, beyond)
}

// permute asks for sums of 1 and equal small terms, with 1 in every place in turn.
func (p *Prober) permute(places []int, small number) (all []Seen, ok bool) {
	for _, one := range places {
		t := uniform(small, places)
		t[one] = pow(0)
		s, ok := p.sum(t)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}

// depends answers whether results differ, with a remark for yes and one for no.
func depends(seen []Seen, yes, no string) finding {
	for _, s := range seen {
		if s.Got != seen[0].Got {
			return finding{value: "yes", why: yes, seen: []Seen{seen[0], s}}
		}
	}
	return finding{value: "no", why: no, seen: seen}
}

// lost returns the exponent of the largest power of two that vanishes beside a 1 in
// the same sum.
func (p *Prober) lost() (e int, ok bool) {
	if p.last() == 0 {
		return 0, false // there is nothing beside it
	}
	if w := p.productWidth(); w.ok && !w.all {
		return -w.bits - 1, true
	}
	for e := p.ulp(); e >= p.ulp()-2; e-- {
		if s, ok := p.sum(terms{p.last(): pow(0), 0: pow(e)}); ok && p.is(s, pow(0)) {
			return e, true
		}
	}
	return 0, false
}

// permuted asks for sums of 1 and equal terms below the cut, with 1 in every place of the
// first group in turn, or of the first four products and c, if that group has only two.
// Without results the finding says why.
func (p *Prober) permuted() ([]Seen, finding) {
	e, ok := p.lost()
	if !ok {
		return nil, undecided("no power of two is lost beside 1")
	}
	g := p.first().places(p.k)
	if len(g) < 2 {
		return nil, undecided(oneTerm)
	}
	if len(g) < 3 && p.c != nil && p.k >= 4 {
		g = []int{0, 1, 2, 3, p.k}
	}
	seen, ok := p.permute(g, pow(e))
	if !ok {
		return nil, undecided("2^%d is no product of these formats", e)
	}
	return seen, finding{}
}

// lostTerms counts the permutations in which all small terms are lost.
func (p *Prober) lostTerms() finding {
	seen, f := p.permuted()
	if seen == nil {
		return f
	}
	all := 0
	for _, s := range seen {
		if p.is(s, pow(0)) {
			all++
		}
	}
	switch n := len(seen) - 1; all {
	case len(seen):
		return finding{value: fmt.Sprintf("%d of %d", n, n), seen: seen}
	case 0:
		return finding{value: "fewer", why: "small terms add up", seen: seen}
	}
	return finding{value: "depends on the place of the 1", why: p.whyPlace(seen), seen: seen}
}

// whyPlace says why the results of permuted sums differ, in agreement with the tree.
func (p *Prober) whyPlace(seen []Seen) string {
	g := p.first()
	switch products := seen[:len(seen)-1]; {
	case !g.fused() || g.guess:
		return "the terms are added in an order of their own"
	case g.c && !slices.ContainsFunc(products, func(s Seen) bool { return s.Got != products[0].Got }):
		return "in the fused sum c is aligned in another way than products"
	}
	return "the terms of the fused sum are not all aligned in the same way"
}

func (p *Prober) largestFirst() finding {
	seen, f := p.permuted()
	if seen == nil {
		return f
	}
	return depends(seen, p.whyPlace(seen), "as if added to the largest")
}

// creep adds to c = 1-2^-n small terms that count beside c but not beside 1, and
// more than make up for what c lacks. It returns the sum, the sum with c = 1
// instead, and whether the former is exact, above 1; or why there are none.
func (p *Prober) creep() (below, at Seen, exact bool, why finding) {
	w, g := p.productWidth(), p.first()
	if !w.ok || w.all || !g.c {
		return below, at, false, undecided("c is in no fused sum in which products are cut")
	}
	n := 1 - p.ulp()
	small := -w.bits - 1
	finer := max(0, -n-small) // small terms are 2^-(n+finer): 3<<finer of them are 3*2^-n
	if w.bits < n-1 {
		return below, at, false, undecided("the sum keeps fewer bits than c has")
	}
	if finer > 8 || 3<<finer > len(g.products) {
		return below, at, false, undecided("%d products of 2^%d are too few for 3*2^%d", len(g.products), small, -n)
	}
	t := uniform(pow(small), g.products[:3<<finer])
	t[p.k] = times(1<<n-1, -n)
	below, ok := p.sum(t)
	if !ok {
		return below, at, false, undecided("2^%d is no product of these formats", small)
	}
	t[p.k] = pow(0)
	if at, ok = p.sum(t); !ok {
		return below, at, false, undecided("1 is no number of c's format")
	}
	return below, at, p.is(below, times(1<<(n-1)+1, 1-n)), finding{}
}

func (p *Prober) normalisedUp() finding {
	below, _, exact, f := p.creep()
	if f.value != "" {
		return f
	}
	return yesNo(!exact, below)
}

func (p *Prober) monotone() finding {
	below, at, exact, f := p.creep()
	if f.value != "" {
		if !p.first().fused() && !p.first().guess {
			return finding{value: "yes", why: "no fused sum: rounding a sum of two is monotone"}
		}
		return f
	}
	return yesNo(!(exact && p.is(at, pow(0))), below, at)
}

// normalisedDown asks for U + e - U with U = 1 and e below U's cut: does e count once U has
// cancelled?
func (p *Prober) normalisedDown() finding {
	g, w := p.first(), p.productWidth()
	switch {
	case g.fused() && w.ok && !w.all:
		return finding{value: "no", why: "U - U + e is cut at U's exponent", seen: w.seen}
	case g.fused() && w.ok:
		return finding{value: "-", why: "no product is cut", seen: w.seen}
	case p.k < 2 || p.c == nil:
		return undecided("too few terms")
	}
	e := p.ulp() - 3
	return p.try(terms{0: pow(0), 1: pow(e), p.k: pow(0).minus()}, fmt.Sprintf("2^%d is no product of these formats", e),
		equals(pow(e), "yes"), otherwise("no"))
}

// carryBits adds as many terms of 15/8 as the first sum has, or of 3/2 where that
// is no product: none is lost if the sum has room for it.
func (p *Prober) carryBits() finding {
	g := p.first().places(p.k)
	if len(g) < 3 {
		return undecided("no sum of three terms or more")
	}
	for _, x := range []number{times(15, -3), times(3, -1)} {
		s, ok := p.sum(uniform(x, g))
		if !ok {
			continue
		}
		sum := times(x.sig*uint64(len(g)), x.exp)
		return p.decide(s, equals(sum, fmt.Sprintf(">= %d", bits.Len64(sum.sig)-1+sum.exp)),
			otherwise("other").because("the sum of equal terms is not exact"))
	}
	return undecided("neither 15/8 nor 3/2 is a product of these formats")
}

// truncates adds a negative term far below 2: rounding toward zero would give the
// number below 2, truncated alignment gives 2.
func (p *Prober) truncates() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	digits := int(p.d.FracBits) + 1
	for _, e := range []int{-40, -48, -56, -32, -28} {
		s, ok := p.sum(terms{p.last(): pow(1), 0: pow(e).minus()})
		if !ok || e+p.shift >= p.least() && !p.arrives(pow(e)) {
			continue
		}
		two := equals(pow(1), "yes")
		if p.is(s, pow(1)) && p.sumDirection().value == "RNE" {
			two = equals(pow(1), "no").because("the sum is rounded to nearest, which gives 2, too")
		}
		return p.decide(s, two,
			equals(times(1<<digits-1, 1-digits), "no").because("rounded toward zero or minus infinity"),
			otherwise("other"))
	}
	return undecided("no product as small as 2^-28 arrives")
}
