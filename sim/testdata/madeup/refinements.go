package madeup

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// refinementStream is the stream of random numbers that refinements are drawn from: not
// that of the units, which are the same with and without them.
const refinementStream = 0x7265_6669_6e65 + 1

// refinedPercent is the percentage of made-up units that have refinements.
const refinedPercent = 6

// refine adds one or two refinements to some units.
func refine(s sampler, i *mma.Instruction) {
	if !s.chance(refinedPercent) {
		return
	}
	drawParts(s, i, pick(s, 1, 1, 1, 2), refinements)
}

// drawParts applies n drawings to a unit. A drawing that does not change the unit, or makes
// it invalid, is taken back and another one tried, up to 20 times.
func drawParts(s sampler, i *mma.Instruction, n int, drawings []func(sampler, *mma.Instruction)) {
	for ; n > 0; n-- {
		for range 20 {
			was := *i
			drawings[s.IntN(len(drawings))](s, i)
			if *i != was && i.Params.Validate(i.Formats, i.K) == nil {
				break
			}
			*i = was
		}
	}
}

// refinements draw one each. What they draw need not be valid.
var refinements = []func(s sampler, i *mma.Instruction){
	func(s sampler, i *mma.Instruction) { i.Params.In.A, i.Params.In.B = drawNarrows(s, i) },
	func(s sampler, i *mma.Instruction) {
		if i.C != fp.None {
			i.Params.In.NarrowC = drawNarrow(s, i.C.Get())
		}
	},
	func(_ sampler, i *mma.Instruction) { i.Params.Prod.Up = true },
	func(_ sampler, i *mma.Instruction) { i.Params.Prod.Zeros = true },
	func(s sampler, i *mma.Instruction) {
		i.Params.Prod.Gate = pick(s, mma.GateInf, mma.GateAll, mma.GateSkip)
	},
	func(s sampler, i *mma.Instruction) {
		drawAligned(s, i).Sticky = pick(s, mma.StickyRound, mma.StickyBelow, mma.StickyLast)
	},
	func(s sampler, i *mma.Instruction) {
		drawAligned(s, i).Negate = pick(s, mma.NegateFlip, mma.NegateFrame, mma.NegateFlipNumbers, mma.NegateFrameNumbers)
	},
	func(s sampler, i *mma.Instruction) {
		a := drawAligned(s, i)
		a.Bits, a.Saturate = uint8(int(a.F)+s.between(1, 8)), s.chance(50)
	},
	func(s sampler, i *mma.Instruction) {
		drawAligned(s, i).F = mma.Frac(s.between(mma.MaxFrac+1, mma.MaxF))
	},
	func(_ sampler, i *mma.Instruction) { i.Params.Join.CNorm = true },
	func(s sampler, i *mma.Instruction) {
		i.Params.Join.CBeside = true
		if i.Params.Join.Align.F == 0 {
			i.Params.Join.Align = drawAlign(s, i.Formats)
		}
	},
	drawSaturation,
	drawSaturation,
}

// drawSaturation lets a rounding saturate infinities.
func drawSaturation(s sampler, i *mma.Instruction) { pick(s, rounds(&i.Params)...).Over = mma.OverSat }

// drawNarrows draws how operands are narrowed: both alike, one of them, or each in its
// own way.
func drawNarrows(s sampler, i *mma.Instruction) (a, b mma.Narrow) {
	a, b = drawNarrow(s, i.A.Get()), drawNarrow(s, i.B.Get())
	switch s.IntN(6) {
	case 0:
		return a, mma.Narrow{}
	case 1:
		return mma.Narrow{}, b
	case 2:
		return a, b
	}
	return a, a
}

// drawNarrow draws a number of bits and a mode, if the format has bits to lose.
func drawNarrow(s sampler, f *fp.Format) mma.Narrow {
	if f.FracBits < 2 {
		return mma.Narrow{}
	}
	return mma.Narrow{Frac: mma.Frac(s.between(1, int(f.FracBits)-1)), Mode: pick(s, 0, drawMode(s), drawMode(s))}
}

// drawAligned returns the alignment of one of the program's sums, drawn anew if it cuts
// nothing.
func drawAligned(s sampler, i *mma.Instruction) *mma.Align {
	p := &i.Params
	all := []*mma.Align{&p.Join.Align}
	for _, st := range []*mma.Stage{&p.Stage0, &p.Stage1} {
		if st.Sum != mma.Off {
			all = append(all, &st.Align)
		}
	}
	a := pick(s, all...)
	if a.F == 0 {
		*a = drawAlign(s, i.Formats)
	}
	return a
}

// rounds returns the roundings of a program that can overflow.
func rounds(p *mma.Params) []*mma.Round {
	all := []*mma.Round{&p.Prod.Round, &p.Stage0.Round, &p.Stage1.Round, &p.Join.Post, &p.Acc, &p.Late, &p.Out}
	return slices.DeleteFunc(all, func(r *mma.Round) bool { return r.Frac == 0 || r.Emax == 0 })
}
