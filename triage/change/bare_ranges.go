package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bareRanges makes roundings to bare ranges: large numbers overflow and tiny ones are
// flushed, but none is rounded. It tries the range of the rounding that is there, those of
// formats, and those near a bare range; the other way round, it makes roundings to formats.
func bareRanges(c *changer) {
	formats := []fp.ID{fp.FP16, fp.FP32, fp.FP64}
	for _, r := range c.used(inner) {
		if r.last {
			continue
		}
		now := *r.at(&c.p)
		set := func(b mma.Round) { c.to(func(p *mma.Params) { *r.at(p) = b }) }
		if now.Frac != 0 {
			set(bareRange(now))
		}
		for _, id := range formats {
			to := mma.To(id, fp.RNE)
			set(mma.Round{Emin: to.Emin, Flush: mma.FlushBefore})
			set(mma.Round{Emin: to.Emin, Flush: mma.FlushBefore, Emax: to.Emax})
		}
		if now.Frac != 0 {
			continue
		}
		// Another overflow than to infinity, or another flush, takes a whole rounding.
		for _, id := range formats {
			for over := mma.OverInf; over <= mma.OverSat; over++ {
				for _, to := range []mma.Round{mma.To(id, fp.RNE), mma.To(id, fp.RZ)} {
					to.Over = over
					set(to)
					to.Flush = now.Flush
					set(to)
				}
			}
		}
		if now == (mma.Round{}) {
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

// bareRange is the range of a rounding, without its width. Where nothing is rounded, all
// ways of testing for tiny numbers are the same.
func bareRange(r mma.Round) mma.Round {
	b := mma.Round{Emax: r.Emax}
	if r.Flush != mma.NoFlush {
		b.Emin, b.Flush = r.Emin, mma.FlushBefore
	}
	return b
}

// barerRanges leaves nothing of a rounding but its range, or takes away one end of a bare
// range.
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

// boundedProducts makes products that are not rounded overflow above every exponent.
func boundedProducts(c *changer) {
	if c.p.Prod.Round.Frac != 0 {
		return
	}
	for e := mma.Exp(1); int32(e) <= c.A.Get().Emax()+c.B.Get().Emax(); e++ {
		c.to(func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = e, false })
		c.to(func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = e, true })
	}
}
