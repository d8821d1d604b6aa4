package madeup

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// partStream is the stream of random numbers that this file draws from: like that of
// refinements it leaves the other units as they are.
const partStream = 0x7061_7274 + 1

// partPercent is the percentage of made-up units that have parts of operands, other
// ranges of operands, results in a format without infinities, or another part of the list
// parts.
const partPercent = 6

// part draws one of the list parts for some units.
func part(s sampler, i *mma.Instruction) {
	if s.chance(partPercent) {
		drawParts(s, i, 1, parts)
	}
}

// parts draw one each. What they draw need not be valid.
var parts = []func(s sampler, i *mma.Instruction){
	drawPasses, drawPasses,
	func(s sampler, i *mma.Instruction) {
		in := &i.Params.In
		n := pick(s, &in.A, &in.B, &in.NarrowC)
		*n = mma.Narrow{Frac: n.Frac, Mode: drawMode(s), To: pick(s, fp.FP16, fp.BF16, fp.FP32), Over: pick(s, mma.OverInf, mma.OverIEEE, mma.OverMax, mma.OverSat)}
		if s.chance(50) {
			in.B = in.A
		}
	},
	drawSaturated,
	func(_ sampler, i *mma.Instruction) { i.Params.Prod.Gate = mma.GateSkipNumbers },
	func(s sampler, i *mma.Instruction) { drawAligned(s, i).Drop = mma.Frac(s.between(1, 40)) },
	func(s sampler, i *mma.Instruction) { drawSum(s, i).Plus = true },
	drawSaturated,
	drawFormat,
}

// drawSaturated makes infinite operands the largest numbers.
func drawSaturated(_ sampler, i *mma.Instruction) {
	in := &i.Params.In
	in.A.Over, in.B.Over = mma.OverSat, mma.OverSat
	if i.C != fp.None {
		in.NarrowC.Over = mma.OverSat
	}
}

// drawPasses splits operands that have bits to split.
func drawPasses(s sampler, i *mma.Instruction) {
	p := &i.Params
	p.In.A, p.In.B = drawNarrows(s, i)
	for _, n := range []*mma.Narrow{&p.In.A, &p.In.B} {
		if n.Frac != 0 {
			n.Mode = drawMode(s)
		}
	}
	list := pick(s, mma.PassLists...)
	p.Passes, p.Together, p.In.Rest = list, s.chance(30), s.chance(50)
}

// drawFormat makes results, and perhaps c, numbers of a format without infinities.
func drawFormat(s sampler, i *mma.Instruction) {
	p := &i.Params
	i.D = pick(s, fp.E4M3, fp.E4M3, fp.E5M2FNUZ, fp.E4M3FNUZ)
	if i.C != fp.None && s.chance(50) {
		i.C = i.D
	}
	r := mma.To(i.D, drawMode(s))
	r.Over = pick(s, mma.OverInf, mma.OverIEEE, mma.OverMax, mma.OverSat)
	switch {
	case p.Out != mma.Round{}:
		p.Out = r
	case p.LateAdds(i.Formats):
		p.Late = r
	default:
		p.Acc = r
	}
}
