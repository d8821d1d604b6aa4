package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bareRanges makes numbers on the way overflow or flushes tiny ones, without rounding
// any: the range of a rounding that is there, those of formats, and those near a bare one.
func bareRanges(c *changer) {
	for _, r := range c.used(inner) {
		if r.last {
			continue
		}
		now := *r.at(&c.p)
		set := func(b mma.Round) { c.to(func(p *mma.Params) { *r.at(p) = b }) }
		if now.Frac != 0 {
			set(bareRange(now))
		}
		for _, id := range []fp.ID{fp.FP16, fp.FP32, fp.FP64} {
			to := mma.To(id, fp.RNE)
			set(mma.Round{Emin: to.Emin, Flush: mma.FlushBefore})
			set(mma.Round{Emin: to.Emin, Flush: mma.FlushBefore, Emax: to.Emax})
		}
		if now.Frac != 0 || now == (mma.Round{}) {
			continue
		}
		for d := mma.Exp(-8); d <= 8; d++ {
			if now.Emax != 0 {
				c.to(func(p *mma.Params) { r.at(p).Emax += d })
			}
			if now.Emin != 0 {
				c.to(func(p *mma.Params) { r.at(p).Emin += d })
			}
		}
	}
}

// bareRange is the range of a rounding, without what it rounds. Without a rounding it does
// not matter which way to test for a tiny number it has.
func bareRange(r mma.Round) mma.Round {
	b := mma.Round{Emax: r.Emax}
	if r.Flush != mma.NoFlush {
		b.Emin, b.Flush = r.Emin, mma.FlushBefore
	}
	return b
}

// barerRanges takes away what a rounding rounds, or one end of a bare range.
func barerRanges(c *changer) {
	for i := range inner {
		r := &inner[i]
		was := *r.at(&c.p)
		if r.last || was == (mma.Round{}) {
			continue
		}
		c.to(func(p *mma.Params) { *r.at(p) = bareRange(was) })
		if was.Frac == 0 {
			c.to(func(p *mma.Params) { *r.at(p) = mma.Round{Emax: was.Emax} })
			c.to(func(p *mma.Params) { *r.at(p) = mma.Round{Emin: was.Emin, Flush: was.Flush} })
		}
	}
}

// boundedProducts makes products of any size infinite that are not rounded.
func boundedProducts(c *changer) {
	if c.p.Prod.Round.Frac != 0 {
		return
	}
	for e := mma.Exp(1); int32(e) <= c.A.Get().Emax()+c.B.Get().Emax(); e++ {
		c.to(func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = e, false })
		c.to(func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = e, true })
	}
}
