package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// slotMoves moves, copies and exchanges widths between slots.
func slotMoves(h *hypothesis, e emit) {
	all := h.slots()
	for i, s := range all {
		f, m := s.get(&h.p)
		if f == 0 {
			continue
		}
		for j, t := range all {
			if i == j {
				continue
			}
			g, n := t.get(&h.p)
			e(func(p *mma.Params) { t.set(p, f, m) })
			e(func(p *mma.Params) { t.set(p, f, m); s.set(p, 0, 0) })
			e(func(p *mma.Params) { t.set(p, f, m); s.set(p, g, n) })
		}
	}
}

// shiftMoves moves whole parts from one place to another: what one sum does may
// be the work of another.
func shiftMoves(h *hypothesis, e emit) {
	roundShifts(h, e)
	alignShifts(h, e)
	stageShifts(h, e)
	stepsOfStages(h, e)
	stagesOfSteps(h, e)
	lanesOfStages(h, e)
}

func roundShifts(h *hypothesis, e emit) {
	for i := range roundPlaces {
		s := &roundPlaces[i]
		r := *s.at(&h.p)
		if r == (mma.Round{}) {
			continue
		}
		for j := range roundPlaces {
			t := &roundPlaces[j]
			if i == j || !t.used(h) {
				continue
			}
			e(func(p *mma.Params) { *t.at(p) = r })
			e(func(p *mma.Params) { *s.at(p), *t.at(p) = *t.at(p), r })
			e(func(p *mma.Params) { *s.at(p), *t.at(p) = mma.Round{}, r })
			e(func(p *mma.Params) { t.at(p).Flush, s.at(p).Flush = r.Flush, mma.NoFlush })
			e(func(p *mma.Params) { t.at(p).Over, s.at(p).Over = r.Over, mma.OverInf })
		}
		for sum := mma.Fused; sum <= mma.PairHalves; sum++ {
			n := mma.Stage{Sum: sum, Round: r}
			e(func(p *mma.Params) { h.newStage(p, n) })
			e(func(p *mma.Params) { h.newStage(p, n); *s.at(p) = mma.Round{} })
		}
	}
}

// newStage adds a stage where one is free.
func (h *hypothesis) newStage(p *mma.Params, s mma.Stage) {
	switch mma.Off {
	case h.p.Stage0.Sum:
		p.Stage0 = s
	case h.p.Stage1.Sum:
		p.Stage1 = s
	}
}

func alignShifts(h *hypothesis, e emit) {
	for i := range alignPlaces {
		s := &alignPlaces[i]
		a := *s.at(&h.p)
		for j := range alignPlaces {
			t := &alignPlaces[j]
			if i == j || !t.used(h) {
				continue
			}
			e(func(p *mma.Params) { *t.at(p) = a })
			e(func(p *mma.Params) { *s.at(p), *t.at(p) = *t.at(p), a })
			e(func(p *mma.Params) { *s.at(p), *t.at(p) = mma.Align{}, a })
		}
	}
	j := h.p.Join
	e(func(p *mma.Params) {
		p.Join.CF, p.Join.CMode, p.Join.Align = j.Align.F, j.Align.Mode, mma.Align{}
	})
	e(func(p *mma.Params) {
		p.Join.Align.F, p.Join.Align.Mode, p.Join.CF, p.Join.CMode = j.CF, j.CMode, j.Align.F, j.Align.Mode
	})
	e(func(p *mma.Params) {
		p.Join.Align.F, p.Join.Align.Mode, p.Join.CF, p.Join.CMode = j.CF, j.CMode, 0, 0
	})
}

// stageShifts makes stages of the last sum and the other way round.
func stageShifts(h *hypothesis, e emit) {
	j, s, t := h.p.Join, h.p.Stage0, h.p.Stage1
	e(func(p *mma.Params) { p.Stage0, p.Stage1 = t, s })
	if s.Sum == mma.Off {
		apart := mma.Stage{Sum: mma.Fused, Align: j.Align}
		e(func(p *mma.Params) { p.Stage0 = apart })
		e(func(p *mma.Params) { p.Stage0, p.Join.Align = apart, mma.Align{} })
		return
	}
	last := s
	if t.Sum != mma.Off {
		last = t
	}
	joined := func(p *mma.Params) {
		if t.Sum != mma.Off {
			p.Stage1 = mma.Stage{}
		} else {
			p.Stage0 = mma.Stage{}
		}
		p.Join.Align = last.Align
	}
	e(joined)
	e(func(p *mma.Params) { joined(p); p.Join.CF, p.Join.CMode = j.Align.F, j.Align.Mode })
	if t.Sum == mma.Off {
		e(func(p *mma.Params) {
			p.Stage1, p.Stage0.Group, p.Stage0.Split = mma.Stage{Sum: mma.Fused, Align: s.Align}, 2, mma.Adjacent
		})
	}
}

// stepsOfStages makes steps of groups: a stage whose sums are added to c looks
// like steps to whose last sum c is added.
func stepsOfStages(h *hypothesis, e emit) {
	s := h.p.Stage0
	if s.Sum == mma.Off {
		return
	}
	for x := mma.StartC; x <= mma.StartEmpty; x++ {
		steps := func(p *mma.Params) {
			p.L, p.Start = s.Group, x
			if s.Sum != mma.Fused {
				p.L = 1
			}
			p.Join = mma.Join{Align: s.Align}
			p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{}
			h.fixLate(p, fp.RNE)
			if h.lateAdds(p) {
				p.Late = h.p.Acc
			}
		}
		e(func(p *mma.Params) { steps(p); p.Join.Post = s.Round })
		e(func(p *mma.Params) {
			steps(p)
			if s.Round.Frac != 0 {
				p.Acc.Frac, p.Acc.Mode = min(s.Round.Frac, p.Acc.Frac), s.Round.Mode
			}
		})
	}
}

// stagesOfSteps makes groups of steps, the other way round: c is added to all sums at
// once instead of to one after the other. What a second stage did with the sum of a
// step it does with that of each group.
func stagesOfSteps(h *hypothesis, e emit) {
	l := h.p.L
	terms := (h.k + max(int(h.p.Lanes), 1) - 1) / max(int(h.p.Lanes), 1)
	if l == 0 || int(l) >= terms {
		return
	}
	for n := 2 * int(l); ; n *= 2 {
		steps := func(p *mma.Params) {
			p.L = uint8(n)
			if n >= terms {
				p.L = 0
			}
			if p.Stage0.Sum == mma.Off {
				p.Stage0 = mma.Stage{Sum: mma.Fused, Align: p.Join.Align}
			}
			if p.Stage0.Group == 0 {
				p.Stage0.Group = l
			}
		}
		e(steps)
		e(func(p *mma.Params) { steps(p); p.Join.Align = mma.Align{} })
		e(func(p *mma.Params) { steps(p); p.Stage0.Round = h.p.Acc })
		if h.p.Stage1.Sum != mma.Off && h.p.Stage1.Group == 0 {
			e(func(p *mma.Params) {
				steps(p)
				p.Stage1.Split, p.Stage1.Group = mma.Interleaved, uint8((min(n, terms)+int(l)-1)/int(l))
			})
		}
		if n >= terms {
			return
		}
	}
}

// lanesOfStages makes lanes of interleaved groups.
func lanesOfStages(h *hypothesis, e emit) {
	s, t, j := h.p.Stage0, h.p.Stage1, h.p.Join
	if s.Sum == mma.Off || s.Split != mma.Interleaved {
		return
	}
	for _, start := range []mma.Start{mma.StartC, mma.StartEmpty} {
		for _, m := range []fp.Mode{t.Round.Mode, h.p.Acc.Mode, j.Post.Mode} {
			lanes := func(p *mma.Params) {
				p.Lanes, p.L, p.Start = s.Group, 0, start
				p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{}
				p.Late = mma.To(h.D, max(m, fp.RNE))
			}
			inside := s
			inside.Group, inside.Split = 0, mma.Adjacent
			e(func(p *mma.Params) { lanes(p); p.Stage0 = inside })
			e(func(p *mma.Params) { lanes(p); p.Stage0, p.Join.Align = inside, t.Align })
			e(func(p *mma.Params) { lanes(p); p.Join.Align = s.Align })
		}
	}
}
