package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// ruleStream is the stream of random numbers that this file draws from: like that of
// refinements it leaves the other units as they are.
const ruleStream = 0x7275_6c65 + 6

// rulePercent is the percentage of made-up units that have rules of special values, scales
// or the last sum that no unit of the catalogue has.
const rulePercent = 4

// rule draws one of these rules for some units.
func rule(s sampler, i *Instruction) {
	if s.chance(rulePercent) {
		drawParts(s, i, 1, rules)
	}
}

// rules draw one each. What they draw need not be valid.
var rules = []func(s sampler, i *Instruction){
	func(_ sampler, i *Instruction) { i.Params.In.NaNInf = true },
	func(s sampler, i *Instruction) {
		sp := &i.Params.Special
		sp.NaN, sp.CLeft, sp.Ones = pick(s, NaNOfC, NaNZero), false, 0
	},
	func(s sampler, i *Instruction) { i.Params.Special.Ones = uint8(s.between(2, int(i.D.Get().FracBits))) },
	func(_ sampler, i *Instruction) { i.Params.Special.BFirst = true },
	drawScaleRound, drawScaleRound,
	func(_ sampler, i *Instruction) { i.Params.Join.Apart = true },
	func(s sampler, i *Instruction) {
		p := &i.Params.Prod
		if p.FirstOver = true; p.Round == (Round{}) {
			p.Round.Emax = Exp(s.between(3, 100))
		}
	},
	func(s sampler, i *Instruction) {
		i.Params.Join.CGrid = true
		if i.Params.Join.Align.F == 0 {
			i.Params.Join.Align = drawAlign(s, i.Formats)
		}
	},
}

// drawScaleRound rounds products of scales to their own format, or to one in which software
// multiplies them.
func drawScaleRound(s sampler, i *Instruction) {
	if i.Scale == fp.None {
		i.Params.Special.BFirst = true
		return
	}
	r := To(pick(s, i.Scale, fp.FP32, fp.BF16), pick(s, fp.Modes()...))
	r.Over, r.Flush = pick(s, OverInf, OverIEEE, OverMax, OverSat), pick(s, NoFlush, NoFlush, FlushBefore, FlushAfter, FlushResult)
	i.Params.ScaleRound = r
}
