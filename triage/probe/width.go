package probe

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// width is the number of bits to which something is kept, with the inputs that
// show it: the last that is kept and the first that is not.
type width struct {
	bits int
	all  bool // everything that the formats can show is kept
	ok   bool
	why  string // if not ok
	seen []Seen
}

// String writes "24", "at least 58" or "-".
func (w width) String() string {
	switch {
	case !w.ok:
		return "-"
	case w.all:
		return fmt.Sprintf("at least %d", w.bits)
	}
	return fmt.Sprint(w.bits)
}

func (w width) finding() finding { return finding{w.String(), w.why, w.seen} }

// measured makes a question of a width.
func measured(find func(*Prober) width) func(*Prober) finding {
	return func(p *Prober) finding { return find(p).finding() }
}

// series asks for up to n dot products that test one bit after another, and returns
// how many results in a row, from the first, are what they should be. test returns
// dot product s and its expected result; ok is false if the formats lack it, which ends the
// series.
func (p *Prober) series(n int, test func(s int) (d *mma.Dot, want number, ok bool)) width {
	var dots []*mma.Dot
	var want []number
	for s := range n {
		d, w, ok := test(s)
		if !ok {
			break
		}
		dots, want = append(dots, d), append(want, w)
	}
	if len(dots) == 0 {
		return width{why: noNumbers}
	}
	seen := p.ask(dots...)
	for s := range seen {
		if p.is(seen[s], want[s]) {
			continue
		}
		if s == 0 {
			return width{why: "not even the first term is kept", seen: seen[:1]}
		}
		return width{bits: s - 1, ok: true, seen: []Seen{seen[s-1], seen[s]}}
	}
	return width{bits: len(seen) - 1, all: true, ok: true, seen: seen[len(seen)-1:]}
}

// productWidth is the width to which products are aligned in their fused sum, cWidth
// the width to which c is aligned there.
func (p *Prober) productWidth() width { return p.alignedWidth(false) }
func (p *Prober) cWidth() width       { return p.alignedWidth(true) }

// alignedWidth finds how far below a large term a small one is kept in the sum of
// both and of the large one's opposite: with U, -U and e the result is e as long as
// e is not below the cut (FusedSum(U, -U, e), step 3).
func (p *Prober) alignedWidth(ofC bool) width {
	return once(p, fmt.Sprint("aligned width ", ofC), func() width {
		at, why := p.alignment(ofC)
		if why != "" {
			return width{why: why}
		}
		return p.widthAt(at)
	})
}

// widthAt is the width to which the third of three leaves is aligned beside the others.
func (p *Prober) widthAt(at [3]int) width {
	top := p.top(at[2])
	return p.series(140, func(s int) (*mma.Dot, number, bool) {
		e := pow(top - s)
		d, ok := p.dot(terms{at[0]: pow(top), at[1]: pow(top).minus(), at[2]: e})
		return d, e, ok && e.exp >= p.least()
	})
}

// least is the exponent of d's smallest number.
func (p *Prober) least() int { return int(p.d.Emin()) - int(p.d.FracBits) }

// top returns the exponent of U in tests of a cut, with the small term at a place: as
// high as products go, up to one that leaves the small term a long way down. It is 0
// for formats so narrow that only c reaches below a cut: their sums may be fixed
// point, and their cut is counted from 1.
func (p *Prober) top(place int) int {
	lo, hi := p.reach(false)
	if hi-lo < 16 {
		return 0
	}
	hi = min(hi, p.productEmax()-2)
	if place == p.k && p.c != nil {
		hi = min(hi, int(p.c.Emax())-2)
	}
	return min(hi, 60)
}

// fraction is the number of fraction bits of results: the most that any way shows. It is a lower
// bound if a term was cut before, or the formats have none that is smaller.
func (p *Prober) fraction() width { w, _ := p.fractionBy(); return w }

// fractionBy is fraction, with the first way that shows it.
func (p *Prober) fractionBy() (width, carriers) {
	type result struct {
		w  width
		by carriers
	}
	r := once(p, "fraction", func() (best result) {
		for i, c := range p.carriers() {
			w := p.carried(c)
			if i == 0 || w.ok && (!best.w.ok || w.bits > best.w.bits || w.bits == best.w.bits && best.w.all && !w.all) {
				best = result{w, c}
			}
			if best.w.bits >= int(p.d.FracBits) {
				best.w.all = false // d has no more
				break
			}
		}
		return best
	})
	return r.w, r.by
}

// carried is the number of fraction bits that a way shows. Four ones make room above the cut of
// an alignment: 4 + 2^-s is exact down to s = bits - 2.
func (p *Prober) carried(c carriers) width {
	p.shift = p.shiftOf(c.one)
	carry := c.carry()
	w := width{why: noNumbers}
	for s := range int(p.d.FracBits) + 3 {
		sum := times(uint64(1)<<s+1, carry-s)
		t := uniform(pow(0), c.ones)
		if t[c.tail] = pow(carry - s); c.alone() {
			t[c.tail] = sum
		}
		seen, ok := p.sum(t)
		if !ok && !w.ok {
			continue // products do not reach that far up
		}
		if !ok {
			break
		}
		if !p.is(seen, sum) {
			w.seen = append(w.seen, seen)
			e, ok := p.cut(c)
			w.all = w.ok && ok && carry-s < e
			break
		}
		w = width{bits: s, ok: true, all: true, seen: []Seen{seen}}
	}
	if w.ok && w.bits == 0 || !w.ok && len(w.seen) > 0 {
		w = width{why: "not even the first fraction bit arrives", seen: w.seen}
	}
	return w
}

// productFraction is the number of fraction bits of single products, at most those of d.
func (p *Prober) productFraction() width {
	w := width{why: noNumbers}
	for s := 1; s <= int(p.d.FracBits); s++ {
		n := times(uint64(1)<<s+1, -s)
		seen, ok := p.sum(terms{0: n})
		if !ok {
			continue // 2^s + 1 has no factors that fit
		}
		if !p.is(seen, n) {
			w.seen, w.all = append(w.seen, seen), false
			return w
		}
		w = width{bits: s, ok: true, all: true, seen: []Seen{seen}}
	}
	return w
}

// ulp is the exponent of the last bit of a result at 1: d's, unless results are
// shorter.
func (p *Prober) ulp() int {
	if w := p.fraction(); w.ok {
		return -w.bits
	}
	return -int(p.d.FracBits)
}

// productBits is the width of products, unless these are too much alike to show it and c does.
func (p *Prober) productBits() finding {
	w := p.productWidth()
	if c := p.cWidth(); w.all && c.ok && c.bits > w.bits {
		return undecided("products of these formats are at most %d bits apart: c shows more", w.bits)
	}
	f := w.finding()
	if w.ok {
		f.value += p.otherWidths(w, &f.seen, width.String)
	}
	return f
}

// otherGroups is the number of fused sums, beside that of product 0, whose width is measured.
const otherGroups = 4

// otherWidths says of other fused sums than that of product 0 if products are aligned to another width
// there; "" if to the same.
func (p *Prober) otherWidths(w width, seen *[]Seen, show func(width) string) (text string) {
	first := p.first()
	if first.guess {
		return ""
	}
	known := slices.Clone(first.products)
	for k, asked := 0, 0; k < p.k && asked < otherGroups; k++ {
		if slices.Contains(known, k) {
			continue
		}
		g := p.groupOf(k)
		if known = append(known, g.products...); !g.fused() || g.guess || len(g.products) < 3 || !slices.Contains(g.products, k) {
			continue
		}
		asked++
		if other := p.widthAt([3]int(g.products)); other.ok && show(other) != show(w) {
			text += fmt.Sprintf(", %s of p%d p%d ..", show(other), g.products[0], g.products[1])
			*seen = append(*seen, other.seen...)
		}
	}
	if text != "" {
		text = fmt.Sprintf(" of p%d p%d ..", first.products[0], first.products[1]) + text
	}
	return text
}

// extraBits is the width of products beyond d's.
func (p *Prober) extraBits() finding {
	w, u := p.productWidth(), p.ulp()
	switch {
	case !w.ok:
		return undecided("%s", w.why)
	case w.all && w.bits+u < 0:
		return undecided("products of these formats are at most %d bits apart: d has more", w.bits)
	}
	beyond := func(w width) string {
		if w.all {
			return fmt.Sprintf(">= %d", w.bits+u)
		}
		return fmt.Sprint(w.bits + u)
	}
	f := finding{value: beyond(w), seen: slices.Clone(w.seen)}
	f.value += p.otherWidths(w, &f.seen, beyond)
	return f
}

// besideC breaks a tie: beside c, a power of two, the products add half an ulp and a term below
// it, which decides as long as it is not cut. Only a sum that is rounded to nearest
// shows it. The larger c is, the more of the formats' products lie below: it grows until
// one is cut.
func (p *Prober) besideC() finding {
	g := p.first()
	if !g.c || len(g.products) < 2 || p.sumDirection().value != "RNE" {
		return undecided("c is in no sum with two products that is rounded to nearest")
	}
	u := p.ulp()
	half := u - 1
	var w width
	for e := range 60 {
		next := p.series(59, func(s int) (*mma.Dot, number, bool) {
			d, ok := p.dot(terms{p.k: pow(e), g.products[0]: pow(half + e), g.products[1]: pow(half - 1 - s + e)})
			return d, times(1<<-u+1, u).scaled(e), ok
		})
		if e > 0 && len(next.seen) == 0 {
			break // the formats have no such product
		}
		if e == 0 || !next.all || next.bits > w.bits {
			w = next
		}
		if !next.all {
			break
		}
	}
	if len(w.seen) == 0 {
		return undecided("no product of these formats is below half an ulp")
	}
	w.bits -= half - 1
	return w.finding()
}
