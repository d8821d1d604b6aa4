package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// inputFlushes tries every flush of a and b, and every combination of those of c and of
// accumulators.
func inputFlushes(c *changer) {
	for x := mma.KeepSub; x <= mma.FlushPlus; x++ {
		c.to(func(p *mma.Params) { p.In.Sub = x })
		for y := mma.KeepSub; y <= mma.FlushPlus; y++ {
			c.to(func(p *mma.Params) { p.In.C, p.In.Acc = x, y })
		}
	}
}

// widenings converts operands to each format, also with another flush: in a wider format
// none may be subnormal, so that only the signs of zeros show the flush.
func widenings(c *changer) {
	for _, id := range []fp.ID{fp.None, fp.FP16, fp.BF16, fp.FP32, fp.FP64} {
		c.to(func(p *mma.Params) { p.In.Widen = id })
		for x := mma.KeepSub; x <= mma.FlushPlus; x++ {
			c.to(func(p *mma.Params) { p.In.Widen, p.In.Sub = id, x })
		}
	}
}

func fewerInputFlushes(c *changer) {
	c.to(func(p *mma.Params) { p.In.Sub = mma.KeepSub })
	c.to(func(p *mma.Params) { p.In.C, p.In.Acc = mma.KeepSub, mma.KeepSub })
	c.to(func(p *mma.Params) { p.In.Acc = p.In.C })
}

// productExponents gives products other exponents, alone and without what else is done to
// products: where small terms are cut, a rounding of products looks like another exponent.
func productExponents(c *changer) {
	exp, _ := mma.FindField("prod.exp")
	for _, e := range exp.Values() {
		c.to(func(p *mma.Params) { exp.SetInt(p, e) })
		c.to(func(p *mma.Params) { exp.SetInt(p, e); p.Prod.Round = mma.Round{} })
		c.to(func(p *mma.Params) { exp.SetInt(p, e); p.Prod.Round, p.In.Widen = mma.Round{}, fp.None })
	}
}

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

func productOverflow(c *changer) {
	switch r := c.p.Prod.Round; {
	case r.Emax != 0:
		c.to(func(p *mma.Params) { p.Prod.Round.Emax = 0 })
	case r.Frac == 0:
		c.to(func(p *mma.Params) { p.Prod.Round.Emax = 127 })
	}
}
