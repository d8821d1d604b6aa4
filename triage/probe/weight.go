package probe

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// weight returns the exponent of the power of two by which the unit multiplies every product,
// and what shows it: 0 unless 1*1 and 1.5*2 show the same one. Terms are made with it: where a
// sum wants a product of 1, the factors are those of 2^-weight.
func (p *Prober) weight() (w int, seen []Seen) {
	type result struct {
		w    int
		seen []Seen
	}
	r := once(p, "weight", func() result {
		first, second := p.blank(), p.blank()
		if !p.set(first, 0, pow(0), pow(0)) || !p.set(second, 0, times(3, -1), pow(1)) {
			return result{}
		}
		all := p.ask(first, second)
		x, okX := p.result(all[0])
		y, okY := p.result(all[1])
		if !okX || !okY || x != pow(x.exp) || y != times(3, x.exp) {
			return result{}
		}
		return result{x.exp, all}
	})
	return r.w, r.seen
}

// weighted returns what a product of this value counts as.
func (p *Prober) weighted(n number) number {
	w, _ := p.weight()
	return n.scaled(w)
}

// productEmax returns the exponent of the largest products.
func (p *Prober) productEmax() int {
	w, _ := p.weight()
	return int(p.a.Emax()) + int(p.b.Emax()) + w
}

// weightAnswer says by what the unit multiplies every product; ok is false if by nothing.
func (p *Prober) weightAnswer(paper string) (a Answer, ok bool) {
	w, seen := p.weight()
	text := fmt.Sprintf("2^%d times as large", w)
	switch {
	case w == 0:
		return Answer{}, false
	case -10 <= w && w < 0:
		text = fmt.Sprintf("1/%d", 1<<-w)
	case 0 < w && w <= 10:
		text = fmt.Sprintf("%d times as large", 1<<w)
	}
	f, _ := mma.FindField("prod.shift")
	return Answer{paper, "product weight", f.Words, "every product is " + text, "the inputs of the other answers allow for it", seen}, true
}
