package madeup

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ruleStream is the stream of random numbers that this file draws from: like that of
// refinements it leaves the other units as they are.
const ruleStream = 0x7275_6c65 + 6

// rulePercent is the percentage of made-up units that have rules of special values, scales
// or the last sum that no unit of the catalogue has.
const rulePercent = 4

// rule draws one of these rules for some units.
func rule(s sampler, i *mma.Instruction) {
	if s.chance(rulePercent) {
		drawParts(s, i, 1, rules)
	}
}

// rules draw one each. What they draw need not be valid.
var rules = []func(s sampler, i *mma.Instruction){
	func(_ sampler, i *mma.Instruction) { i.Params.In.NaNInf = true },
	func(s sampler, i *mma.Instruction) {
		sp := &i.Params.Special
		sp.NaN, sp.CLeft, sp.Ones = pick(s, mma.NaNOfC, mma.NaNZero), false, 0
	},
	func(s sampler, i *mma.Instruction) {
		i.Params.Special.Ones = uint8(s.between(2, int(i.D.Get().FracBits)))
	},
	func(_ sampler, i *mma.Instruction) { i.Params.Special.BFirst = true },
	drawScaleRound, drawScaleRound,
	func(_ sampler, i *mma.Instruction) { i.Params.Join.Apart = true },
	func(s sampler, i *mma.Instruction) {
		p := &i.Params.Prod
		if p.FirstOver = true; p.Round == (mma.Round{}) {
			p.Round.Emax = mma.Exp(s.between(3, 100))
		}
	},
	func(s sampler, i *mma.Instruction) {
		i.Params.Join.CGrid = true
		if i.Params.Join.Align.F == 0 {
			i.Params.Join.Align = drawAlign(s, i.Formats)
		}
	},
}

// drawScaleRound rounds products of scales to their own format, or to one in which software
// multiplies them.
func drawScaleRound(s sampler, i *mma.Instruction) {
	if i.Scale == fp.None {
		i.Params.Special.BFirst = true
		return
	}
	r := mma.To(pick(s, i.Scale, fp.FP32, fp.BF16), pick(s, fp.Modes()...))
	r.Over, r.Flush = pick(s, mma.OverInf, mma.OverIEEE, mma.OverMax, mma.OverSat), pick(s, mma.NoFlush, mma.NoFlush, mma.FlushBefore, mma.FlushAfter, mma.FlushResult)
	i.Params.ScaleRound = r
}
