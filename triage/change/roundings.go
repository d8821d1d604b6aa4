package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rounds returns the roundings that a program reaches and that round something.
func (o *original) rounds() []*rounding {
	var all []*rounding
	for _, r := range o.used(roundings) {
		if r.at(&o.p).Frac != 0 || r.path == "out" {
			all = append(all, r)
		}
	}
	return all
}

// plainRanges gives roundings the range of the format in which units round on the way,
// or none where another one follows.
func plainRanges(c *changer) {
	w := c.wide().Get()
	for i := range inner {
		r := &inner[i]
		if *r.at(&c.p) == (mma.Round{}) {
			continue
		}
		c.to(func(p *mma.Params) { r.at(p).Emin, r.at(p).Emax = mma.Exp(w.Emin()), mma.Exp(w.Emax()) })
		if r.last && c.p.Out != (mma.Round{}) {
			c.to(func(p *mma.Params) { r.at(p).Emin, r.at(p).Emax = 0, 0 })
		}
	}
}

// fewerRoundings takes roundings away, alone, or in the place of the rounding of the accumulator,
// or with one or two of their properties handed to that.
func fewerRoundings(c *changer) {
	for i := range inner {
		r := &inner[i]
		was := *r.at(&c.p)
		if r.last || was == (mma.Round{}) {
			continue
		}
		narrow := func(acc *mma.Round) { acc.Frac = min(acc.Frac, max(was.Frac, 1)) }
		for _, take := range []func(acc *mma.Round){
			func(*mma.Round) {},
			func(acc *mma.Round) { *acc = was },
			func(acc *mma.Round) { acc.Mode = was.Mode },
			func(acc *mma.Round) { acc.Mode = was.Mode; narrow(acc) },
			narrow,
			func(acc *mma.Round) { acc.Flush = was.Flush },
			func(acc *mma.Round) { acc.Over = was.Over },
		} {
			c.to(func(p *mma.Params) { *r.at(p) = mma.Round{}; take(&p.Acc) })
		}
	}
}

// movedRoundings moves, copies and exchanges roundings, their flushes and their overflow
// rules between places, and makes stages that round.
func movedRoundings(c *changer) {
	for i := range inner {
		s := &inner[i]
		r := *s.at(&c.p)
		if r == (mma.Round{}) {
			continue
		}
		for _, t := range c.used(inner) {
			if s == t {
				continue
			}
			c.to(func(p *mma.Params) { *t.at(p) = r })
			c.to(func(p *mma.Params) { *s.at(p), *t.at(p) = *t.at(p), r })
			c.to(func(p *mma.Params) { *s.at(p), *t.at(p) = mma.Round{}, r })
			c.to(func(p *mma.Params) { t.at(p).Flush, s.at(p).Flush = r.Flush, mma.NoFlush })
			c.to(func(p *mma.Params) { t.at(p).Over, s.at(p).Over = r.Over, mma.OverInf })
		}
		c.roundInRange(s)
		for sum := mma.Fused; sum <= mma.PairHalves; sum++ {
			add := func(p *mma.Params) {
				switch n := (mma.Stage{Sum: sum, Round: r}); mma.Off {
				case c.p.Stage0.Sum:
					p.Stage0 = n
				case c.p.Stage1.Sum:
					p.Stage1 = n
				}
			}
			c.to(add)
			c.to(func(p *mma.Params) { add(p); *s.at(p) = mma.Round{} })
		}
	}
}

// roundedAlone makes stages that leave every term alone of roundings of products and of sums
// of the only stage: such a stage rounds, or cuts at the same width below the exponent of a
// term, which need not be normalised.
func roundedAlone(c *changer) {
	if c.p.Stage1.Sum != mma.Off {
		return
	}
	for _, s := range []struct {
		r      mma.Round
		remove func(p *mma.Params)
		add    func(p *mma.Params, alone mma.Stage)
	}{
		{c.p.Prod.Round, func(p *mma.Params) { p.Prod.Round = mma.Round{} },
			func(p *mma.Params, alone mma.Stage) { p.Stage0, p.Stage1 = alone, p.Stage0 }},
		{c.p.Stage0.Round, func(p *mma.Params) { p.Stage0.Round = mma.Round{} },
			func(p *mma.Params, alone mma.Stage) { p.Stage1 = alone }},
	} {
		if s.r.Frac == 0 {
			continue
		}
		alone := mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: uint8(c.K)}
		rounds, cuts := alone, alone
		rounds.Round, cuts.Align = s.r, mma.Align{F: s.r.Frac, Mode: s.r.Mode}
		for _, n := range []mma.Stage{rounds, cuts} {
			c.to(func(p *mma.Params) { s.remove(p); s.add(p, n) })
			c.to(func(p *mma.Params) { s.add(p, n) })
		}
	}
}

// roundInRange gives a bare range the width and the mode of another rounding: a flush at one
// place and a rounding at the next look like one rounding that flushes. The other rounding
// stays, or becomes one to D's format.
func (c *changer) roundInRange(bare *rounding) {
	if bare.at(&c.p).Frac != 0 {
		return
	}
	for _, r := range c.rounds() {
		for f := mma.NoFlush; f <= mma.FlushResult; f++ {
			rounded := func(p *mma.Params) {
				was := r.at(p)
				bare.at(p).Frac, bare.at(p).Mode, bare.at(p).Flush = was.Frac, was.Mode, f
			}
			c.to(rounded)
			c.to(func(p *mma.Params) { rounded(p); *r.at(p) = mma.To(c.D, r.at(p).Mode) })
		}
	}
}

// resultWidth tries E8M13 results and full ones.
func resultWidth(c *changer) {
	d := c.D.Get()
	for _, n := range []uint8{13, d.FracBits} {
		if n <= d.FracBits {
			c.to(func(p *mma.Params) { p.Acc.Frac = mma.Frac(n) })
		}
	}
}

// roundedTwice rounds to FP32 before D.
func roundedTwice(c *changer) {
	if c.p.Out != (mma.Round{}) || c.D != fp.FP16 {
		return
	}
	for _, m := range []fp.Mode{fp.RZ, fp.RNE} {
		c.to(func(p *mma.Params) { p.Acc, p.Out = mma.To(fp.FP32, m), p.Acc })
	}
}

// doubleRoundings makes accumulators wider than D with a conversion at the end, or none.
func doubleRoundings(c *changer) {
	if c.p.Out != (mma.Round{}) {
		c.to(func(p *mma.Params) { p.Acc, p.Out = p.Out, mma.Round{} })
		return
	}
	wider := []fp.ID{c.wide(), fp.FP64}
	if c.D.Width() == 1 {
		wider = append(wider, fp.FP16)
	}
	for _, wide := range wider {
		for _, m := range modes {
			for _, split := range []func(p *mma.Params){
				func(p *mma.Params) { p.Out, p.Acc = p.Acc, mma.To(wide, m) },
				func(p *mma.Params) { p.Out, p.Acc = mma.To(c.D, m), mma.To(wide, p.Acc.Mode) },
			} {
				c.to(split)
				if late(&c.original) {
					c.to(func(p *mma.Params) { split(p); p.Late = p.Acc })
				}
			}
		}
	}
}

// productRounding takes the rounding of products away, or rounds them to FP32 or to FP16.
func productRounding(c *changer) {
	if c.p.Prod.Round.Frac != 0 {
		c.to(func(p *mma.Params) { p.Prod.Round = mma.Round{} })
		return
	}
	for _, m := range []fp.Mode{fp.RNE, fp.RZ} {
		c.to(func(p *mma.Params) { p.Prod.Round = mma.To(fp.FP32, m) })
	}
	if c.D == fp.FP16 {
		c.to(func(p *mma.Params) { p.Prod.Round = mma.To(fp.FP16, fp.RNE) })
	}
}
