// Package madeup draws units at random, which tests infer, compare and prove: formats, K and
// a parameter program from a distribution over everything that mma.Params can say, except for
// Join.CLost. The distribution is the files of this package: the order of draws and the
// weights are part of it, so that a seed means the same unit for as long as Version does.
//
// One unit in eight, named mutant, is an arithmetic of the catalogue of which up to two parts
// are drawn anew. Those that are drawn are the ones of arithmetics.txt, each with a positive
// probability: the catalogue's when Version was made. A new row of the catalogue changes no
// unit.
package madeup

import (
	_ "embed" // arithmetics.txt
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Version is the version of the distribution that Unit draws from. It changes when a seed no
// longer means the same unit.
const Version = 7

// stream is the stream of random numbers that units are drawn from: that of version 3, so
// that most seeds still mean the same unit.
const stream = 0x6d61_6465_7570 + 3

// Unit returns the made-up unit of a seed. The result is valid.
func Unit(seed uint64) mma.Instruction {
	r := rand.New(rand.NewPCG(seed, stream))
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

// drawnAlone are parameters that a search sets alone and that units have all the same.
var drawnAlone = []string{"prod.zeros", "prod.gate", "join.cnorm", "join.cbeside"}

// Newer reports whether a parameter is newer than the distribution, so that no unit has it: a
// new one is set alone until another Version draws it.
func Newer(f mma.Field) bool {
	return f.Path == "prod.shift" || f.Alone != "" && !slices.Contains(drawnAlone, f.Path)
}

// sampler draws with the weights of this distribution.
type sampler struct{ *rand.Rand }

func (s sampler) chance(percent int) bool { return s.IntN(100) < percent }

// between returns a number in lo..hi.
func (s sampler) between(lo, hi int) int { return lo + s.IntN(hi-lo+1) }

func pick[T any](s sampler, of ...T) T { return of[s.IntN(len(of))] }

func drawUnit(s sampler) mma.Instruction {
	i := mma.Instruction{Arch: "made-up", Name: "unit"}
	if s.IntN(8) == 0 {
		i.Name = "mutant"
		known := pick(s, Arithmetics()...)
		i.Formats, i.K, i.Params = known.Formats, known.K, known.Params
		for range s.IntN(3) {
			redraw(s, &i)
		}
		return i
	}
	i.Formats, i.K = drawFormats(s)
	i.Params = drawParams(s, i.Formats, i.K)
	if i.A.Width() == 1 && i.Scale == fp.None && s.chance(30) {
		i.Down = uint8(s.IntN(128))
	}
	return i
}

//go:embed arithmetics.txt
var arithmetics string

// Arithmetics returns the arithmetics of the catalogue that mutants are drawn from.
var Arithmetics = sync.OnceValue(func() []mma.Instruction {
	var all []mma.Instruction
	for name := range strings.Lines(arithmetics) {
		arch, inst, _ := strings.Cut(strings.TrimSpace(name), "/")
		i, err := mma.Lookup(arch, inst)
		if err != nil {
			panic("madeup: arithmetics.txt: " + err.Error()) // a row of the catalogue has gone
		}
		all = append(all, *i)
	}
	return all
})

// redraw draws one part of a program anew.
func redraw(s sampler, i *mma.Instruction) {
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
func drawFormats(s sampler) (f mma.Formats, k int) {
	k = pick(s, 4, 4, 8, 8, 16, 16, 32)
	if s.chance(5) {
		k = s.between(1, 32)
	}
	switch s.IntN(12) {
	case 0, 1, 2:
		f = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	case 3:
		f = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
	case 4, 5:
		f = mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	case 6:
		tf32 := pick(s, fp.TF32, fp.TF32, fp.XF32)
		f, k = mma.Formats{A: tf32, B: tf32, C: fp.FP32, D: fp.FP32}, pick(s, 4, 8)
	case 7:
		f, k = mma.Formats{A: fp.E4M3, B: pick(s, fp.E4M3, fp.E5M2), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	case 8:
		f, k = mma.Formats{A: fp.E5M2FNUZ, B: pick(s, fp.E4M3FNUZ, fp.E5M2FNUZ), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	case 9:
		wide := pick(s, fp.FP32, fp.FP32, fp.FP64)
		f, k = mma.Formats{A: wide, B: wide, C: wide, D: wide}, pick(s, 1, 2, 4, 8)
	case 10:
		narrow := func() fp.ID { return pick(s, fp.E4M3, fp.E5M2, fp.E3M2, fp.E2M3, fp.E2M1) }
		d := pick(s, fp.FP32, fp.FP16)
		f, k = mma.Formats{A: narrow(), B: narrow(), C: d, D: d}, pick(s, 16, 32)
	default:
		f, k = drawScaled(s)
	}
	if s.chance(5) {
		f.C = fp.None
	}
	return f, k
}

// drawScaled draws formats with block scales.
func drawScaled(s sampler) (mma.Formats, int) {
	if s.chance(50) {
		return mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: pick(s, fp.E8M0, fp.UE4M3), Block: 16}, pick(s, 32, 32, 64)
	}
	return mma.Formats{A: fp.E5M2, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}, 32
}

func drawParams(s sampler, f mma.Formats, k int) mma.Params {
	p := mma.Params{
		L:     pick[uint8](s, 0, 0, 1, 2, 4, 8, 16),
		Order: mma.Ascending,
		Acc:   mma.To(f.D, pick(s, fp.RNE, fp.RNE, fp.RZ, fp.RZ, fp.RD, fp.RU, fp.RNA, fp.RTO)),
		Special: mma.Special{
			NaN:     pick(s, mma.NaNOnes, mma.NaNQuiet, mma.NaNQuietNeg, mma.NaNFirst),
			NegZero: s.chance(50), TinySign: s.chance(50),
		},
	}
	if s.chance(5) {
		p.L = uint8(s.between(1, k))
	}
	if s.chance(25) {
		p.Order = mma.Order(s.IntN(int(mma.Halves) + 1))
	}
	if s.chance(15) {
		p.Lanes = pick[uint8](s, 2, 2, 2, 3, 4, 8)
	}
	drawInput(s, f, &p)
	drawStages(s, f, k, &p)
	drawJoin(s, f, &p)
	drawResult(s, f, &p)
	if s.chance(15) {
		p.Special.NaN = pick(s, mma.NaNSignal, mma.NaNMulAdd, mma.NaNLarger)
	}
	p.Special.CLeft = p.Start != mma.StartC && p.Special.OperandNaN() && s.chance(30)
	return p
}

func drawInput(s sampler, f mma.Formats, p *mma.Params) {
	if s.chance(20) {
		p.In.Sub = pick(s, mma.FlushSign, mma.FlushPlus)
	}
	if s.chance(20) {
		p.In.C = pick(s, mma.FlushSign, mma.FlushPlus)
		p.In.Acc = p.In.C
	}
	if s.chance(10) {
		p.In.Acc = pick(s, mma.KeepSub, mma.FlushSign, mma.FlushPlus)
	}
	if s.chance(20) {
		p.Prod.Exp = pick(s, mma.OperandSum, mma.Normalised)
	}
	switch {
	case s.chance(10):
		p.Prod.Round = drawRound(s, f.D)
	case s.chance(10):
		p.Prod.Round = mma.Round{Emax: mma.Exp(pick(s, fp.FP32, fp.FP32, f.D).Get().Emax())}
	}
	if s.chance(10) {
		p.In.Widen = pick(s, fp.FP16, fp.BF16, fp.FP32, fp.FP64)
		if wide := p.In.Widen.Get(); !holds(wide, f.A.Get()) || !holds(wide, f.B.Get()) {
			p.In.Widen = fp.None
		}
	}
}

// holds reports whether every finite number of a format is one of the wider format.
func holds(wide, f *fp.Format) bool {
	return f.Emax() <= wide.Emax() && f.FracBits <= wide.FracBits && f.Emin()-int32(f.FracBits) >= wide.Emin()-int32(wide.FracBits)
}

// drawStages draws up to two stages of groups.
func drawStages(s sampler, f mma.Formats, k int, p *mma.Params) {
	if f.Scale != fp.None && s.chance(50) {
		p.Scale = mma.ScaleGroup
		p.Order, p.Lanes, p.L = mma.Ascending, 0, 0
		p.Stage0 = mma.Stage{Sum: mma.Fused, Group: uint8(pick(s, 16, 16, 16, 8, 4)), Fixed: s.chance(80)}
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

func drawStage(s sampler, f mma.Formats) mma.Stage {
	st := mma.Stage{Sum: pick(s, mma.Fused, mma.Fused, mma.Fused, mma.Sequential, mma.Pairwise, mma.PairHalves)}
	if s.chance(60) {
		st.Group = pick[uint8](s, 2, 2, 4, 8)
	}
	if s.chance(5) {
		st.Group = uint8(s.between(2, 16))
	}
	if st.Group != 0 && s.chance(40) {
		st.Split = mma.Interleaved
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
func drawWidth(s sampler) mma.Frac {
	if s.chance(3) {
		return mma.Frac(s.between(1, mma.MaxFrac))
	}
	return mma.Frac(s.between(5, 40))
}

func drawAlign(s sampler, f mma.Formats) mma.Align {
	a := mma.Align{F: drawWidth(s), Mode: drawMode(s)}
	if s.chance(20) {
		a.Floor = drawFloor(s, f)
	}
	return a
}

// drawFloor draws a lower bound of an alignment: about the smallest exponent of
// D's format or of FP32, or of the products.
func drawFloor(s sampler, f mma.Formats) mma.Exp {
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
	return mma.Exp(e)
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
func drawRound(s sampler, d fp.ID) mma.Round {
	id := wide(d)
	if s.chance(10) {
		id = pick(s, d, fp.FP16, fp.BF16)
	}
	r := mma.To(id, drawMode(s))
	if s.chance(30) {
		r.Frac = drawWidth(s)
	}
	drawEnds(s, 20, &r)
	if s.chance(3) {
		r.Emax, r.Over = 0, mma.OverInf
	}
	if s.chance(3) {
		r.Emin, r.Flush = 0, mma.NoFlush
	}
	return r
}

// drawEnds draws what happens at the ends of a rounding's range.
func drawEnds(s sampler, percent int, r *mma.Round) {
	if s.chance(percent) {
		r.Flush = pick(s, mma.FlushBefore, mma.FlushAfter, mma.FlushResult)
	}
	if s.chance(percent) {
		r.Over = pick(s, mma.OverIEEE, mma.OverMax)
	}
}

func drawJoin(s sampler, f mma.Formats, p *mma.Params) {
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
		p.Join.CDrop = mma.Frac(s.between(10, 39))
	}
	if s.chance(20) {
		p.Join.Post = mma.Round{Frac: mma.Frac(s.between(24, 39)), Mode: drawMode(s), Emin: mma.Exp(wide(f.D).Get().Emin())}
		if s.chance(20) {
			p.Join.Post = drawRound(s, f.D)
		}
	}
}

func drawResult(s sampler, f mma.Formats, p *mma.Params) {
	drawEnds(s, 15, &p.Acc)
	if s.chance(10) && p.Acc.Frac > 13 {
		p.Acc.Frac = 13
	}
	if s.chance(3) {
		p.Acc.Frac = mma.Frac(s.between(1, int(p.Acc.Frac)))
	}
	if s.chance(25) {
		p.Start = pick(s, mma.StartZero, mma.StartEmpty)
	}
	if p.LateAdds(f) {
		p.Late = mma.To(f.D, drawMode(s))
		drawEnds(s, 10, &p.Late)
	}
	if s.chance(10) && f.D == fp.FP16 || s.chance(4) {
		p.Out = mma.To(f.D, pick(s, fp.RNE, drawMode(s)))
		drawEnds(s, 10, &p.Out)
		p.Acc = drawAccumulator(s, f.D)
		if p.LateAdds(f) && s.chance(50) {
			p.Late = p.Acc
		}
	}
}

// drawAccumulator draws the rounding of accumulators that are wider than D: to FP32 or
// FP64, or to a width of its own, with or without ends of its range.
func drawAccumulator(s sampler, d fp.ID) mma.Round {
	id := wide(d)
	if s.chance(40) {
		id = fp.FP64
	}
	r := mma.To(id, drawMode(s))
	if s.chance(30) {
		r.Frac = mma.Frac(s.between(int(d.Get().FracBits), 63))
	}
	if s.chance(20) {
		r.Emin, r.Emax = 0, 0
	}
	return r
}
