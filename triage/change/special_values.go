package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// zeroSigns tries every combination of what decides the signs of zeros: changing one of
// these alone may show no difference.
func zeroSigns(c *changer) { c.zeroSigns(func(*mma.Params) {}) }

// bothZeroSigns is for a unit none of whose zeros has a sign, or all of whose have.
func bothZeroSigns(c *changer) {
	if s := c.p.Special; s.NegZero == s.TinySign {
		c.to(func(p *mma.Params) { p.Special.NegZero, p.Special.TinySign = !s.NegZero, !s.NegZero })
	}
}

// zeroSigns makes these combinations beside another change.
func (c *changer) zeroSigns(beside func(p *mma.Params)) {
	starts := []mma.Start{c.p.Start}
	switch {
	case c.C == fp.None:
		starts = []mma.Start{mma.StartC, mma.StartZero, mma.StartEmpty}
	case c.p.Start != mma.StartC:
		starts = []mma.Start{mma.StartZero, mma.StartEmpty}
	}
	for _, start := range starts {
		for n := range 3 * 3 * 3 {
			for _, z := range c.zeroRules(start) {
				c.to(func(p *mma.Params) {
					p.Start = start
					p.In.Sub, p.In.C, p.In.Acc = mma.InFlush(n%3), mma.InFlush(n/3%3), mma.InFlush(n/9)
					p.Special.NegZero, p.Special.TinySign, p.Bare, p.Join.Plus = z.negZero, z.tinySign, z.bare, z.plus
					beside(p)
					c.FixLate(p, fp.RNE)
				})
			}
		}
	}
}

// zeroRule is what a program says of the signs of zeros that are no operands.
type zeroRule struct{ negZero, tinySign, bare, plus bool }

// zeroRules returns the rules that a program with this start may have.
func (c *changer) zeroRules(start mma.Start) []zeroRule {
	var all []zeroRule
	for _, tiny := range []bool{false, true} {
		all = append(all, zeroRule{tinySign: tiny}, zeroRule{tinySign: tiny, negZero: true})
		if c.p.Late == (mma.Round{}) {
			continue
		}
		all = append(all, zeroRule{tinySign: tiny, negZero: true, plus: true})
		if start == mma.StartC && c.p.Lanes > 1 && c.K > int(c.p.Lanes) {
			all = append(all, zeroRule{tinySign: tiny, negZero: true, bare: true}, zeroRule{tinySign: tiny, negZero: true, bare: true, plus: true})
		}
	}
	return all
}

// signsOfRoundedSums combines what decides the signs of zeros with a rounding down where
// nothing is rounded: if it keeps all bits, the sign of an exact zero is all that shows of it.
func signsOfRoundedSums(c *changer) {
	for _, place := range c.used(inner) {
		if at := place.at; *at(&c.p) == (mma.Round{}) {
			c.zeroSigns(func(p *mma.Params) { *at(p) = mma.Round{Frac: mma.MaxFrac, Mode: fp.RD} })
		}
	}
}

// signsOfExactSums combines the rules for signs with the roundings of the accumulator and of
// late additions and with a stage: where sums are exact, the sign of a zero is all that
// shows of these.
func signsOfExactSums(c *changer) {
	stages := []mma.Stage{c.p.Stage0}
	if c.p.Stage1.Sum == mma.Off {
		stages = append(stages, mma.Stage{}, mma.Stage{Sum: mma.Fused}, mma.Stage{Sum: mma.Fused, Round: mma.To(c.wide(), fp.RNE)})
	}
	lateModes := modes[:1]
	if late(&c.original) {
		lateModes = modes
	}
	for _, stage := range stages {
		for n := range 2 * 2 * 3 {
			for _, acc := range modes {
				for _, lateMode := range lateModes {
					c.to(func(p *mma.Params) {
						p.Stage0, p.Acc.Mode = stage, acc
						p.Special.NegZero, p.Special.TinySign = n%2 != 0, n/2%2 != 0
						p.Start = mma.StartC + mma.Start(n/4)
						if p.Late.Frac != 0 {
							p.Late.Mode = lateMode
						}
						c.FixLate(p, lateMode)
					})
				}
			}
		}
	}
}

func nanCodes(c *changer) {
	for rule := mma.NaNOnes; rule <= mma.NaNZero; rule++ {
		for _, left := range []bool{false, true} {
			c.to(func(p *mma.Params) { c.nanRule(p, rule).CLeft = left })
		}
	}
}

// nanRule sets a rule, takes away what it has no use for, and returns the special values.
func (o *original) nanRule(p *mma.Params, rule mma.NaNRule) *mma.Special {
	s := &p.Special
	s.NaN = rule
	if !s.OperandNaN() {
		s.BFirst = false
	}
	if rule == mma.NaNOnes || rule == mma.NaNZero {
		s.Ones = 0
	}
	return s
}

// onesOfNaNs are NaNs with any number of ones at the top of their fraction.
func onesOfNaNs(c *changer) {
	for _, rule := range []mma.NaNRule{c.p.Special.NaN, mma.NaNQuiet, mma.NaNQuietNeg} {
		for n := range c.D.Get().FracBits {
			c.to(func(p *mma.Params) { c.nanRule(p, rule).Ones = n + 1 })
		}
	}
}

// infiniteNaNs reads NaNs as infinities, alone and with roundings that make zeros of NaNs, and infinities
// as NaNs in results that saturate: of those that are cut, whether they do shows in infinities alone.
func infiniteNaNs(c *changer) {
	c.to(func(p *mma.Params) { p.In.NaNInf = !p.In.NaNInf })
	c.to(func(p *mma.Params) { p.In.NaNInf = true; c.nanRule(p, mma.NaNZero) })
	if c.p.Acc.Over < mma.OverMax {
		c.to(func(p *mma.Params) { p.In.InfNaN, p.Acc.Over = true, mma.OverMax })
	}
}
