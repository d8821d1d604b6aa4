package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var stages = []func(p *mma.Params) *mma.Stage{
	func(p *mma.Params) *mma.Stage { return &p.Stage0 }, func(p *mma.Params) *mma.Stage { return &p.Stage1 },
}

// shapesOf returns the ways of dividing terms into groups and of adding them.
func (s Space) shapesOf() []mma.Stage {
	const widest = 16
	var all []mma.Stage
	for sum := mma.Fused; sum <= mma.PairHalves; sum++ {
		all = append(all, mma.Stage{Sum: sum})
		for g := 2; g <= min(s.K-1, widest); g++ {
			all = append(all, mma.Stage{Sum: sum, Group: uint8(g)}, mma.Stage{Sum: sum, Group: uint8(g), Split: mma.Interleaved})
		}
	}
	return all
}

// Reshape gives a stage the shape of another, and leaves how it aligns and rounds.
func Reshape(to *mma.Stage, s mma.Stage) {
	to.Sum, to.Group, to.Split, to.Deep, to.Sort = s.Sum, s.Group, s.Split, s.Deep, s.Sort
}

// shapes gives stages other shapes.
func shapes(c *changer) {
	for _, s := range c.shapesOf() {
		if c.p.Stage0.Sum != mma.Off {
			c.to(func(p *mma.Params) { Reshape(&p.Stage0, s) })
		}
		if c.p.Stage1.Sum != mma.Off {
			c.to(func(p *mma.Params) { Reshape(&p.Stage1, s) })
		}
	}
}

// bothShapes gives both stages other shapes at once.
func bothShapes(c *changer) {
	if c.p.Stage1.Sum == mma.Off {
		return
	}
	all := c.shapesOf()
	for _, s := range all {
		for _, t := range all {
			c.to(func(p *mma.Params) { Reshape(&p.Stage0, s); Reshape(&p.Stage1, t) })
		}
	}
}

// add makes a stage before those that are there, and after them.
func (c *changer) add(s mma.Stage) {
	if c.p.Stage1.Sum != mma.Off {
		return
	}
	c.to(func(p *mma.Params) { p.Stage0, p.Stage1 = s, p.Stage0 })
	if c.p.Stage0.Sum != mma.Off {
		c.to(func(p *mma.Params) { p.Stage1 = s })
	}
}

// newStages makes stages of every shape: exact, rounding, aligned like the last sum, and
// aligned in a few other ways, or instead of it, because single terms do not show which of
// several sums cuts them; the right width is found later.
func newStages(c *changer) {
	for _, s := range c.shapesOf() {
		rounds, aligned := s, s
		rounds.Round = mma.To(c.wide(), fp.RNE)
		aligned.Align = c.p.Join.Align
		for _, n := range []mma.Stage{s, rounds, aligned} {
			c.add(n)
		}
		if c.p.Stage1.Sum == mma.Off {
			c.to(func(p *mma.Params) {
				p.Stage0, p.Stage1, p.Join = aligned, p.Stage0, mma.Join{Post: p.Join.Post}
			})
		}
		if s.Group&(s.Group-1) == 0 {
			c.addCutting(s, 5, 4, usual(0))
		}
	}
}

// newCuttingStages makes stages of every shape that cut in any way.
func newCuttingStages(c *changer) {
	for _, s := range c.shapesOf() {
		c.addCutting(s, 2, 3, modes)
	}
}

// addCutting makes stages that cut at widths from one on, in steps, by some modes.
func (c *changer) addCutting(s mma.Stage, from, step mma.Frac, ms []fp.Mode) {
	for f := from; f <= 40; f += step {
		for _, m := range ms {
			s.Align.F, s.Align.Mode = f, m
			c.add(s)
		}
	}
}

// boundedStages makes stages that cut below one bit: only a stage, its width and its lower
// bound together have an effect.
func boundedStages(c *changer) {
	for _, bit := range c.floorsNear(0) {
		for _, m := range usual(0) {
			c.add(mma.Stage{Sum: mma.Fused, Align: fixedPoint(bit, m)})
		}
	}
}

// stepsOfGroups makes steps of groups: a stage whose sums are added to c looks like
// steps to whose last sum c is added.
func stepsOfGroups(c *changer) {
	s := c.p.Stage0
	if s.Sum == mma.Off {
		return
	}
	for x := mma.StartC; x <= mma.StartEmpty; x++ {
		steps := func(p *mma.Params) {
			p.L, p.Start = s.Group, x
			if s.Sum != mma.Fused {
				p.L = 1
			}
			p.Join = mma.Join{Align: s.Align}
			p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{}
			c.FixLate(p, fp.RNE)
			if p.LateAdds(c.Formats) {
				p.Late = c.p.Acc
			}
		}
		c.to(func(p *mma.Params) { steps(p); p.Join.Post = s.Round })
		c.to(func(p *mma.Params) {
			steps(p)
			if s.Round.Frac != 0 {
				p.Acc.Frac, p.Acc.Mode = min(s.Round.Frac, p.Acc.Frac), s.Round.Mode
			}
		})
	}
}

// groupsOfSteps makes groups of steps, the other way round: c is added to all sums at
// once instead of to one after the other. What a second stage did with the sum of a
// step it does with that of each group.
func groupsOfSteps(c *changer) {
	l, lanes := c.p.L, max(int(c.p.Lanes), 1)
	terms := (c.K + lanes - 1) / lanes
	if l == 0 || int(l) >= terms {
		return
	}
	for n := 2 * int(l); ; n *= 2 {
		groups := func(p *mma.Params) {
			p.L = uint8(n)
			if n >= terms {
				p.L = 0
			}
			if p.Stage0.Sum == mma.Off {
				p.Stage0 = mma.Stage{Sum: mma.Fused, Align: p.Join.Align}
			}
			if p.Stage0.Group == 0 {
				p.Stage0.Group = l
			}
		}
		c.to(groups)
		c.to(func(p *mma.Params) { groups(p); p.Join.Align = mma.Align{} })
		c.to(func(p *mma.Params) { groups(p); p.Stage0.Round = c.p.Acc })
		if c.p.Stage1.Sum != mma.Off && c.p.Stage1.Group == 0 {
			c.to(func(p *mma.Params) {
				groups(p)
				p.Stage1.Split, p.Stage1.Group = mma.Interleaved, uint8((min(n, terms)+int(l)-1)/int(l))
			})
		}
		if n >= terms {
			return
		}
	}
}

// lanesOfGroups makes lanes of interleaved groups.
func lanesOfGroups(c *changer) {
	s, t, j := c.p.Stage0, c.p.Stage1, c.p.Join
	if s.Sum == mma.Off || s.Split != mma.Interleaved {
		return
	}
	inside := s
	inside.Group, inside.Split = 0, mma.Adjacent
	for _, start := range []mma.Start{mma.StartC, mma.StartEmpty} {
		for _, m := range []fp.Mode{t.Round.Mode, c.p.Acc.Mode, j.Post.Mode} {
			lanes := func(p *mma.Params) {
				p.Lanes, p.L, p.Start = s.Group, 0, start
				p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{}
				p.Late = mma.To(c.D, max(m, fp.RNE))
			}
			c.to(func(p *mma.Params) { lanes(p); p.Stage0 = inside })
			c.to(func(p *mma.Params) { lanes(p); p.Stage0, p.Join.Align = inside, t.Align })
			c.to(func(p *mma.Params) { lanes(p); p.Join.Align = s.Align })
		}
	}
}

// stepsOfLanes makes steps that have a sum of their own: of the terms of a lane or of a
// group, in every order and size, because lanes that are added at the end look like steps
// with few accumulations.
func stepsOfLanes(c *changer) {
	s := c.p.Stage0
	if c.p.Lanes <= 1 && s.Sum == mma.Off {
		return
	}
	s.Group, s.Split = 0, mma.Adjacent
	order, _ := mma.FindField("order")
	for _, o := range order.Values() {
		for l := uint8(2); int(l) < c.K; l *= 2 {
			for start := mma.StartC; start <= mma.StartEmpty; start++ {
				c.stepOf(s, func(p *mma.Params) {
					order.SetInt(p, o)
					p.L, p.Lanes, p.Start = l, 0, start
				})
			}
		}
	}
}

// stepOf makes steps with a stage: the given one or, if it is off, one that cuts or rounds
// like the last sum. What is added at the end may round like the steps.
func (c *changer) stepOf(s mma.Stage, steps func(p *mma.Params)) {
	after := []func(p *mma.Params){func(*mma.Params) {}}
	if c.p.Late.Frac != 0 {
		after = append(after, func(p *mma.Params) { p.Acc.Frac, p.Acc.Mode = c.p.Late.Frac, c.p.Late.Mode })
	}
	for _, after := range after {
		to := func(stage mma.Stage, join mma.Join) {
			c.to(func(p *mma.Params) {
				steps(p)
				p.Stage0, p.Join = stage, join
				after(p)
				c.FixLate(p, fp.RNE)
			})
		}
		if s.Sum != mma.Off {
			to(s, c.p.Join)
			continue
		}
		to(mma.Stage{Sum: mma.Sequential, Round: c.p.Acc}, c.p.Join)
		to(mma.Stage{Sum: mma.Fused, Align: c.p.Join.Align}, mma.Join{Post: c.p.Join.Post})
	}
}

// scalePlace applies block scales to products instead of groups or the other way round,
// and makes the sums of groups fixed point, or not.
func scalePlace(c *changer) {
	switch {
	case c.Scale == fp.None:
	case c.p.Scale == mma.ScaleGroup:
		c.to(func(p *mma.Params) { p.Scale, p.Stage0 = mma.ScaleProduct, mma.Stage{} })
		c.to(func(p *mma.Params) { p.Stage0.Fixed = !p.Stage0.Fixed })
	default:
		c.to(func(p *mma.Params) {
			p.Scale, p.Stage0 = mma.ScaleGroup, mma.Stage{Sum: mma.Fused, Group: 16, Fixed: true}
		})
	}
}

// scalePlaces applies block scales to products, or to groups of every size, whose sums
// may be fixed point, which shows only where such a sum is cut.
func scalePlaces(c *changer) {
	if c.Scale == fp.None {
		return
	}
	c.to(func(p *mma.Params) { p.Scale = mma.ScaleProduct })
	const most = 128 // larger blocks are those of whole products, which no single instruction has
	for g := uint8(2); g <= uint8(min(c.Block, most)); g++ {
		for _, fixed := range []bool{false, true} {
			groups := func(p *mma.Params) {
				p.Scale, p.Order, p.Lanes = mma.ScaleGroup, mma.Ascending, 0
				p.Stage0 = mma.Stage{Sum: mma.Fused, Group: g, Fixed: fixed}
				c.FixLate(p, fp.RNE)
			}
			c.to(groups)
			if uint16(g) == c.Block && !fixed {
				c.blockSums(groups)
			}
			if uint16(g) != c.Block || c.p.Scale == mma.ScaleGroup {
				continue
			}
			for f := mma.Frac(3); f <= 45; f += 2 {
				for _, m := range modes {
					c.to(func(p *mma.Params) { groups(p); p.Join.Align.F, p.Join.Align.Mode = f, m })
				}
			}
		}
	}
}

// blockSums are sums of a block that show only where several fields are set: those of
// integers, and those of software, which rounds each addition and may take one block a step.
func (c *changer) blockSums(groups func(p *mma.Params)) {
	block := uint8(c.Block)
	for _, plus := range []bool{false, true} {
		c.to(func(p *mma.Params) { groups(p); p.Stage0.Plus, p.Special.NegZero = plus, true })
		for _, l := range []uint8{c.p.L, block} {
			c.to(func(p *mma.Params) {
				groups(p)
				p.Stage0.Sum, p.Stage0.Round, p.Stage0.Plus, p.L = mma.Sequential, mma.To(c.wide(), fp.RNE), plus, l
			})
		}
	}
}
