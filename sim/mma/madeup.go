package mma

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// MadeUp returns the made-up unit of a seed: formats, K and a parameter program
// drawn from a distribution over nearly everything that Params can say. The
// result is valid. The distribution is this file: the order of draws and the
// weights are part of it, so that a seed means the same unit for as long as
// Params does.
func MadeUp(seed uint64) Instruction {
	r := rand.New(rand.NewPCG(seed, 0x6d61_6465_7570))
	for {
		i := drawUnit(sampler{r})
		if i.Params.Validate(i.Formats, i.K) == nil {
			return i
		}
	}
}

// sampler draws with the weights of this distribution.
type sampler struct{ *rand.Rand }

func (s sampler) chance(percent int) bool { return s.IntN(100) < percent }

func pick[T any](s sampler, of ...T) T { return of[s.IntN(len(of))] }

func drawUnit(s sampler) Instruction {
	i := Instruction{Arch: "made-up", Name: "unit"}
	i.Formats, i.K = drawFormats(s)
	i.Params = drawParams(s, i.Formats, i.K)
	if i.A.Width() == 1 && i.Scale == fp.None && s.chance(30) {
		i.Down = uint8(s.IntN(MaxDown + 1))
	}
	return i
}

// drawFormats draws operand formats with their usual accumulators, and K.
func drawFormats(s sampler) (Formats, int) {
	k := pick(s, 4, 4, 8, 8, 16, 16, 32)
	switch s.IntN(10) {
	case 0, 1, 2:
		return Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, k
	case 3:
		return Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}, k
	case 4, 5:
		return Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, k
	case 6:
		return Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}, pick(s, 4, 8)
	case 7:
		return Formats{A: fp.E4M3, B: pick(s, fp.E4M3, fp.E5M2), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	case 8:
		return Formats{A: fp.E5M2FNUZ, B: pick(s, fp.E4M3FNUZ, fp.E5M2FNUZ), C: fp.FP32, D: fp.FP32}, pick(s, 16, 32)
	}
	if s.chance(50) {
		return Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: pick(s, fp.E8M0, fp.UE4M3), Block: 16}, 32
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
	if s.chance(25) {
		p.Order = Order(s.IntN(len(orderNames)))
	}
	if s.chance(15) {
		p.Lanes = 2
	}
	drawInput(s, f, &p)
	drawStages(s, f, k, &p)
	drawJoin(s, &p)
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
	if s.chance(20) {
		p.Prod.Exp = pick(s, OperandSum, Normalised)
	}
	switch {
	case s.chance(10):
		p.Prod.Round = drawRound(s, fp.FP32)
	case s.chance(10):
		p.Prod.Round = Round{Emax: 127}
	}
	if f.A == fp.E4M3 && s.chance(20) {
		p.In.Widen = fp.FP16
	}
}

// drawStages draws up to two stages of groups.
func drawStages(s sampler, f Formats, k int, p *Params) {
	if f.Scale != fp.None && s.chance(50) {
		p.Scale = ScaleGroup
		p.Order, p.Lanes, p.L = Ascending, 0, 0
		p.Stage0 = Stage{Sum: Fused, Group: 16, Fixed: s.chance(80)}
		return
	}
	if s.chance(50) {
		return
	}
	p.Stage0 = drawStage(s)
	if s.chance(40) {
		p.Stage1 = drawStage(s)
	}
}

func drawStage(s sampler) Stage {
	st := Stage{Sum: pick(s, Fused, Fused, Fused, Sequential, Pairwise, PairHalves)}
	if s.chance(60) {
		st.Group = pick(s, uint8(2), 2, 4, 8)
	}
	if st.Group != 0 && s.chance(40) {
		st.Split = Interleaved
	}
	if s.chance(70) {
		st.Align = drawAlign(s)
	}
	if st.Align.F == 0 || s.chance(20) {
		st.Round = drawRound(s, fp.FP32)
	}
	return st
}

func drawAlign(s sampler) Align {
	a := Align{F: Frac(5 + s.IntN(36)), Mode: drawMode(s)}
	if s.chance(20) {
		a.Floor = Exp(-130 - s.IntN(12))
	}
	return a
}

// drawMode favours truncation, as hardware does.
func drawMode(s sampler) fp.Mode {
	return pick(s, fp.RZ, fp.RZ, fp.RZ, fp.RD, fp.RD, fp.RNE, fp.RNE, fp.RU, fp.RNA, fp.RTO)
}

// drawRound draws a rounding to a format, or to a width of its own.
func drawRound(s sampler, id fp.ID) Round {
	r := To(id, drawMode(s))
	if s.chance(30) {
		r.Frac = Frac(5 + s.IntN(36))
	}
	if s.chance(20) {
		r.Flush = pick(s, FlushBefore, FlushAfter, FlushResult)
	}
	if s.chance(20) {
		r.Over = pick(s, OverIEEE, OverMax)
	}
	return r
}

func drawJoin(s sampler, p *Params) {
	if s.chance(75) {
		p.Join.Align = drawAlign(s)
	}
	if p.Join.Align.F != 0 && s.chance(25) {
		p.Join.CF, p.Join.CMode = Frac(5+s.IntN(36)), drawMode(s)
	}
	if s.chance(10) {
		p.Join.CDrop = Frac(10 + s.IntN(30))
	}
	if s.chance(20) {
		p.Join.Post = Round{Frac: Frac(24 + s.IntN(16)), Mode: drawMode(s), Emin: -126}
	}
}

func drawResult(s sampler, f Formats, p *Params) {
	if s.chance(15) {
		p.Acc.Flush = pick(s, FlushBefore, FlushAfter, FlushResult)
	}
	if s.chance(15) {
		p.Acc.Over = pick(s, OverIEEE, OverMax)
	}
	if s.chance(10) && p.Acc.Frac > 13 {
		p.Acc.Frac = 13
	}
	if s.chance(25) {
		p.Start = pick(s, StartZero, StartEmpty)
	}
	if p.lateAdds(f) {
		p.Late = To(f.D, drawMode(s))
	}
	if s.chance(10) && f.D == fp.FP16 {
		p.Out = To(fp.FP16, fp.RNE)
		p.Acc = To(fp.FP32, drawMode(s))
	}
}
