package mma

import (
	"math/rand/v2"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// MadeUpVersion is the version of the distribution that MadeUp draws from. It
// changes when a seed no longer means the same unit.
const MadeUpVersion = 7

// madeUpStream is the stream of random numbers that units are drawn from: that of version
// 3, so that most seeds still mean the same unit.
const madeUpStream = 0x6d61_6465_7570 + 3

// MadeUp returns the made-up unit of a seed: formats, K and a parameter program
// drawn from a distribution over everything that Params can say, except for Join.CLost.
// The result is valid. The distribution is this file and those of refinements, shapes,
// parts and rules: the order of draws and the weights are part of it, so that a seed means
// the same unit for as long as MadeUpVersion does. One unit in eight, named mutant, is an
// arithmetic of the catalogue of which up to two parts are drawn anew, so that each
// arithmetic of the catalogue has a positive probability; which one a seed means changes
// with the catalogue.
func MadeUp(seed uint64) Instruction {
	r := rand.New(rand.NewPCG(seed, madeUpStream))
	for {
		i := drawUnit(sampler{r})
		if i.Params.Validate(i.Formats, i.K) == nil {
			refine(sampler{rand.New(rand.NewPCG(seed, refinementStream))}, &i)
			reshape(sampler{rand.New(rand.NewPCG(seed, shapeStream))}, &i)
			part(sampler{rand.New(rand.NewPCG(seed, partStream))}, &i)
			rule(sampler{rand.New(rand.NewPCG(seed, ruleStream))}, &i)
			return i
		}
	}
}

// sampler draws with the weights of this distribution.
type sampler struct{ *rand.Rand }

func (s sampler) chance(percent int) bool { return s.IntN(100) < percent }

// between returns a number in lo..hi.
func (s sampler) between(lo, hi int) int { return lo + s.IntN(hi-lo+1) }

func pick[T any](s sampler, of ...T) T { return of[s.IntN(len(of))] }

func drawUnit(s sampler) Instruction {
	i := Instruction{Arch: "made-up", Name: "unit"}
	if s.IntN(8) == 0 {
		i.Name = "mutant"
		known := pick(s, arithmetics()...)
		i.Formats, i.K, i.Params = known.Formats, known.K, known.Params
		for range s.IntN(3) {
			redraw(s, &i)
		}
		return i
	}
	i.Formats, i.K = drawFormats(s)
	i.Params = drawParams(s, i.Formats, i.K)
	if i.A.Width() == 1 && i.Scale == fp.None && s.chance(30) {
		i.Down = uint8(s.IntN(MaxDown + 1))
	}
	return i
}

var arithmetics = sync.OnceValue(Arithmetics)

// redraw draws one part of a program anew.
func redraw(s sampler, i *Instruction) {
	p := &i.Params
	q := drawParams(s, i.Formats, i.K)
	switch s.IntN(8) {
	case 0:
		p.In = q.In
	case 1:
		p.Prod = q.Prod
	case 2:
		p.Order = q.Order
	case 3:
		p.L = q.L
	case 4:
		p.Stage0, p.Stage1 = q.Stage0, q.Stage1
	case 5:
		p.Join = q.Join
	case 6:
		p.Acc = q.Acc
	default:
		p.Special = q.Special
	}
}

// drawFormats draws operand formats with their usual accumulators, and K.
func drawFormats(s sampler) (f Formats, k int) {
	k = pick(s, 4, 4, 8, 8, 16, 16, 32)
	if s.chance(5) {
		k = s.between(1, 32)
	}
	switch s.IntN(12) {
	case 0, 1, 2:
		f = Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	case 3:
		f = Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
	case 4, 5:
		f = Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	case 6:
		tf32 := pick(s, fp.TF32, fp.TF32, fp.XF32)
		f, k = Formats{A: tf32, B: tf32, C: fp.FP32, D: fp.FP32}, pick(s, 4, 8)
	case 7:
		f, k = Formats{A: fp.E4M3, B: pick(s, fp.E4M3, fp.E5M2), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	case 8:
		f, k = Formats{A: fp.E5M2FNUZ, B: pick(s, fp.E4M3FNUZ, fp.E5M2FNUZ), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	case 9:
		wide := pick(s, fp.FP32, fp.FP32, fp.FP64)
		f, k = Formats{A: wide, B: wide, C: wide, D: wide}, pick(s, 1, 2, 4, 8)
	case 10:
		narrow := func() fp.ID { return pick(s, fp.E4M3, fp.E5M2, fp.E3M2, fp.E2M3, fp.E2M1) }
		d := pick(s, fp.FP32, fp.FP16)
		f, k = Formats{A: narrow(), B: narrow(), C: d, D: d}, pick(s, 16, 32)
	default:
		f, k = drawScaled(s)
	}
	if s.chance(5) {
		f.C = fp.None
	}
	return f, k
}

// drawScaled draws formats with block scales.
func drawScaled(s sampler) (Formats, int) {
	if s.chance(50) {
		return Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: pick(s, fp.E8M0, fp.UE4M3), Block: 16}, pick(s, 32, 32, 64)
	}
	return Formats{A: fp.E5M2, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}, 32
}

func drawParams(s sampler, f Formats, k int) Params {
	p := Params{
		L:     pick[uint8](s, 0, 0, 1, 2, 4, 8, 16),
		Order: Ascending,
		Acc:   To(f.D, pick(s, fp.RNE, fp.RNE, fp.RZ, fp.RZ, fp.RD, fp.RU, fp.RNA, fp.RTO)),
		Special: Special{
			NaN:     pick(s, NaNOnes, NaNQuiet, NaNQuietNeg, NaNFirst),
			NegZero: s.chance(50), TinySign: s.chance(50),
		},
	}
	if s.chance(5) {
		p.L = uint8(s.between(1, k))
	}
	if s.chance(25) {
		p.Order = Order(s.IntN(int(Halves) + 1))
	}
	if s.chance(15) {
		p.Lanes = pick[uint8](s, 2, 2, 2, 3, 4, 8)
	}
	drawInput(s, f, &p)
	drawStages(s, f, k, &p)
	drawJoin(s, f, &p)
	drawResult(s, f, &p)
	if s.chance(15) {
		p.Special.NaN = pick(s, NaNSignal, NaNMulAdd, NaNLarger)
	}
	p.Special.CLeft = p.Start != StartC && p.Special.NaN.Operand() && s.chance(30)
	return p
}

func drawInput(s sampler, f Formats, p *Params) {
	if s.chance(20) {
		p.In.Sub = pick(s, FlushSign, FlushPlus)
	}
	if s.chance(20) {
		p.In.C = pick(s, FlushSign, FlushPlus)
		p.In.Acc = p.In.C
	}
	if s.chance(10) {
		p.In.Acc = pick(s, KeepSub, FlushSign, FlushPlus)
	}
	if s.chance(20) {
		p.Prod.Exp = pick(s, OperandSum, Normalised)
	}
	switch {
	case s.chance(10):
		p.Prod.Round = drawRound(s, f.D)
	case s.chance(10):
		p.Prod.Round = Round{Emax: Exp(pick(s, fp.FP32, fp.FP32, f.D).Get().Emax())}
	}
	if s.chance(10) {
		p.In.Widen = pick(s, fp.FP16, fp.BF16, fp.FP32, fp.FP64)
		if p.checkInput(f) != nil {
			p.In.Widen = fp.None
		}
	}
}

// drawStages draws up to two stages of groups.
func drawStages(s sampler, f Formats, k int, p *Params) {
	if f.Scale != fp.None && s.chance(50) {
		p.Scale = ScaleGroup
		p.Order, p.Lanes, p.L = Ascending, 0, 0
		p.Stage0 = Stage{Sum: Fused, Group: uint8(pick(s, 16, 16, 16, 8, 4)), Fixed: s.chance(80)}
		if s.chance(10) {
			p.Stage1 = drawStage(s, f)
		}
		return
	}
	if s.chance(50) {
		return
	}
	p.Stage0 = drawStage(s, f)
	if s.chance(40) {
		p.Stage1 = drawStage(s, f)
	}
}

func drawStage(s sampler, f Formats) Stage {
	st := Stage{Sum: pick(s, Fused, Fused, Fused, Sequential, Pairwise, PairHalves)}
	if s.chance(60) {
		st.Group = pick[uint8](s, 2, 2, 4, 8)
	}
	if s.chance(5) {
		st.Group = uint8(s.between(2, 16))
	}
	if st.Group != 0 && s.chance(40) {
		st.Split = Interleaved
	}
	if s.chance(70) {
		st.Align = drawAlign(s, f)
	}
	if s.chance(3) {
		st.Fixed = true
		return st
	}
	if st.Align.F == 0 || s.chance(20) {
		st.Round = drawRound(s, f.D)
	}
	return st
}

// drawWidth draws a number of fraction bits.
func drawWidth(s sampler) Frac {
	if s.chance(3) {
		return Frac(s.between(1, MaxFrac))
	}
	return Frac(s.between(5, 40))
}

func drawAlign(s sampler, f Formats) Align {
	a := Align{F: drawWidth(s), Mode: drawMode(s)}
	if s.chance(20) {
		a.Floor = drawFloor(s, f)
	}
	return a
}

// drawFloor draws a lower bound of an alignment: about the smallest exponent of
// D's format or of FP32, or of the products.
func drawFloor(s sampler, f Formats) Exp {
	d := int(f.D.Get().Emin())
	if s.chance(50) {
		d = min(d, int(fp.FP32.Get().Emin()))
	}
	if s.chance(20) {
		d = int(f.A.Get().Emin() + f.B.Get().Emin())
	}
	e := d - s.between(-4, 16)
	if e == 0 {
		return -1
	}
	return Exp(e)
}

// drawMode favours truncation, as hardware does.
func drawMode(s sampler) fp.Mode {
	return pick(s, fp.RZ, fp.RZ, fp.RZ, fp.RD, fp.RD, fp.RNE, fp.RNE, fp.RU, fp.RNA, fp.RTO)
}

// wide returns FP32, or D's format if that is wider.
func wide(d fp.ID) fp.ID {
	if d == fp.FP64 {
		return d
	}
	return fp.FP32
}

// drawRound draws a rounding to FP32 (FP64 where D is), sometimes to a narrower
// format, or to a width of its own.
func drawRound(s sampler, d fp.ID) Round {
	id := wide(d)
	if s.chance(10) {
		id = pick(s, d, fp.FP16, fp.BF16)
	}
	r := To(id, drawMode(s))
	if s.chance(30) {
		r.Frac = drawWidth(s)
	}
	drawEnds(s, 20, &r)
	if s.chance(3) {
		r.Emax, r.Over = 0, OverInf
	}
	if s.chance(3) {
		r.Emin, r.Flush = 0, NoFlush
	}
	return r
}

// drawEnds draws what happens at the ends of a rounding's range.
func drawEnds(s sampler, percent int, r *Round) {
	if s.chance(percent) {
		r.Flush = pick(s, FlushBefore, FlushAfter, FlushResult)
	}
	if s.chance(percent) {
		r.Over = pick(s, OverIEEE, OverMax)
	}
}

func drawJoin(s sampler, f Formats, p *Params) {
	if s.chance(75) {
		p.Join.Align = drawAlign(s, f)
	}
	if s.chance(5) || p.Join.Align.F != 0 && s.chance(20) {
		p.Join.CF, p.Join.CMode = drawWidth(s), drawMode(s)
	}
	if p.Join.Align.F != 0 && s.chance(10) {
		p.Join.CMode = drawMode(s)
	}
	if s.chance(10) {
		p.Join.CDrop = Frac(s.between(10, 39))
	}
	if s.chance(20) {
		p.Join.Post = Round{Frac: Frac(s.between(24, 39)), Mode: drawMode(s), Emin: Exp(wide(f.D).Get().Emin())}
		if s.chance(20) {
			p.Join.Post = drawRound(s, f.D)
		}
	}
}

func drawResult(s sampler, f Formats, p *Params) {
	drawEnds(s, 15, &p.Acc)
	if s.chance(10) && p.Acc.Frac > 13 {
		p.Acc.Frac = 13
	}
	if s.chance(3) {
		p.Acc.Frac = Frac(s.between(1, int(p.Acc.Frac)))
	}
	if s.chance(25) {
		p.Start = pick(s, StartZero, StartEmpty)
	}
	if p.LateAdds(f) {
		p.Late = To(f.D, drawMode(s))
		drawEnds(s, 10, &p.Late)
	}
	if s.chance(10) && f.D == fp.FP16 || s.chance(4) {
		p.Out = To(f.D, pick(s, fp.RNE, drawMode(s)))
		drawEnds(s, 10, &p.Out)
		p.Acc = drawAccumulator(s, f.D)
		if p.LateAdds(f) && s.chance(50) {
			p.Late = p.Acc
		}
	}
}

// drawAccumulator draws the rounding of accumulators that are wider than D: to FP32 or
// FP64, or to a width of its own, with or without ends of its range.
func drawAccumulator(s sampler, d fp.ID) Round {
	id := wide(d)
	if s.chance(40) {
		id = fp.FP64
	}
	r := To(id, drawMode(s))
	if s.chance(30) {
		r.Frac = Frac(s.between(int(d.Get().FracBits), 63))
	}
	if s.chance(20) {
		r.Emin, r.Emax = 0, 0
	}
	return r
}
