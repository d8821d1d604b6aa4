package probe

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Most questions of this file put small terms beside 1: which of them are lost, one by one
// or together, and what a cancellation changes. The others ask for exact products, room for
// carries, and truncation.

// productsExact takes the product of the largest significands, and where d has too
// few digits for it, adds what makes it short: (2^n-1)^2 + (2^n-1) = (2^n-1)*2^n. That d may round
// to the same where the product was rounded before, so what the product has below d's digits is
// asked for as well.
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
		if p.is(s, p.weighted(times(n*n, -2*frac))) {
			return p.extremesExact(s)
		}
		return yesNo(false, s)
	}
	if p.k < 2 || digits > most {
		return undecided("d has too few digits to tell")
	}
	if !p.set(d, 0, x, x) || !p.set(d, 1, x, pow(-frac)) {
		return undecided("the formats lack the numbers")
	}
	s := p.ask(d)[0]
	if !p.is(s, p.weighted(times(n, digits-2*frac))) {
		return yesNo(false, s)
	}
	return p.lowBitKept(s, n, frac)
}

// lowBitKept takes (n-1)*(n+1) from n*n, which leaves the last bit of n*n: n is odd and has frac+1
// bits. The other product is short, and what is left is a normal number of d. It answers "no" only
// where a sum keeps so small a term beside so large ones.
func (p *Prober) lowBitKept(s Seen, n uint64, frac int) finding {
	up := max(0, int(p.d.Emin())+2*frac) // of a
	left := pow(up - 2*frac)
	seen := []Seen{s}
	for place := range 2 {
		d := p.blank()
		if !p.set(d, place, times(n, up-frac), times(n, -frac)) || !p.set(d, 1-place, times(n-1, up-frac).minus(), times(n+1, -frac)) {
			return undecided("the formats lack the numbers")
		}
		s := p.ask(d)[0]
		if seen = append(seen, s); p.is(s, p.weighted(left)) {
			return finding{value: "yes", seen: []Seen{s}}
		}
	}
	if p.k > 2 {
		d := p.blank()
		if p.set(d, 0, pow(up+1), pow(0)) && p.set(d, 1, pow(up-frac), pow(-frac)) && p.set(d, 2, pow(up+1).minus(), pow(0)) {
			if s := p.ask(d)[0]; p.is(s, p.weighted(left)) {
				return finding{value: "no", seen: append(seen[1:], s)}
			}
		}
	}
	return undecided("d has too few digits, and sums do not keep the last bit of a product either")
}

// extremesExact answers for a unit in which an ordinary product is exact: the largest and the
// smallest product of normal numbers may be beyond a narrower format's range.
func (p *Prober) extremesExact(s Seen) finding {
	for _, e := range []struct {
		what string
		x, y number
	}{
		{"the largest", value(p.a, p.a.MaxFinite()), value(p.b, p.b.MaxFinite())},
		{"the smallest normal", pow(int(p.a.Emin())), pow(int(p.b.Emin()))},
	} {
		want := p.weighted(times(e.x.sig*e.y.sig, e.x.exp+e.y.exp))
		_, fits := code(p.d, want)
		d := p.blank()
		if !fits || bits.Len64(e.x.sig)+bits.Len64(e.y.sig) > 64 || !p.set(d, 0, e.x, e.y) {
			continue
		}
		if s := p.ask(d)[0]; !p.is(s, want) {
			return finding{value: "no", why: e.what + " product is not, though it is a number of " + p.d.Name, seen: []Seen{s}}
		}
	}
	return finding{value: "yes", seen: []Seen{s}}
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
	w := p.cWidth()
	known := w.ok && !w.all
	aligned := finding{fmt.Sprint(w.bits + u), "by the width to which c is aligned: other roundings spoil the test of the paper", w.seen}
	switch {
	case dir != "RNE" && dir != "RZ" && known:
		return aligned
	case dir != "RNE" && dir != "RZ":
		return undecided("the test is for sums that are rounded toward zero or to nearest, ties to even")
	case u > -3:
		return undecided("results have fewer than 3 fraction bits: an eighth is none of their last bits")
	}
	eighth := uint64(1) << (-u - 3)           // of 2^u
	lower := times(uint64(1)<<-u+eighth-1, u) // 1 + 2^-3 - ulp
	c, least, no := times(4*eighth+1, u-2), 2, "1"
	if dir == "RNE" {
		c, least, no = times(8*eighth+5, u-3), 3, "1 or 2"
	}
	yes := fmt.Sprint(">= ", least)
	f := p.try(terms{0: times(5, -2), p.k: c.minus()}, noNumbers, equals(lower, yes), otherwise(no))
	if f.value != "-" && known && (f.value == yes) != (w.bits+u >= least) {
		return aligned
	}
	return f
}

// blockWidth is what FTTN's Algorithm 1, as printed, loses from its second round on: c = 1, half an ulp at product 0 and half an ulp
// that moves.
func (p *Prober) blockWidth() finding {
	return once(p, "block width", func() finding {
		if t, _ := p.Tree(); t != nil && !p.order().refuted() {
			if all := t.widths(p.k); len(all) > 1 {
				return undecided("sums have %s products", strings.Join(all, " or "))
			}
		}
		return p.at(cScale, (*Prober).findBlockWidth)
	})
}

func (p *Prober) findBlockWidth() finding {
	switch f := p.oneBit(); f.value {
	case "-":
		return f
	case "no":
		return finding{value: "-", why: "there is no extra bit", seen: f.seen}
	}
	half, g := pow(p.ulp()-1), p.first()
	for i := 1; i < min(p.k, p.last()); i++ {
		s, ok := p.sum(terms{p.last(): pow(0), 0: half, i: half})
		if !ok {
			return undecided("half an ulp is no product of these formats")
		}
		if p.is(s, pow(0)) {
			if !g.guess && !g.fused() && i > 1 { // product 0 meets those before i in a partial sum without the last
				return finding{value: "1", why: fmt.Sprintf("by the summation tree, in which every sum has two terms: half an ulp at product %d is lost", i), seen: []Seen{s}}
			}
			if g.nested || g.guess || !g.fused() || len(g.products) == i {
				return finding{value: fmt.Sprint(i), seen: []Seen{s}}
			}
			return finding{value: fmt.Sprint(len(g.products)), why: fmt.Sprintf("by the summation tree: half an ulp at product %d is lost", i), seen: []Seen{s}}
		}
	}
	switch {
	case p.order().refuted():
		return undecided("%s", treeUnknown)
	case g.fused() && p.k > 2 && (g.guess || len(g.products) == p.k):
		return finding{value: fmt.Sprintf(">= %d", p.k)}
	case g.fused() && !g.nested && !g.guess:
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
	var dots []*mma.Dot
	for _, one := range places {
		t := uniform(small, places)
		t[one] = pow(0)
		d, ok := p.dot(t)
		if !ok {
			return nil, false
		}
		dots = append(dots, d)
	}
	return p.ask(dots...), true
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

// permuted asks for sums of 1 and equal small terms, with 1 in every place in turn: first the largest
// terms that are lost one by one, then others. The places are those of the first group or, if that
// has only two or no c, all. Without results the finding says why.
func (p *Prober) permuted() ([][]Seen, finding) {
	e, ok := p.lost()
	if !ok {
		return nil, undecided("no power of two is lost beside 1")
	}
	g := p.permutedPlaces()
	if len(g) < 2 {
		return nil, undecided(oneTerm)
	}
	first, ok := p.permute(g, pow(e))
	if !ok {
		return nil, undecided("2^%d is no product of these formats", e)
	}
	all := [][]Seen{first}
	for small := -2; small > e-6; small-- {
		if seen, ok := p.permute(g, pow(small)); ok && small != e {
			all = append(all, seen)
		}
	}
	return all, finding{}
}

// permutedPlaces returns the places that permuted tries, of very many the first and the last.
func (p *Prober) permutedPlaces() []int {
	g := p.first()
	places := g.terms
	if c := p.c != nil && !slices.Contains(g.terms, p.k); !g.fused() || g.guess || c {
		places = nil
		for i := range p.leaves() {
			places = append(places, i)
		}
	}
	if n := len(places); n > 64 {
		places = slices.Concat(places[:32], places[n-32:])
	}
	return places
}

// lostTerms counts the permutations in which all small terms are lost.
func (p *Prober) lostTerms() finding {
	rows, f := p.permuted()
	if rows == nil {
		return f
	}
	if why := p.hidden(rows[0]); why != "" {
		return undecided("%s", why)
	}
	seen, all := rows[0], 0
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
	case len(seen) > len(g.terms):
		return "terms are added to others before c, or after it"
	case g.nested:
		return "some terms are added to each other before the fused sum"
	case g.c && !slices.ContainsFunc(products, func(s Seen) bool { return s.Got != products[0].Got }):
		return "in the fused sum c is aligned in another way than products"
	}
	return "the terms of the fused sum are not all aligned in the same way"
}

func (p *Prober) largestFirst() finding {
	rows, f := p.permuted()
	if rows == nil {
		return f
	}
	if seen := p.cancelled(); seen != nil && !p.first().fused() {
		return finding{value: "yes", why: "a small term is lost beside large ones, or counts where they have cancelled", seen: seen}
	}
	no := "as if added to the largest"
	if g := p.first(); g.fused() && g.c && len(g.terms) < p.leaves() {
		no = fmt.Sprintf("within one step, of %d products and c: as if added to the largest", len(g.terms)-1)
	}
	for _, seen := range rows {
		if f = depends(seen, p.whyPlace(seen), no); f.value == "yes" {
			return f
		}
	}
	adds := func(s Seen) bool { return !p.is(s, pow(0)) }
	if g := p.first(); (!g.fused() || g.guess) && slices.ContainsFunc(rows[0], adds) {
		return undecided("sums keep more bits than results, which do not show what is lost there")
	}
	if why := cmp.Or(p.hidden(rows[0]), p.nearlyExact()); why != "" {
		return undecided("%s", why)
	}
	return depends(rows[0], "", no)
}

// hidden says why it is not seen whether small terms that are lost one by one add up: results have so few
// bits that they would not show their sum. "" if they would.
func (p *Prober) hidden(rows []Seen) string {
	if e, ok := p.lost(); ok && e+bits.Len(uint(len(rows)-1))+1 < p.ulp() {
		return "results have too few bits to show the sum of the terms that are lost"
	}
	return ""
}

// creep adds to c = 1-2^-n small terms that count beside c but not beside 1, and
// more than make up for what c lacks. It returns the sum, the sum with c = 1
// instead, and whether the former is exact, above 1; or why there are none.
func (p *Prober) creep() (below, at Seen, exact bool, why finding) {
	w, g := p.productWidth(), p.first()
	if !w.ok || w.all || !g.c {
		return below, at, false, undecided("c is in no fused sum in which products are cut")
	}
	n, m := 1-p.ulp(), len(g.products)
	small := -w.bits - 1
	if w.bits < n-1 {
		return below, at, false, undecided("the sum keeps fewer bits than c has")
	}
	if -n-small > 8 {
		return below, at, false, undecided("%d products of 2^%d are too few for 3*2^%d", m, small, -n)
	}
	units := uint64(3) << max(0, -n-small) // of small, make 3*2^-n
	m = min(m, int(units))
	t := uniform(pow(small), g.products[:m])
	t[g.products[m-1]] = times(units-uint64(m-1), small) // what the others are too few for
	t[p.k] = times(1<<n-1, -n)
	below, ok := p.sum(t)
	if !ok {
		return below, at, false, undecided("no products of these formats that are lost beside 1 add up to 3*2^%d", -n)
	}
	t[p.k] = pow(0)
	if at, ok = p.sum(t); !ok {
		return below, at, false, undecided("1 is no number of c's format")
	}
	return below, at, p.is(below, times(1<<(n-1)+1, 1-n)), finding{}
}

func (p *Prober) normalisedUp() finding {
	below, at, exact, f := p.creep()
	switch {
	case f.value != "":
		return f
	case exact && !p.is(at, pow(0)): // the terms that count beside c count beside 1, too
		return finding{value: "-", why: "no terms that count beside a c below 1 are lost beside 1", seen: []Seen{below, at}}
	}
	return yesNo(!exact, below)
}

// monotone looks for a larger c that gives a smaller result: in creep and, unless that shows it,
// in sums of terms that are about to be cut.
func (p *Prober) monotone() finding {
	below, at, _, f := p.creep()
	if f.value == "" && p.above(below, at) {
		return finding{value: "no", seen: []Seen{below, at}}
	}
	pairs, n := p.steps()
	if pairs != nil {
		return finding{value: "no", seen: pairs}
	}
	fused := p.first().fused() || p.first().guess
	switch {
	case n == 0:
		return undecided("no c is just below 1, or no product just above the cut")
	case fused:
		return undecided("none of %d sums, with c = 1 and a step below, shows the contrary", n)
	}
	return finding{value: "yes", why: "no fused sum: rounding a sum of two is monotone"}
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
	e, at := p.ulp()-3, p.cancelling()
	return p.try(terms{at[0]: pow(0), at[1]: pow(0).minus(), at[2]: pow(e)}, fmt.Sprintf("2^%d is no product of these formats", e),
		equals(pow(e), "yes"), otherwise("no"))
}

// cancelling returns the places of U, -U and e in a tree of sums of two: two terms that are added to
// each other, and one that is added later.
func (p *Prober) cancelling() [3]int {
	at := [3]int{0, p.k, 1}
	if t, _ := p.Tree(); t != nil {
		t.visit(func(n *Tree) {
			if _, leaves := n.arranged(); len(leaves) == 2 {
				at[0], at[1] = leaves[0], leaves[1]
			}
		})
	}
	for slices.Contains(at[:2], at[2]) {
		at[2] = (at[2] + 1) % p.leaves()
	}
	return at
}

// carryBits adds as many terms of 15/8 as the first sum has, or of 3/2 or 1 where that is no product or
// the sum has more bits than results: none is lost if the sum has room for it.
func (p *Prober) carryBits() finding {
	g := p.first().places(p.k)
	if len(g) < 3 {
		return undecided("no sum of three terms or more")
	}
	few := false
	for _, x := range []number{times(15, -3), times(3, -1), pow(0)} {
		s, ok := p.sum(uniform(x, g))
		if !ok {
			continue
		}
		sum := times(x.sig*uint64(len(g)), x.exp)
		if few = bits.Len64(sum.reduced().sig)-1 > -p.ulp(); few { // it is rounded, whatever its room
			continue
		}
		return p.decide(s, equals(sum, fmt.Sprintf(">= %d", bits.Len64(sum.sig)-1+sum.exp)),
			otherwise("other").because("the sum of equal terms is not exact"))
	}
	if few {
		return undecided("results have too few bits for the sum of %d equal terms", len(g))
	}
	return undecided("neither 15/8 nor 3/2 is a product of these formats")
}

// truncates adds a negative term far below 2: rounding toward zero would give the
// number below 2, truncated alignment gives 2.
func (p *Prober) truncates() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	digits, two := int(p.d.FracBits)+1, p.truncatesTwo()
	for _, e := range []int{-40, -48, -56, -32, -28} {
		s, ok := p.sum(terms{p.last(): pow(1), 0: pow(e).minus()})
		if !ok || e+p.shift >= p.least() && !p.arrives(pow(e)) {
			continue
		}
		if two.value == "yes" && p.is(s, pow(1)) && !p.cutsThree() {
			return finding{"-", "the sum is rounded to nearest before the result is", []Seen{s}}
		}
		return p.decide(s, equals(pow(1), two.value).because(two.why),
			equals(times(1<<digits-1, 1-digits), "no").because("rounded toward zero or minus infinity"),
			otherwise("other"))
	}
	return undecided("no product as small as 2^-28 arrives")
}

// cutsThree reports whether three quarters of the smallest power of two that makes 2 less do not, as where
// an alignment cuts them: with a rounding to nearest, of which a narrower result shows no other sign, they do.
func (p *Prober) cutsThree() bool {
	below := func(n number) bool {
		s, ok := p.sum(terms{p.last(): pow(1), 0: n.minus()})
		return ok && !p.is(s, pow(1))
	}
	e := 0
	for e > -60 && below(pow(e-1)) {
		e--
	}
	return !below(times(3, e-2))
}

// truncatesTwo is what a result of 2 means: sums that are rounded toward zero or minus infinity would
// be below it without truncation, others are 2 either way.
func (p *Prober) truncatesTwo() finding {
	switch dir, cut := p.sumDirection().value, p.productCut().value; {
	case dir == "RZ" || dir == "RD" || cut == "RZ":
		return finding{value: "yes"}
	case cut != "-":
		return finding{value: "no", why: "they are cut in the direction " + cut}
	case !p.first().fused() && dir != "-":
		return finding{value: "no", why: "the sum is rounded in the direction " + dir + ", which gives 2, too"}
	default:
		return finding{value: "-", why: "the sum is rounded so that 2 comes back either way"}
	}
}
