package probe

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rule is a rounding direction: up reports whether a magnitude that lies q quarters of a
// unit above a whole number of units is rounded up. odd: that number is odd; neg: the sign
// is negative.
type rule struct {
	name string
	up   func(q int, odd, neg bool) bool
}

// rules are the directions of arXiv:2511.10909, section 3.1.3, and round to odd.
var rules = []rule{
	{"RZ", func(int, bool, bool) bool { return false }},
	{"RNE", func(q int, odd, _ bool) bool { return q > 2 || q == 2 && odd }},
	{"RD", func(_ int, _, neg bool) bool { return neg }},
	{"RU", func(_ int, _, neg bool) bool { return !neg }},
	{"RNA", func(q int, _, _ bool) bool { return q >= 2 }},
	{"RNZ", func(q int, _, _ bool) bool { return q > 2 }},
	{"RND", func(q int, _, neg bool) bool { return q > 2 || q == 2 && neg }},
	{"RNU", func(q int, _, neg bool) bool { return q > 2 || q == 2 && !neg }},
	{"RNO", func(q int, odd, _ bool) bool { return q > 2 || q == 2 && !odd }},
	{"RTO", func(_ int, odd, _ bool) bool { return !odd }},
	{"RA", func(int, bool, bool) bool { return true }},
}

// trial is an input of a rounding test: a sum of quarters/4 units, negated if neg,
// from 1 to 7 quarters. want returns the result for n units.
type trial struct {
	quarters int
	neg      bool
	dot      *mma.Dot
	want     func(n uint64) number
}

// units returns the whole units of a trial, 0 or 1.
func (t trial) units() uint64 { return uint64(t.quarters / 4) }

// exact returns the number that a trial rounds.
func (t trial) exact() number {
	n := t.want(t.units())
	return number{n.neg, n.sig*4 + uint64(t.quarters%4), n.exp - 2}
}

// trials returns the trials of all quarters and signs. build makes the dot product and want
// of one; why is the reason if the formats lack it.
func trials(build func(quarters uint64, neg bool) (t trial, why string)) (all []trial, why string) {
	for _, quarters := range []int{1, 2, 3, 5, 6, 7} {
		for _, neg := range []bool{false, true} {
			t, why := build(uint64(quarters), neg)
			if why != "" {
				return nil, why
			}
			t.quarters, t.neg = quarters, neg
			all = append(all, t)
		}
	}
	return all, ""
}

// direction finds the rounding direction of the trials that build builds: see trials.
func (p *Prober) direction(build func(quarters uint64, neg bool) (t trial, why string)) finding {
	all, why := trials(build)
	if why != "" {
		return undecided("%s", why)
	}
	dots := make([]*mma.Dot, len(all))
	for i, t := range all {
		dots[i] = t.dot
	}
	seen := p.ask(dots...)
	ups := make([]bool, len(all))
	for i, t := range all {
		ups[i] = p.is(seen[i], t.want(t.units()+1))
		if ups[i] || p.is(seen[i], t.want(t.units())) {
			continue
		}
		why := "a result is neither neighbour: more is lost than the last bits"
		if p.is(seen[i], t.exact()) {
			why = "a result is exact: it has more bits than other inputs show"
		}
		return finding{value: "-", why: why, seen: seen[i : i+1]}
	}
	for _, r := range rules {
		if r.explains(all, ups) {
			return finding{value: r.name, seen: seen}
		}
	}
	return finding{value: "other", why: "what is rounded up: " + raised(all, ups), seen: seen}
}

// explains reports whether a rule rounds up what was rounded up.
func (r rule) explains(trials []trial, ups []bool) bool {
	for i, t := range trials {
		if r.up(t.quarters%4, t.units() == 1, t.neg) != ups[i] {
			return false
		}
	}
	return true
}

// raised lists the trials whose magnitude was rounded up, in quarters of a unit.
func raised(trials []trial, ups []bool) string {
	var words []string
	for i, t := range trials {
		if !ups[i] {
			continue
		}
		sign := "+"
		if t.neg {
			sign = "-"
		}
		words = append(words, fmt.Sprintf("%s%d/4", sign, t.quarters))
	}
	return strings.Join(words, " ")
}

// sumTrial returns the trial that asks for a sum of terms. want is as in trial.
func (p *Prober) sumTrial(t terms, want func(n uint64) number) (trial, string) {
	d, ok := p.dot(t)
	if !ok {
		return trial{}, "the formats have no sum that ends within a quarter of the last bit"
	}
	return trial{dot: d, want: want}, ""
}

// sumDirection is the direction of the sum of 1 and a product.
func (p *Prober) sumDirection() finding {
	return once(p, "sum direction", func() finding { return p.at(cScale, (*Prober).findSumDirection) })
}

func (p *Prober) findSumDirection() finding {
	if p.last() == 0 {
		return undecided(oneTerm)
	}
	if why := p.noLastBit(); why != "" {
		return undecided("%s", why)
	}
	u := p.ulp()
	one := uint64(1) << -u // in ulps
	return p.direction(func(q uint64, neg bool) (trial, string) {
		t := terms{p.last(): pow(0).signed(neg), 0: times(q, u-2).signed(neg)}
		if p.c != nil && int(p.c.FracBits) >= -u { // c holds the whole units, for which products may be too narrow
			t[p.k] = times(one+q/4, u).signed(neg)
			t[0] = times(q%4, u-2).signed(neg)
		}
		return p.sumTrial(t, func(n uint64) number { return times(one+n, u).signed(neg) })
	})
}

// noLastBit says why it is not known which bit of a result is the last, "" if it is known.
func (p *Prober) noLastBit() string {
	switch w := p.fraction(); {
	case !w.ok:
		return "the number of fraction bits of results is not known"
	case w.all:
		return fmt.Sprintf("results have %d fraction bits or more: the terms that would show more are cut, or no numbers of these formats", w.bits)
	}
	return ""
}

// resultDirection rounds a sum from which the alignment of a fused sum cuts nothing: four ones
// and a tail of quarters, all bits of which are above the cut, or another sum that shows all bits
// of results.
func (p *Prober) resultDirection() finding {
	return once(p, "result direction", func() finding {
		w, c := p.fractionBy()
		if !w.ok {
			return undecided("the number of fraction bits of results is not known")
		}
		if c.alone() {
			return undecided("only c alone shows all fraction bits of results")
		}
		p.shift = p.shiftOf(c.one)
		unit := c.carry() - w.bits
		if e, ok := p.cut(c); ok && unit-2 < e {
			return undecided("all that an alignment keeps stays in the result")
		}
		ones, tail := c.ones, c.tail
		carry := uint64(1) << w.bits // the ones, in units
		return p.direction(func(q uint64, neg bool) (trial, string) {
			t := uniform(pow(0).signed(neg), ones)
			if len(ones) == 1 && ones[0] == p.k { // c holds the whole units, for which products may be too narrow
				t[p.k] = times(carry+q/4, unit).signed(neg)
				t[tail] = times(q%4, unit-2).signed(neg)
			} else {
				t[tail] = times(q, unit-2).signed(neg)
			}
			return p.sumTrial(t, func(n uint64) number { return times(carry+n, unit).signed(neg) })
		})
	})
}

// productDirection multiplies n units of the last bit of products by 5/4: the tail is n mod 4
// quarters.
func (p *Prober) productDirection() finding {
	w := p.productFraction()
	bits := w.bits
	switch every := int(p.a.FracBits)+int(p.b.FracBits)+1 <= int(p.d.FracBits); {
	case every && (!w.ok || w.all) && p.productsExact().value == "no":
		return undecided("products are not exact, but no single one shows where they are rounded")
	case every && (!w.ok || w.all):
		return undecided("every product of %s and %s is a number of %s", p.a.Name, p.b.Name, p.d.Name)
	case !w.ok:
		return w.finding()
	case int(p.a.FracBits) < bits:
		return undecided("a has too few digits for a product that ends within a quarter of the last bit")
	}
	return p.direction(func(q uint64, neg bool) (trial, string) {
		whole := q / 4
		n := uint64(1)<<bits + q%4
		for n*5/4%2 != whole {
			n += 4
		}
		if n*5/4+1 > 2<<bits {
			return trial{}, "products of so few bits do not end within each quarter of the last one"
		}
		d := p.blank()
		if !p.set(d, 0, times(n, -bits).signed(neg), times(5, -2)) {
			return trial{}, noNumbers
		}
		return trial{dot: d, want: func(m uint64) number { return p.weighted(times(n*5/4-whole+m, -bits)).signed(neg) }}, ""
	})
}

// productCut and cCut are the directions in which a term is cut by the alignment of
// a fused sum.
func (p *Prober) productCut() finding { return p.cutDirection(false) }
func (p *Prober) cCut() finding       { return p.cutDirection(true) }

// cutDirection rounds a term at the cut of a fused sum: U and -U set the cut, and a
// term of quarters of its unit is all that remains.
func (p *Prober) cutDirection(ofC bool) finding {
	if len(p.first().products) == 0 {
		return undecided(oneTerm)
	}
	w := p.alignedWidth(ofC)
	switch {
	case !w.ok:
		return w.finding()
	case w.all && ofC:
		return undecided("c is not cut")
	case w.all:
		return undecided("no product is cut")
	}
	at, _ := p.alignment(ofC)
	top := p.top(at[2])
	unit := top - w.bits
	return p.direction(func(q uint64, neg bool) (trial, string) {
		t := terms{at[0]: pow(top), at[1]: pow(top).minus(), at[2]: times(q, unit-2).signed(neg)}
		return p.sumTrial(t, func(n uint64) number { return times(n, unit).signed(neg) })
	})
}

// conversion names how a sum becomes a result, as Tables 4 and 7 of arXiv:2511.10909 do: a rounding
// direction and a format.
func (p *Prober) conversion() finding {
	w, dir := p.fraction(), p.resultDirection()
	if !w.ok {
		return w.finding()
	}
	name := p.d.Name
	if w.bits < int(p.d.FracBits) {
		name = fmt.Sprintf("E%dM%d", p.d.ExpBits, w.bits)
	}
	if why := p.noLastBit(); why != "" {
		return finding{value: "-", why: why, seen: w.seen}
	}
	if dir.value == "-" {
		return finding{value: "?-" + name, why: dir.why, seen: w.seen}
	}
	return finding{value: dir.value + "-" + name, seen: dir.seen}
}
