package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

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
