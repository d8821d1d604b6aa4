package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// otherSteps halves and doubles the number of products per step, and tries 1 and K.
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
				for _, m := range modes { // rounding modes of the additions that join the lanes
					c.to(func(p *mma.Params) { c.setSteps(p, o, lanes, l, m) })
				}
			}
		}
	}
}

// setSteps sets order, lanes, products per step, and the rounding of additions after the
// last step (FixLate). It writes 0, the default, where that means the same.
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

// plainSteps takes all products at once, or any number of them per step in ascending order
// on one lane.
func plainSteps(c *changer) {
	c.to(func(p *mma.Params) { p.L = 0 })
	for l := 1; l < c.K; l++ {
		c.to(func(p *mma.Params) { c.setSteps(p, mma.Ascending, 1, l, fp.RNE) })
	}
}

// lanes divides the products between two lanes, or undoes such a division.
func lanes(c *changer) {
	if c.p.Lanes > 1 {
		c.to(func(p *mma.Params) { p.Lanes = 0; c.FixLate(p, fp.RNE) })
		return
	}
	c.to(func(p *mma.Params) { p.Lanes, p.Late = 2, lateLike(p) })
}
