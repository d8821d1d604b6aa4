package probe

import (
	"fmt"
	"slices"
)

// inputsKept answers whether subnormal numbers in a and b are numbers.
func (p *Prober) inputsKept() finding {
	if f := p.inputKept(false); f.value != "yes" || p.b.FracBits == 0 {
		return f
	}
	return p.inputKept(true)
}

// inputKept multiplies the smallest number of a, or of b, by so large a number that
// the product is as large as d allows. Where d has no number so small, it is another subnormal number.
func (p *Prober) inputKept(ofB bool) finding {
	name, f, other := "subnormal a", p.a, p.b
	if ofB {
		name, f, other = "subnormal b", p.b, p.a
	}
	return once(p, name, func() finding {
		if f.FracBits == 0 {
			return undecided("%s has no subnormal numbers", f.Name)
		}
		x := int(f.Emin()) - int(f.FracBits)
		w, _ := p.weight()
		y := min(int(other.Emax())-1, int(p.d.Emax())-x-w)
		if y < 0 {
			return undecided("no product of a subnormal number stays within d's range")
		}
		for ; x+y+w < p.least(); x++ {
			if x == int(f.Emin())-1 {
				return undecided("no product of a subnormal number is a number of %s", p.d.Name)
			}
		}
		ask := func(n number, y int) finding {
			d := p.blank()
			if ofB {
				p.set(d, 0, pow(y), n)
			} else {
				p.set(d, 0, n, pow(y))
			}
			return p.decide(p.ask(d)[0], kept(n.scaled(y+w))...)
		}
		smallest, largest := ask(pow(x), y), times(uint64(1)<<f.FracBits-1, int(f.Emin())-int(f.FracBits))
		if lower := y - int(f.FracBits); lower >= int(other.Emin()) && p.d.FracBits >= f.FracBits {
			return smallest.unless(ask(largest, lower))
		}
		return smallest
	})
}

// unless is the finding for one subnormal number, unless that for another one differs.
func (f finding) unless(other finding) finding {
	if f.value == other.value || other.value == "-" {
		return f
	}
	return finding{"other", fmt.Sprintf("%s for one subnormal number, %s for another", f.value, other.value), append(f.seen, other.seen...)}
}

// kept are the outcomes of a number that may be flushed to zero.
func kept(n number) []outcome {
	return []outcome{equals(n, "yes"), equals(number{}, "no"), otherwise("other")}
}

// cKept answers whether a subnormal c is a number. Where it does not come back, a unit may have
// flushed the result: a product that makes the result normal shows which.
func (p *Prober) cKept() finding {
	f := p.cReturns()
	if f.value != "no" || p.resultsKept().value == "yes" || p.c.Emin() > p.d.Emin() {
		return f
	}
	least := int(p.d.Emin())
	x := pow(int(p.c.Emin()) - 1)
	for e := least; e-x.exp <= -p.ulp(); e++ {
		sum := times(uint64(1)<<(e-x.exp)+1, x.exp)
		if s, ok := p.sum(terms{0: pow(e), p.k: x}); ok && p.arrives(pow(e)) {
			return p.decide(s, equals(sum, "yes").because("it is the result that is flushed"), equals(pow(e), "no"), otherwise("other"))
		}
	}
	return finding{"-", "c alone gives 0, but the result may be flushed, and no product is so small that c counts beside it", f.seen}
}

// cReturns answers whether a subnormal c alone comes back.
func (p *Prober) cReturns() finding {
	return once(p, "subnormal c", func() finding {
		if p.c == nil {
			return undecided("the instruction has no c")
		}
		x := pow(int(p.c.Emin()) - 1)
		if x.exp < p.least() {
			return undecided("%s has no number so small", p.d.Name)
		}
		return p.try(terms{p.k: x}, noNumbers, kept(x)...).unless(p.try(terms{p.k: x.minus()}, noNumbers, kept(x.minus())...))
	})
}

// resultsKept answers whether normal operands give a subnormal result: as a product,
// or as the difference of normal numbers.
func (p *Prober) resultsKept() finding {
	return once(p, "subnormal d", func() finding {
		least := int(p.d.Emin())
		x := pow(least - 1)
		if p.normalProduct(x) {
			return p.try(terms{0: x}, noNumbers, kept(x)...)
		}
		if p.c != nil && p.c.Emin() == p.d.Emin() {
			return p.try(terms{0: pow(least), p.k: times(3, least-1).minus()}, noNumbers, kept(x.minus())...)
		}
		return undecided("no normal operands give a subnormal number of %s", p.d.Name)
	})
}

// sumsKept is resultsKept, but that where a product is flushed the difference of two normal ones says
// whether results are.
func (p *Prober) sumsKept() finding {
	f := p.resultsKept()
	if f.value != "no" {
		return f
	}
	least := int(p.d.Emin())
	if s, ok := p.sum(terms{0: pow(least), 1: times(3, least-1).minus()}); ok && p.k > 1 && p.is(s, pow(least-1).minus()) {
		return finding{value: "of sums only", why: "a product as small is flushed", seen: append(slices.Clone(f.seen), s)}
	}
	return f
}

// normalProduct reports whether a number is the product of normal numbers.
func (p *Prober) normalProduct(n number) bool {
	a, b, ok := p.factors(n)
	return ok && normal(p.a, a) && normal(p.b, b)
}

// subnormals reports whether subnormal numbers can be used everywhere.
func (p *Prober) subnormals() bool {
	for _, f := range []finding{p.inputKept(false), p.inputKept(true), p.resultsKept(), p.cReturns()} {
		if f.value != "yes" && f.value != "-" {
			return false
		}
	}
	return true
}

// productUnderflow adds half of d's smallest normal number to that number.
func (p *Prober) productUnderflow() finding {
	e := int(p.d.Emin())
	if p.k < 2 || !p.normalProduct(pow(e-1)) {
		return undecided("no product of normal numbers is below the normal range of %s", p.d.Name)
	}
	return p.try(terms{0: pow(e), 1: pow(e - 1)}, p.d.Name+"'s smallest normal number is no product",
		equals(times(3, e-1), "kept"), equals(pow(e), "flushed"))
}
