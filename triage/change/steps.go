package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// otherSteps halves and doubles the number of products per step, and tries one and all.
func otherSteps(c *changer) {
	l := c.p.Step(c.K)
	for _, n := range []int{l / 2, l * 2, 1, c.K} {
		if n >= 1 && min(n, c.K) != l {
			c.to(func(p *mma.Params) { p.L = uint8(n) })
		}
	}
}

// stepsAndLanes combines orders, numbers of lanes, and products per step.
func stepsAndLanes(c *changer) {
	for o := mma.Ascending; o <= mma.Halves; o++ {
		for lanes := 1; lanes <= min(MaxLanes, c.K); lanes++ {
			for l := 1; l <= (c.K+lanes-1)/lanes; l++ {
				c.to(func(p *mma.Params) { c.setSteps(p, o, lanes, l, fp.RNE) })
				if lanes == 1 || c.p.Lanes > 1 || o > mma.Descending || l&(l-1) != 0 {
					continue
				}
				for _, m := range modes { // of the additions that come with lanes
					c.to(func(p *mma.Params) { c.setSteps(p, o, lanes, l, m) })
				}
			}
		}
	}
}

// setSteps sets order, lanes and products per step, as absent where that means the same.
func (s Space) setSteps(p *mma.Params, o mma.Order, lanes, l int, late fp.Mode) {
	p.Order, p.Lanes, p.L = o, uint8(lanes), uint8(l)
	if lanes == 1 {
		p.Lanes = 0
	}
	if l*lanes >= s.K {
		p.L = 0
	}
	s.FixLate(p, late)
}

// fewerSteps takes all products at once, or steps in ascending order on one lane.
func fewerSteps(c *changer) {
	c.to(func(p *mma.Params) { p.L = 0 })
	for l := 1; l < c.K; l++ {
		c.to(func(p *mma.Params) { c.setSteps(p, mma.Ascending, 1, l, fp.RNE) })
	}
}

// lanes divides the products between two lanes, or no longer.
func lanes(c *changer) {
	if c.p.Lanes > 1 {
		c.to(func(p *mma.Params) { p.Lanes = 0; c.FixLate(p, fp.RNE) })
		return
	}
	c.to(func(p *mma.Params) { p.Lanes, p.Late = 2, lateLike(p) })
}

// lateLike is the rounding of additions after the last step for a program that may have
// none yet: that of its steps, to nearest.
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

// cEarly starts the accumulator with c, or with the other kind of nothing.
func cEarly(c *changer) {
	if c.p.Start == mma.StartC {
		return
	}
	c.to(func(p *mma.Params) { p.Start = mma.StartC; c.FixLate(p, fp.RNE) })
	other := mma.StartZero
	if c.p.Start == mma.StartZero {
		other = mma.StartEmpty
	}
	c.to(func(p *mma.Params) { p.Start = other })
}

// starts adds c in every place, and moves the rounding to where c goes.
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
	default:
		for _, start := range all[1:] {
			c.to(func(p *mma.Params) {
				p.Start, p.Late, p.Acc = start, p.Acc, mma.To(c.D, fp.RNE)
				c.FixLate(p, fp.RNE)
			})
		}
	}
}
