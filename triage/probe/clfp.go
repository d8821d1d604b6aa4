package probe

import (
	"fmt"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// clfp is closed-loop feature probing (arXiv:2511.10909, section 3.1) and the
// details that the paper's models of section 4 distinguish.
var clfp = []question{
	{"1 determinism", "the same input gives the same result again", (*Prober).deterministic},
	{"1 position", "all outputs of a tile are computed alike", (*Prober).positions},
	{"2 order", "summation tree: ( ) adds, [ ] fused sums, { } exact ones", (*Prober).formula},
	{"2 L", "products of a step", (*Prober).stepLength},
	{"3 F", "fraction bits to which products are aligned", func(p *Prober) finding { return p.productWidth().finding() }},
	{"3 F of c", "fraction bits to which c is aligned", func(p *Prober) finding { return p.cWidth().finding() }},
	{"3 F2", "fraction bits of the sum of products beside a larger c", anchoredC((*Prober).beside1)},
	{"3 align", "direction in which products are cut", func(p *Prober) finding { return p.cutDirection(false) }},
	{"3 align c", "direction in which c is cut", func(p *Prober) finding { return p.cutDirection(true) }},
	{"3 add", "rounding direction of the sum of two terms", (*Prober).sumDirection},
	{"3 output", "rounding direction of the result", (*Prober).resultDirection},
	{"3 bits", "fraction bits of results", func(p *Prober) finding { return p.fraction().finding() }},
	{"rho", "conversion of the sum to the result", (*Prober).conversion},
	{"zero exponent", "lower bound of the exponent to which terms are aligned", (*Prober).floor},
	{"product exponent", "products are normalised before the alignment", (*Prober).renormalised},
	{"subnormal exponent", "subnormal operands are normalised first", (*Prober).subnormalExponent},
	{"product overflow", "a product beyond d's range, taken back by another", (*Prober).productOverflow},
	{"product underflow", "a product below d's normal range, added to a normal number", (*Prober).productUnderflow},
	{"overflow", "a result beyond d's largest number", (*Prober).overflow},
}

func (w width) finding() finding {
	if !w.ok {
		return finding{value: "-", why: w.why, seen: w.seen}
	}
	return finding{value: w.String(), seen: w.seen}
}

// random returns n dot products of random codes: they are meant to be hard, not
// typical.
func (p *Prober) random(n int) []*mma.Dot {
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(codes []uint64, f *fp.Format) {
		for i := range codes {
			codes[i] = r.Uint64() & f.CodeMask()
		}
	}
	dots := make([]*mma.Dot, n)
	for i := range dots {
		d := p.blank()
		fill(d.A, p.a)
		fill(d.B, p.b)
		if p.c != nil {
			c := []uint64{0}
			fill(c, p.c)
			d.C = c[0]
		}
		dots[i] = d
	}
	return dots
}

// deterministic asks the same questions twice, the second time in the opposite
// order and between others.
func (p *Prober) deterministic() finding {
	return once(p, "determinism", func() finding {
		dots := p.random(256)
		first := p.ask(dots...)
		back := make([]*mma.Dot, len(dots))
		for i, d := range dots {
			back[len(dots)-1-i] = d
		}
		again := p.ask(append(p.random(3), back...)...)[3:]
		for i, s := range first {
			if t := again[len(dots)-1-i]; t.Got != s.Got {
				return finding{value: "no", why: fmt.Sprintf("%s, then %s", p.hex(s.Got), p.hex(t.Got)), seen: []Seen{s, t}}
			}
		}
		return finding{value: "yes", why: "256 random inputs"}
	})
}

// positions replicates a dot product over a whole tile of the instruction.
func (p *Prober) positions() finding {
	i := p.unit.Instruction()
	m, n := max(1, i.M.Min), max(1, i.N.Min)
	if m*n == 1 {
		return undecided("a tile has one output")
	}
	dots := p.random(32)
	tile := func(b *mma.Batch) {
		for t, d := range dots {
			for o := range m * n {
				b.Set(t*m*n+o, d)
			}
		}
	}
	codes := p.run(mma.Shape{M: m, N: n, K: p.k, Tiles: len(dots)}, tile)
	alone := p.ask(dots...)
	for o, c := range codes {
		if d := o / (m * n); c != alone[d].Got {
			return finding{value: "no", why: fmt.Sprintf("row %d, column %d: %s", o%(m*n)/n, o%n, p.hex(c)), seen: alone[d : d+1]}
		}
	}
	return finding{value: "yes", why: fmt.Sprintf("32 random inputs, all %d x %d outputs", m, n)}
}

func (p *Prober) formula() finding {
	o := p.order()
	if o.tree == nil {
		return finding{value: "-", why: o.why, seen: o.seen}
	}
	return finding{value: o.tree.Formula(p.k), seen: o.seen}
}

func (p *Prober) stepLength() finding {
	t, why := p.Tree()
	if t == nil {
		if w := p.blockWidth(); w.value != "-" {
			w.why = "products that are added before they are rounded: " + why
			return w
		}
		return finding{value: "-", why: why}
	}
	if p.c == nil {
		return undecided("the instruction has no c, and so no steps")
	}
	return finding{value: fmt.Sprint(t.step(p.k))}
}

// step returns the number of products that a tree takes at a time: those of the
// smallest subtree that holds c.
func (t *Tree) step(k int) int {
	best := t
	t.visit(func(n *Tree) {
		if terms := n.Terms(); terms[len(terms)-1] == k && n.size() < best.size() {
			best = n
		}
	})
	return best.size() - 1
}

// beside1 breaks a tie: beside c = 1 the products add half an ulp and a term below
// it, which decides as long as it is not cut. Only a sum that is rounded to
// nearest tells.
func (p *Prober) beside1() finding {
	g := p.first()
	if !g.c || len(g.products) < 2 || p.sumDirection().value != "RNE" {
		return undecided("c is in no sum with two products that is rounded to nearest")
	}
	half := p.ulp() - 1
	var dots []*mma.Dot
	var want []number
	for s := half - 1; s > half-60; s-- {
		d, ok := p.dot(map[int]number{p.k: pow(0), g.products[0]: pow(half), g.products[1]: pow(s)})
		if !ok {
			break
		}
		dots, want = append(dots, d), append(want, times(1<<-p.ulp()+1, p.ulp()))
	}
	if len(dots) == 0 {
		return undecided("no product of these formats is below half an ulp")
	}
	w := p.last(p.ask(dots...), want)
	w.bits -= half - 1
	return w.finding()
}

// cutDirection rounds a term at the cut of a fused sum: U and -U set the cut, and a
// term of quarters of its unit is all that remains.
func (p *Prober) cutDirection(ofC bool) finding {
	g := p.first()
	if len(g.products) == 0 {
		return undecided("one term only")
	}
	w, tail := p.productWidth(), 0
	i, j := g.products[0], p.k
	switch {
	case ofC:
		w, tail = p.cWidth(), p.k
		if len(g.products) > 1 {
			j = g.products[1]
		}
	case len(g.products) >= 3:
		j, tail = g.products[1], g.products[2]
	case len(g.products) == 2:
		tail = g.products[1]
	}
	switch {
	case !w.ok:
		return finding{value: "-", why: w.why, seen: w.seen}
	case w.all && ofC:
		return undecided("c is not cut")
	case w.all:
		return undecided("no product is cut")
	}
	at := p.scaleFor(tail)
	unit := at - w.bits
	return p.direction(func(q uint64, neg bool) (map[int]number, func(uint64) number) {
		return map[int]number{i: pow(at), j: pow(at).minus(), tail: times(q, unit-2).signed(neg)},
			func(n uint64) number { return times(n, unit).signed(neg) }
	})
}

// conversion names what makes a result of a sum, as Tables 4 and 7 do.
func (p *Prober) conversion() finding {
	w, dir := p.fraction(), p.resultDirection()
	if !w.ok {
		return w.finding()
	}
	name := p.d.Name
	if w.bits < int(p.d.FracBits) {
		name = fmt.Sprintf("E%dM%d", p.d.ExpBits, w.bits)
	}
	if dir.value == "-" {
		return finding{value: "?-" + name, why: dir.why, seen: w.seen}
	}
	return finding{value: dir.value + "-" + name, seen: dir.seen}
}

// floor looks for the largest term that vanishes beside d's smallest number: a
// result of one and a half, or half, of which is cut by a fixed unit.
func (p *Prober) floor() finding {
	w := p.productWidth()
	if !w.ok {
		return w.finding()
	}
	if w.all {
		return undecided("no product is cut")
	}
	if !p.subnormals() {
		return undecided("the smallest numbers are flushed")
	}
	least := p.least()
	g := p.first()
	if len(g.products) < 2 {
		return undecided("too few products")
	}
	var at Seen
	for e := least - 2; ; e-- {
		seen, sensitive, ok := p.beside(g, least, e)
		if !ok {
			return undecided("no product of these formats is small enough to vanish")
		}
		if sensitive {
			at = seen
			continue
		}
		if e == least-2 {
			return finding{value: "-", why: "no sum at d's smallest number shows a smaller term", seen: []Seen{seen}}
		}
		return finding{value: fmt.Sprint(e + 1 + w.bits), why: "lowest exponent of an alignment, or what the smallest terms have", seen: []Seen{at, seen}}
	}
}

// beside says whether the result of a sum at d's smallest number changes with a
// term 2^e: below a whole number for a direction toward zero, beside a half for
// one to nearest.
func (p *Prober) beside(g group, least, e int) (Seen, bool, bool) {
	var dots []*mma.Dot
	for _, n := range []number{pow(least), times(3, least-1), pow(least - 1)} {
		for _, neg := range []bool{false, true} {
			with, ok := p.dot(map[int]number{g.products[0]: n, g.products[1]: pow(e).signed(neg)})
			if !ok {
				continue
			}
			without, _ := p.dot(map[int]number{g.products[0]: n}) // of terms that with has, too
			dots = append(dots, with, without)
		}
	}
	if len(dots) == 0 {
		return Seen{}, false, false
	}
	seen := p.ask(dots...)
	for i := 0; i < len(seen); i += 2 {
		if seen[i].Got != seen[i+1].Got {
			return seen[i], true, true
		}
	}
	return seen[0], false, true
}

// renormalised compares the cut beside 1.5*1.5, of nominal exponent 0, with that
// beside 1.
func (p *Prober) renormalised() finding {
	w := p.productWidth()
	g := p.first()
	if !w.ok || w.all || len(g.products) < 3 {
		return undecided("no cut is known among three products")
	}
	if p.a.FracBits < 1 || p.b.FracBits < 1 {
		return undecided("no product is 2 or more times its nominal power of two")
	}
	at := p.scaleFor(g.products[2])
	v := p.cutOf(g, times(3, at/2-1), times(3, at-at/2-1), at)
	switch {
	case !v.ok || v.all:
		return undecided("no product stands far enough above the smallest")
	case v.bits == w.bits:
		return finding{value: "no", seen: v.seen}
	case v.bits == w.bits-1:
		return finding{value: "yes", seen: v.seen}
	}
	return finding{value: "other", seen: v.seen}
}

// cutOf is cutWidth with U the product of two given operands, of nominal exponent
// at.
func (p *Prober) cutOf(g group, x, y number, at int) width {
	ca, okA := code(p.a, x)
	cb, okB := code(p.b, y)
	neg, okN := code(p.a, x.minus())
	if !okA || !okB || !okN {
		return width{why: "the formats lack the numbers"}
	}
	var dots []*mma.Dot
	var small []number
	for s := 0; s < 80; s++ {
		d, ok := p.dot(map[int]number{g.products[2]: pow(at - s)})
		if !ok || at-s < p.least() {
			break
		}
		d.A[g.products[0]], d.B[g.products[0]] = ca, cb
		d.A[g.products[1]], d.B[g.products[1]] = neg, cb
		dots, small = append(dots, d), append(small, pow(at-s))
	}
	if len(dots) == 0 {
		return width{why: "the formats lack the numbers"}
	}
	return p.last(p.ask(dots...), small)
}

// subnormalExponent compares the cut beside the product of a subnormal and a
// normal number with that beside normal ones: a subnormal that is not normalised
// counts with its format's emin.
func (p *Prober) subnormalExponent() finding {
	w := p.productWidth()
	g := p.first()
	if !w.ok || w.all || len(g.products) < 3 {
		return undecided("no cut is known among three products")
	}
	if p.inputsKept(false).value != "yes" {
		return undecided("subnormal operands are not numbers, or there are none")
	}
	for shift := 1; shift <= int(p.a.FracBits); shift++ {
		x := int(p.a.Emin()) - shift
		for y := int(p.b.Emax()) - 1; y >= 0; y-- {
			v := p.cutOf(g, pow(x), pow(y), x+y)
			if !v.ok || v.all {
				continue
			}
			if v.bits == w.bits {
				return finding{value: "yes", seen: v.seen}
			}
			return finding{value: "no", why: fmt.Sprintf("2^%d counts as 2^%d", x, x+w.bits-v.bits), seen: v.seen}
		}
	}
	return undecided("no product of a subnormal number stands far enough above the smallest")
}

// productOverflow adds 2^(emax+1), its opposite and 1.
func (p *Prober) productOverflow() finding {
	e := int(p.d.Emax()) + 1
	if p.k < 2 {
		return undecided("one product only")
	}
	s, ok := p.one(map[int]number{0: pow(e), 1: pow(e).minus()})
	if !ok {
		return undecided("no product is beyond the range of %s", p.d.Name)
	}
	switch {
	case p.isNaN(s.Got):
		return finding{value: "NaN", why: "each product has become an infinity", seen: []Seen{s}}
	case p.isInf(s.Got):
		return finding{value: "Inf", seen: []Seen{s}}
	case p.is(s, number{}):
		return finding{value: "0", why: "the products are exact", seen: []Seen{s}}
	}
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
}

// productUnderflow adds half of d's smallest normal number to it.
func (p *Prober) productUnderflow() finding {
	e := int(p.d.Emin())
	x := pow(e - 1)
	if a, b, ok := p.factors(x); !ok || !normal(p.a, a) || !normal(p.b, b) || p.k < 2 {
		return undecided("no product of normal numbers is below the normal range of %s", p.d.Name)
	}
	s, ok := p.one(map[int]number{0: pow(e), 1: x})
	if !ok {
		return undecided("%s's smallest normal number is no product", p.d.Name)
	}
	switch {
	case p.is(s, times(3, e-1)):
		return finding{value: "kept", seen: []Seen{s}}
	case p.is(s, pow(e)):
		return finding{value: "flushed", seen: []Seen{s}}
	}
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
}

// overflow doubles d's largest power of two.
func (p *Prober) overflow() finding {
	e := int(p.d.Emax())
	t := []int{0, p.big()}
	if t[0] == t[1] {
		return undecided("one term only")
	}
	s, ok := p.one(map[int]number{t[0]: pow(e), t[1]: pow(e)})
	if !ok {
		if s, ok = p.one(map[int]number{0: pow(e + 1)}); !ok {
			return undecided("no sum is beyond the range of %s", p.d.Name)
		}
	}
	switch {
	case p.isInf(s.Got):
		return finding{value: "Inf", seen: []Seen{s}}
	case p.isNaN(s.Got):
		return finding{value: "NaN", seen: []Seen{s}}
	case s.Got == p.d.MaxFinite():
		return finding{value: "largest number", seen: []Seen{s}}
	}
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
}
