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

// cancelledSign asks for 1 - 1.
func (p *Prober) cancelledSign() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	s, ok := p.sum(terms{0: pow(0), p.last(): pow(0).minus()})
	if !ok {
		return undecided("the formats lack the numbers")
	}
	return p.signOf(s)
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
// each.
func (p *Prober) codes(seen []Seen, names []string) finding {
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
	d := p.blank()
	d.A[0] = p.a.InfCode(false)
	return p.decide(p.ask(d)[0])
}

func (p *Prober) infMinusInf() finding {
	d := p.blank()
	one, _ := code(p.b, pow(0))
	switch {
	case !p.a.HasInf() && p.c != nil && p.c.HasInf():
		return undecided("only c has infinities")
	case !p.a.HasInf():
		return undecided("%s has no infinity", p.a.Name)
	case p.c != nil && p.c.HasInf():
		d.A[0], d.B[0], d.C = p.a.InfCode(false), one, p.c.InfCode(true)
	case p.k > 1:
		d.A[0], d.B[0], d.A[1], d.B[1] = p.a.InfCode(false), one, p.a.InfCode(true), one
	default:
		return undecided("there is one product only, and no c")
	}
	return p.decide(p.ask(d)[0])
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

// overflow doubles d's largest power of two.
func (p *Prober) overflow() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	e := int(p.d.Emax())
	s, ok := p.sum(terms{0: pow(e), p.last(): pow(e)})
	if !ok {
		if s, ok = p.sum(terms{0: pow(e + 1)}); !ok {
			return undecided("no sum is beyond the range of %s", p.d.Name)
		}
	}
	return p.decide(s, isClass(fp.Inf, "Inf"), isClass(fp.NaN, "NaN"), isLargest("largest number"))
}
