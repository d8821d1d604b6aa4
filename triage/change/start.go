package change

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// lateLike returns the rounding Late of a program, or if it has none the rounding of its
// steps, to nearest.
func lateLike(p *mma.Params) mma.Round {
	if p.Late != (mma.Round{}) {
		return p.Late
	}
	r := p.Acc
	r.Mode = fp.RNE
	return r
}

// cLate adds c after the last step.
func cLate(c *changer) {
	if c.p.Start != mma.StartC {
		return
	}
	for _, start := range []mma.Start{mma.StartZero, mma.StartEmpty} {
		for _, m := range []fp.Mode{fp.RNE, fp.RZ} {
			c.to(func(p *mma.Params) {
				p.Start, p.Late = start, lateLike(p)
				p.Late.Mode = m
				c.FixLate(p, m)
			})
		}
	}
}

// starts tries every Start, and moves the rounding between Acc and Late so that it stays
// with the addition of c.
func starts(c *changer) {
	all := []mma.Start{mma.StartC, mma.StartZero, mma.StartEmpty}
	for _, start := range all {
		for _, m := range modes {
			c.to(func(p *mma.Params) { p.Start = start; c.FixLate(p, m) })
		}
	}
	switch {
	case c.C == fp.None:
	case c.p.Start != mma.StartC:
		c.to(func(p *mma.Params) { p.Start, p.Acc = mma.StartC, p.Late; c.FixLate(p, fp.RNE) })
		c.sumFirst()
	default:
		for _, start := range all[1:] {
			c.to(func(p *mma.Params) {
				p.Start, p.Late, p.Acc = start, p.Acc, mma.To(c.D, fp.RNE)
				c.FixLate(p, fp.RNE)
			})
		}
	}
}

// sumFirst adds c in the last sum, and makes a stage of the sum of the products, with its
// alignment and its rounding: single steps whose sums are added to c at the end look the
// same as long as the last sum cuts nothing.
func (c *changer) sumFirst() {
	free := slices.IndexFunc(stages, func(at func(p *mma.Params) *mma.Stage) bool { return at(&c.p).Sum == mma.Off })
	if free < 0 {
		return
	}
	rounds := []mma.Round{{}}
	for _, m := range modes {
		round := c.p.Acc
		round.Mode = m
		rounds = append(rounds, round)
	}
	for _, round := range rounds {
		c.to(func(p *mma.Params) {
			*stages[free](p) = mma.Stage{Sum: mma.Fused, Align: p.Join.Align, Round: round}
			p.Start, p.Acc, p.Join = mma.StartC, p.Late, mma.Join{Post: p.Join.Post}
			c.FixLate(p, fp.RNE)
		})
	}
}
