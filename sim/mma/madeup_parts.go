package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// partStream is the stream of random numbers that this file draws from: like that of
// refinements it leaves the other units as they are.
const partStream = 0x7061_7274 + 1

// partPercent is the percentage of made-up units that have parts of operands, other
// ranges of operands, results in a format without infinities, or another part of the list
// parts.
const partPercent = 6

// part draws one of the list parts for some units.
func part(s sampler, i *Instruction) {
	if s.chance(partPercent) {
		drawParts(s, i, 1, parts)
	}
}

// parts draw one each. What they draw need not be valid.
var parts = []func(s sampler, i *Instruction){
	drawPasses, drawPasses,
	func(s sampler, i *Instruction) {
		in := &i.Params.In
		n := pick(s, &in.A, &in.B, &in.NarrowC)
		*n = Narrow{Frac: n.Frac, Mode: drawMode(s), To: pick(s, fp.FP16, fp.BF16, fp.FP32), Over: pick(s, OverInf, OverIEEE, OverMax, OverSat)}
		if s.chance(50) {
			in.B = in.A
		}
	},
	drawSaturated,
	func(_ sampler, i *Instruction) { i.Params.Prod.Gate = GateSkipNumbers },
	func(s sampler, i *Instruction) { drawAligned(s, i).Drop = Frac(s.between(1, 40)) },
	func(s sampler, i *Instruction) { drawSum(s, i).Plus = true },
	drawSaturated,
	drawFormat,
}

// drawSaturated makes infinite operands the largest numbers.
func drawSaturated(_ sampler, i *Instruction) {
	in := &i.Params.In
	in.A.Over, in.B.Over = OverSat, OverSat
	if i.C != fp.None {
		in.NarrowC.Over = OverSat
	}
}

// drawPasses splits operands that have bits to split.
func drawPasses(s sampler, i *Instruction) {
	p := &i.Params
	p.In.A, p.In.B = drawNarrows(s, i)
	for _, n := range []*Narrow{&p.In.A, &p.In.B} {
		if n.Frac != 0 {
			n.Mode = drawMode(s)
		}
	}
	list := pick(s, PassLists...)
	p.Passes, p.Together, p.In.Rest = list, s.chance(30), s.chance(50)
}

// drawFormat makes results, and perhaps c, numbers of a format without infinities.
func drawFormat(s sampler, i *Instruction) {
	p := &i.Params
	i.D = pick(s, fp.E4M3, fp.E4M3, fp.E5M2FNUZ, fp.E4M3FNUZ)
	if i.C != fp.None && s.chance(50) {
		i.C = i.D
	}
	r := To(i.D, drawMode(s))
	r.Over = pick(s, OverInf, OverIEEE, OverMax, OverSat)
	switch {
	case p.Out != Round{}:
		p.Out = r
	case p.LateAdds(i.Formats):
		p.Late = r
	default:
		p.Acc = r
	}
}
