package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The questions of this file ask for zeros, NaNs, infinities and overflow.

// signOf answers which zero a result is.
func (p *Prober) signOf(s Seen) finding {
	r, ok := p.result(s)
	switch {
	case !ok || r.sig != 0:
		return finding{value: "not zero", seen: []Seen{s}}
	case r.neg:
		return finding{value: "-0", seen: []Seen{s}}
	}
	return finding{value: "+0", seen: []Seen{s}}
}

// cancelledSign asks for 1 - 1 and -1 + 1.
func (p *Prober) cancelledSign() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	var both [2]finding
	for i := range both {
		s, ok := p.sum(terms{0: pow(0).signed(i == 1), p.last(): pow(0).signed(i == 0)})
		if !ok {
			return undecided("the formats lack the numbers")
		}
		both[i] = p.signOf(s)
	}
	if both[0].value != both[1].value {
		return finding{"depends", fmt.Sprintf("1 - 1 is %s, -1 + 1 is %s", both[0].value, both[1].value), append(both[0].seen, both[1].seen...)}
	}
	return both[0]
}

func (p *Prober) negativeZeros() finding {
	if !p.a.HasNegZero() || !p.d.HasNegZero() {
		return undecided("the formats have no negative zero")
	}
	return p.signOf(p.ask(p.allNegativeZeros())[0])
}

// allNegativeZeros returns -0*1 for every product, and -0 for c.
func (p *Prober) allNegativeZeros() *mma.Dot {
	d := p.blank()
	one, _ := code(p.b, pow(0))
	for k := range d.A {
		d.A[k], d.B[k] = p.a.SignBit(), one
	}
	if p.c != nil {
		d.C = p.c.SignBit()
	}
	return d
}

// tinySign asks for the sign of a negative product far below d's smallest number. A +0 that is added
// later would turn its -0 into +0. So the other terms are negative zeros; and where the unit makes +0
// of these, the answer +0 counts only if the product is a term of the last sum.
func (p *Prober) tinySign() finding {
	at, last := p.lastProduct()
	f := undecided("no product is too small for %s", p.d.Name)
	least := p.least()
	for e := least - 6; e <= least-2; e++ {
		a, b, ok := p.factors(pow(e).minus())
		if !ok {
			continue
		}
		d := p.blank()
		zeros := p.negativeZeros().value
		if zeros != "-" {
			d = p.allNegativeZeros()
		}
		d.A[at], d.B[at] = a, b
		if f = p.signOf(p.ask(d)[0]); f.value != "+0" || zeros == "-0" || last {
			return f
		}
		f = finding{"-", "the result is +0, which zeros that are added later may have made of -0", f.seen}
		break
	}
	// A result that is flushed is too small, too.
	if x := pow(int(p.d.Emin()) - 1); p.normalProduct(x) && p.resultsKept().value == "no" {
		s, _ := p.sum(terms{at: x.minus()})
		if flushed := p.signOf(s); flushed.value == "-0" {
			return flushed
		}
	}
	return f
}

// lastProduct returns the place of a product that is a term of the last sum, if that sum is fused and
// has one. Otherwise last is false, and the place is that of product 0.
func (p *Prober) lastProduct() (at int, last bool) {
	t, _ := p.Tree()
	if t == nil || t.Kind == Add || t.Kind == Leaf {
		return 0, false
	}
	_, leaves := t.arranged()
	if len(leaves) == 0 || leaves[0] == p.k {
		return 0, false
	}
	return leaves[0], true
}

// nan is a kind of NaN code.
type nan struct {
	name string
	code uint64
}

// nans lists NaN codes of a format: quiet, signalling, with payload, of both signs.
func nans(f *fp.Format) []nan {
	if !f.HasNaN() {
		return nil
	}
	all := []nan{{"quiet", f.QuietNaN(false)}, {"-quiet", f.QuietNaN(true)}}
	if f.Specials != fp.IEEE {
		return all
	}
	payload := uint64(1) << f.Low
	return append(all,
		nan{"quiet, payload 1", f.QuietNaN(false) | payload},
		nan{"signalling", f.InfCode(false) | payload},
		nan{"-signalling", f.InfCode(true) | payload})
}

// nanOperands puts each kind of NaN into a, b and c.
func (p *Prober) nanOperands() finding {
	var dots []*mma.Dot
	var names []string
	place := func(where string, f *fp.Format, set func(d *mma.Dot, c uint64)) {
		for _, n := range nans(f) {
			d := p.blank()
			p.set(d, 0, pow(0), pow(0))
			set(d, n.code)
			dots, names = append(dots, d), append(names, where+" "+n.name)
		}
	}
	place("a", p.a, func(d *mma.Dot, c uint64) { d.A[0] = c })
	place("b", p.b, func(d *mma.Dot, c uint64) { d.B[0] = c })
	if p.c != nil {
		place("c", p.c, func(d *mma.Dot, c uint64) { d.C = c })
	}
	if len(dots) == 0 {
		return undecided("no operand format has a NaN")
	}
	return p.codes(p.ask(dots...), names)
}

// codes lists the distinct codes of results, and the names of the inputs that gave
// each, unless the codes of NaNs depend on their place.
func (p *Prober) codes(seen []Seen, names []string) finding {
	if f := p.deterministic(); f.value == codesChange {
		return finding{"depends", f.why, f.seen}
	}
	by := map[uint64][]string{}
	var codes []uint64
	for i, s := range seen {
		by[s.Got] = append(by[s.Got], names[i])
		codes = append(codes, s.Got)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) == 1 {
		return finding{value: p.hex(codes[0]), seen: seen}
	}
	var words []string
	for _, c := range codes {
		words = append(words, fmt.Sprintf("%s for %s", p.hex(c), strings.Join(by[c], ", ")))
	}
	return finding{value: "depends", why: strings.Join(words, "; "), seen: seen}
}

func (p *Prober) infTimesZero() finding {
	if !p.a.HasInf() {
		return undecided("%s has no infinity", p.a.Name)
	}
	var dots []*mma.Dot
	var names []string
	for _, at := range slices.Compact([]int{0, p.k - 1}) {
		for _, neg := range []bool{false, true} {
			d := p.blank()
			d.A[at] = p.a.InfCode(neg)
			dots, names = append(dots, d), append(names, fmt.Sprintf("%sInf*0 at product %d", sign(neg), at))
			if p.b.HasInf() {
				d := p.blank()
				d.B[at] = p.b.InfCode(neg)
				dots, names = append(dots, d), append(names, fmt.Sprintf("0*%sInf at product %d", sign(neg), at))
			}
		}
	}
	return p.codes(p.ask(dots...), names)
}

// sign returns "-" or "".
func sign(neg bool) string {
	if neg {
		return "-"
	}
	return ""
}

func (p *Prober) infMinusInf() finding {
	infC := p.c != nil && p.c.HasInf()
	switch {
	case !p.a.HasInf() && infC:
		return undecided("only c has infinities")
	case !p.a.HasInf():
		return undecided("%s has no infinity", p.a.Name)
	case p.k == 1 && !infC:
		return undecided("there is one product only, and no infinite c")
	}
	one, _ := code(p.b, pow(0))
	var dots []*mma.Dot
	var names []string
	for _, neg := range []bool{false, true} {
		infs := [2]string{sign(neg) + "Inf", sign(!neg) + "Inf"}
		if infC {
			d := p.blank()
			d.A[0], d.B[0], d.C = p.a.InfCode(neg), one, p.c.InfCode(!neg)
			dots, names = append(dots, d), append(names, "a product "+infs[0]+" and c "+infs[1])
		}
		if last := p.k - 1; last > 0 {
			d := p.blank()
			d.A[0], d.B[0], d.A[last], d.B[last] = p.a.InfCode(neg), one, p.a.InfCode(!neg), one
			dots, names = append(dots, d), append(names, "products "+infs[0]+" and "+infs[1])
		}
	}
	return p.codes(p.ask(dots...), names)
}

// productOverflow adds 2^(emax+1) and its opposite.
func (p *Prober) productOverflow() finding {
	if p.k < 2 {
		return undecided("one product only")
	}
	e := int(p.d.Emax()) + 1
	return p.try(terms{0: pow(e), 1: pow(e).minus()}, "no product is beyond the range of "+p.d.Name,
		isClass(fp.NaN, "NaN").because("each product has become an infinity"),
		isClass(fp.Inf, "Inf"),
		equals(number{}, "0").because("the products are exact"))
}

// overflow doubles d's largest power of two, and its opposite.
func (p *Prober) overflow() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	f, neg := p.overflows(false), p.overflows(true)
	if f.value != neg.value && p.d.Signed && neg.value != "-" {
		return finding{"depends", fmt.Sprintf("%s; below the most negative number %s", f.value, neg.value), append(f.seen, neg.seen...)}
	}
	return f
}

func (p *Prober) overflows(neg bool) finding {
	e := int(p.d.Emax())
	s, ok := p.sum(terms{0: pow(e).signed(neg), p.last(): pow(e).signed(neg)})
	if !ok {
		if s, ok = p.sum(terms{0: pow(e + 1).signed(neg)}); !ok {
			return undecided("no sum is beyond the range of %s", p.d.Name)
		}
	}
	return p.decide(s, isClass(fp.Inf, "Inf"), isClass(fp.NaN, "NaN"), isLargest("largest number"))
}
