package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// smt is what Valpey et al. found beyond the others: their Algorithm 1, section
// 4.2 (truncation is not rounding toward zero), and the special values of 4.4.
var smt = []question{
	{"Step 1", "products are exact", (*Prober).productsExact},
	{"Step 2c", "bits of padding below d's last", (*Prober).extraBits},
	{"Step 3", "2 - 2^-40: aligned terms are truncated before they are added", anchoredC((*Prober).truncates)},
	{"Step 4", "bits of padding above", (*Prober).carryBits},
	{"Step 5", "the order of terms matters", anchored((*Prober).largestFirst)},
	{"Step 6", "partial sums are normalised", anchoredC((*Prober).normalisedUp)},
	{"Step 8", "rounding direction of the result", (*Prober).resultDirection},
	{"zero: x-x", "sign of the zero 1 - 1", func(p *Prober) finding {
		if p.big() == 0 {
			return undecided("one term only")
		}
		return p.zeroSign(map[int]number{0: pow(0), p.big(): pow(0).minus()})
	}},
	{"zero: -0", "sign of a sum of negative zeros", (*Prober).negativeZeros},
	{"zero: tiny", "sign of a negative result too small for d", (*Prober).tinySign},
	{"NaN operand", "code for each kind of NaN operand", (*Prober).nanOperands},
	{"NaN Inf*0", "code for Inf*0", (*Prober).infTimesZero},
	{"NaN Inf-Inf", "code for Inf-Inf", (*Prober).infMinusInf},
}

// truncates adds a negative term far below 2: rounding toward zero would give the
// number below 2, truncated alignment gives 2.
func (p *Prober) truncates() finding {
	if p.big() == 0 {
		return undecided("one term only")
	}
	for _, e := range []int{-40, -48, -56, -32, -28} {
		s, ok := p.one(map[int]number{p.big(): pow(1), 0: pow(e).minus()})
		if !ok {
			continue
		}
		digits := uint(p.d.FracBits) + 1
		switch {
		case p.is(s, pow(1)):
			if p.sumDirection().value == "RNE" {
				return finding{value: "no", why: "the sum is rounded to nearest, which gives 2, too", seen: []Seen{s}}
			}
			return finding{value: "yes", seen: []Seen{s}}
		case p.is(s, times(1<<digits-1, 1-int(digits))):
			return finding{value: "no", why: "rounded toward zero or minus infinity", seen: []Seen{s}}
		}
		return finding{value: "other", seen: []Seen{s}}
	}
	return undecided("no product of these formats is below 2^-40")
}

// zeroSign says what zero terms give.
func (p *Prober) zeroSign(terms map[int]number) finding {
	s, ok := p.one(terms)
	if !ok {
		return undecided("the formats lack the numbers")
	}
	return p.signOf(s)
}

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

func (p *Prober) negativeZeros() finding {
	if !p.a.HasNegZero() || !p.d.HasNegZero() {
		return undecided("the formats have no negative zero")
	}
	d := p.blank()
	one, _ := code(p.b, pow(0))
	for k := range d.A {
		d.A[k], d.B[k] = p.a.SignBit(), one
	}
	if p.c != nil {
		d.C = p.c.SignBit()
	}
	return p.signOf(p.ask(d)[0])
}

// tinySign looks for a negative product far below d's smallest number.
func (p *Prober) tinySign() finding {
	least := p.least()
	for e := least - 6; e <= least-2; e++ {
		if s, ok := p.one(map[int]number{0: pow(e).minus()}); ok {
			return p.signOf(s)
		}
	}
	return undecided("no product is too small for %s", p.d.Name)
}

// nan is a kind of NaN code.
type nan struct {
	name string
	code uint64
}

// nans lists NaN codes of a format: quiet, signalling, with payload, of both
// signs.
func nans(f *fp.Format) []nan {
	if !f.HasNaN() {
		return nil
	}
	list := []nan{{"quiet", f.QuietNaN(false)}}
	if f.Specials != fp.IEEE {
		return append(list, nan{"-quiet", f.QuietNaN(true)})
	}
	inf, payload := f.InfCode(false), uint64(1)<<f.Low
	return append(list,
		nan{"-quiet", f.QuietNaN(true)},
		nan{"quiet, payload 1", f.QuietNaN(false) | payload},
		nan{"signalling", inf | payload},
		nan{"-signalling", f.InfCode(true) | payload})
}

// nanOperands puts each kind of NaN into a, b and c.
func (p *Prober) nanOperands() finding {
	var dots []*mma.Dot
	var names []string
	place := func(where string, f *fp.Format, set func(d *mma.Dot, c uint64)) {
		for _, n := range nans(f) {
			d := p.blank()
			one, _ := code(p.a, pow(0))
			d.A[0] = one
			one, _ = code(p.b, pow(0))
			d.B[0] = one
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

// codes writes the distinct codes of results and what gave them.
func (p *Prober) codes(seen []Seen, names []string) finding {
	var order []uint64
	by := map[uint64][]string{}
	for i, s := range seen {
		if by[s.Got] == nil {
			order = append(order, s.Got)
		}
		by[s.Got] = append(by[s.Got], names[i])
	}
	if len(order) == 1 {
		return finding{value: p.hex(order[0]), seen: seen}
	}
	slices.Sort(order)
	var words []string
	for _, c := range order {
		words = append(words, fmt.Sprintf("%s for %s", p.hex(c), strings.Join(by[c], ", ")))
	}
	return finding{value: "depends", why: strings.Join(words, "; "), seen: seen}
}

func (p *Prober) hex(c uint64) string { return fmt.Sprintf("%0*X", p.d.Digits(), c) }

func (p *Prober) infTimesZero() finding {
	if !p.a.HasInf() {
		return undecided("%s has no infinity", p.a.Name)
	}
	d := p.blank()
	d.A[0] = p.a.InfCode(false)
	s := p.ask(d)[0]
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
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
	s := p.ask(d)[0]
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
}
