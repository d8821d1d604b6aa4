package probe

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The questions of this file find out by which exponent terms are aligned: they
// compare the cut beside unusual terms with that beside powers of two.

// leastExponent looks for the largest term that changes no result near d's smallest number
// (besideLeast): there the lowest exponent of an alignment decides what is cut.
func (p *Prober) leastExponent() finding {
	w, g := p.productWidth(), p.first()
	switch {
	case !w.ok:
		return w.finding()
	case w.all:
		return undecided("no product is cut")
	case !p.subnormals():
		return undecided("the smallest numbers are flushed")
	case len(g.products) < 2:
		return undecided("too few products")
	}
	least := p.least()
	var at Seen
	for e := least - 2; ; e-- {
		seen, changed, ok := p.besideLeast(g, e)
		switch {
		case !ok:
			return undecided("no product of these formats is small enough to vanish")
		case changed:
			at = seen
		case e == least-2:
			return finding{value: "-", why: "no sum at d's smallest number shows a smaller term", seen: []Seen{seen}}
		case e+1+w.bits <= least:
			return finding{value: "-", why: fmt.Sprintf("at most 2^%d, which is that of the smallest terms", least), seen: []Seen{at, seen}}
		default:
			return finding{value: fmt.Sprint(e + 1 + w.bits), why: "lowest exponent of an alignment, or that of the smallest terms", seen: []Seen{at, seen}}
		}
	}
}

// besideLeast reports whether a term 2^e or -2^e changes the result beside d's smallest
// number, one and a half of it, or half of it: beside whole numbers for directed roundings,
// beside halves for roundings to nearest. ok is false if the formats lack the terms.
func (p *Prober) besideLeast(g group, e int) (s Seen, changed, ok bool) {
	least := p.least()
	var dots []*mma.Dot
	for _, n := range []number{pow(least), times(3, least-1), pow(least - 1)} {
		for _, neg := range []bool{false, true} {
			with, ok := p.dot(terms{g.products[0]: n, g.products[1]: pow(e).signed(neg)})
			if !ok {
				continue
			}
			without, _ := p.dot(terms{g.products[0]: n})
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

// productNormalised compares the cut beside 1.5*1.5, of nominal exponent 0, with that
// beside 1.
func (p *Prober) productNormalised() finding {
	w, g, ok := p.knownCut()
	if !ok {
		return undecided("no cut is known among three products")
	}
	if p.a.FracBits < 1 || p.b.FracBits < 1 {
		return undecided("no product is 2 or more times its nominal power of two")
	}
	at := p.top(g.products[2])
	v := p.widthBeside(g, times(3, at/2-1), times(3, at-at/2-1), at)
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

// subnormalNormalised compares the cut beside the product of a subnormal and a normal
// number with that beside normal ones: a subnormal that is not normalised counts
// with its format's emin.
func (p *Prober) subnormalNormalised() finding {
	w, g, ok := p.knownCut()
	if !ok {
		return undecided("no cut is known among three products")
	}
	if p.inputKept(false).value != "yes" {
		return undecided("subnormal operands are not numbers, or there are none")
	}
	for shift := 1; shift <= int(p.a.FracBits); shift++ {
		x := int(p.a.Emin()) - shift
		for y := int(p.b.Emax()) - 1; y >= 0; y-- {
			v := p.widthBeside(g, pow(x), pow(y), x+y)
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

// knownCut returns the width of products in a sum of three products or more; ok is
// false if none of them is cut.
func (p *Prober) knownCut() (w width, g group, ok bool) {
	w, g = p.productWidth(), p.first()
	return w, g, w.ok && !w.all && len(g.products) >= 3
}

// widthBeside is productWidth with U the product of two given operands, of nominal
// exponent at.
func (p *Prober) widthBeside(g group, x, y number, at int) width {
	return p.series(80, func(s int) (*mma.Dot, number, bool) {
		e := p.weighted(pow(at - s))
		d, ok := p.dot(terms{g.products[2]: e})
		ok = ok && e.exp >= p.least()
		ok = ok && p.set(d, g.products[0], x, y) && p.set(d, g.products[1], x.minus(), y)
		return d, e, ok
	})
}
