package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A topic is a part of the program and the ways of changing it. Moves are wider
// than the knobs of package triage: a knob is a decision that a designer may have
// made otherwise, a move is a step of a search that knows little yet.
type topic struct {
	name string
	many bool // only several terms can show it
	make func(h *hypothesis, e emit)
}

// emit takes in a changed program.
type emit func(change func(p *mma.Params))

var topics = []topic{
	{"in", false, inputMoves},
	{"product exponent", false, exponentMoves},
	{"zeros", false, zeroMoves},
	{"nan", false, nanMoves},
	{"prod.round", false, roundMoves(0)},
	{"stage0.round", false, roundMoves(1)},
	{"stage1.round", false, roundMoves(2)},
	{"join.post", false, roundMoves(3)},
	{"acc", false, roundMoves(4)},
	{"late", false, roundMoves(5)},
	{"out", false, outMoves},
	{"stage0.align", false, alignMoves(0)},
	{"stage1.align", false, alignMoves(1)},
	{"join.align", false, alignMoves(2)},
	{"c cut", false, cutMoves},
	{"start", false, startMoves},
	{"slots", false, slotMoves},
	{"shifts", false, shiftMoves},
	{"scales", false, scaleMoves},
	{"steps", true, stepMoves},
	{"stages", true, stageMoves},
}

// single are the topics that single terms can show.
var single = func() []topic {
	var ts []topic
	for _, t := range topics {
		if !t.many {
			ts = append(ts, t)
		}
	}
	return ts
}()

// wide are the topics that are tried where the others have not helped: there are too
// many programs in them to try these at every step.
var wide = []topic{
	{"new stages", true, newStages},
	{"shapes", true, shapeMoves},
}

// neighbours returns every valid program that one move of some topics makes of p,
// without duplicates, and the number of programs up to the end of each topic.
func (sp *space) neighbours(p *mma.Params, ts []topic) (all []mma.Params, ends []int) {
	h := &hypothesis{sp, *p}
	seen := map[mma.Params]bool{*p: true}
	for i := range ts {
		ts[i].make(h, func(change func(p *mma.Params)) {
			q := *p
			change(&q)
			if !seen[q] && sp.valid(&q) {
				seen[q] = true
				all = append(all, q)
			}
		})
		ends = append(ends, len(all))
	}
	return all, ends
}

func inputMoves(h *hypothesis, e emit) {
	for x := mma.KeepSub; x <= mma.FlushPlus; x++ {
		e(func(p *mma.Params) { p.In.Sub = x })
		for y := mma.KeepSub; y <= mma.FlushPlus; y++ {
			e(func(p *mma.Params) { p.In.C, p.In.Acc = x, y })
		}
	}
	for _, id := range []fp.ID{fp.None, fp.FP16, fp.BF16, fp.FP32, fp.FP64} {
		e(func(p *mma.Params) { p.In.Widen = id })
	}
}

func exponentMoves(h *hypothesis, e emit) {
	for x := mma.FieldSum; x <= mma.Normalised; x++ {
		e(func(p *mma.Params) { p.Prod.Exp = x })
	}
}

// zeroMoves proposes every combination of what decides the signs of zeros: the
// parts show together or not at all.
func zeroMoves(h *hypothesis, e emit) {
	starts := []mma.Start{h.p.Start}
	switch {
	case h.C == fp.None:
		starts = []mma.Start{mma.StartC, mma.StartZero, mma.StartEmpty}
	case h.p.Start != mma.StartC:
		starts = []mma.Start{mma.StartZero, mma.StartEmpty}
	}
	for _, start := range starts {
		for n := range 3 * 3 * 3 * 4 {
			e(func(p *mma.Params) {
				p.Start = start
				p.In.Sub, p.In.C, p.In.Acc = mma.InFlush(n%3), mma.InFlush(n/3%3), mma.InFlush(n/9%3)
				p.Special.NegZero, p.Special.TinySign = n/27%2 != 0, n/54 != 0
				h.fixLate(p, fp.RNE)
			})
		}
	}
}

func nanMoves(h *hypothesis, e emit) {
	for rule := mma.NaNOnes; rule <= mma.NaNLarger; rule++ {
		for _, left := range []bool{false, true} {
			e(func(p *mma.Params) { p.Special.NaN, p.Special.CLeft = rule, left })
		}
	}
}

// modes of rounding, in the order of the hardware's habits.
var modes = []fp.Mode{fp.RZ, fp.RNE, fp.RD, fp.RU, fp.RNA, fp.RTO}

// usual returns the modes that are tried with every width: the present one and the
// most common. The others are tried with the widths that seem best (remoded).
func usual(now fp.Mode) []fp.Mode {
	if now == 0 || now == fp.RZ || now == fp.RNE {
		return modes[:2]
	}
	return []fp.Mode{fp.RZ, fp.RNE, now}
}

// remoded returns the program q with other modes at the places where its width is
// another than p's.
func (sp *space) remoded(p, q *mma.Params) []mma.Params {
	h := &hypothesis{sp, *q}
	var all []mma.Params
	for _, s := range h.slots() {
		was, _ := s.get(p)
		f, now := s.get(q)
		if f == was || f == 0 {
			continue
		}
		for _, m := range modes {
			other := *q
			if s.set(&other, f, m); m != now && sp.valid(&other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// roundMoves proposes widths, modes, ends and absence for a place of a Round.
func roundMoves(place int) func(h *hypothesis, e emit) {
	pl := &roundPlaces[place]
	return func(h *hypothesis, e emit) {
		if !pl.used(h) {
			return
		}
		now := *pl.at(&h.p)
		base := now
		if base.Frac == 0 {
			base = mma.To(h.inner(), fp.RZ)
		}
		for frac := range h.most(pl) {
			ms := usual(now.Mode)
			if frac+1 == now.Frac {
				ms = modes
			}
			for _, m := range ms {
				e(func(p *mma.Params) {
					*pl.at(p) = base
					pl.at(p).Frac, pl.at(p).Mode = frac+1, m
				})
			}
		}
		if !pl.last {
			absentMoves(pl, e)
		}
		if now.Frac != 0 {
			endMoves(pl, e)
		}
	}
}

// absentMoves proposes no rounding, or none but an overflow.
func absentMoves(pl *roundPlace, e emit) {
	e(func(p *mma.Params) { *pl.at(p) = mma.Round{} })
	for _, id := range []fp.ID{fp.FP16, fp.FP32, fp.FP64} {
		e(func(p *mma.Params) { *pl.at(p) = mma.Round{Emax: mma.Exp(id.Get().Emax())} })
	}
}

// endMoves proposes what happens at the ends of a rounding's range, with every
// mode, and other ranges: those of formats, and a little wider and narrower ones. What
// is not valid is dropped by neighbours.
func endMoves(pl *roundPlace, e emit) {
	for _, d := range []mma.Exp{-8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3} {
		for o := mma.OverInf; o <= mma.OverMax; o++ {
			e(func(p *mma.Params) { pl.at(p).Emax += d; pl.at(p).Over = o })
		}
		e(func(p *mma.Params) { pl.at(p).Emin -= d })
	}
	e(func(p *mma.Params) { pl.at(p).Emin, pl.at(p).Flush = 0, mma.NoFlush })
	e(func(p *mma.Params) { pl.at(p).Emax, pl.at(p).Over = 0, mma.OverInf })
	for _, m := range modes {
		for fl := mma.NoFlush; fl <= mma.FlushResult; fl++ {
			e(func(p *mma.Params) { pl.at(p).Mode, pl.at(p).Flush = m, fl })
		}
		for o := mma.OverInf; o <= mma.OverMax; o++ {
			e(func(p *mma.Params) { pl.at(p).Mode, pl.at(p).Over = m, o })
		}
	}
	for _, id := range []fp.ID{fp.FP16, fp.BF16, fp.FP64} {
		emin, emax := mma.Exp(id.Get().Emin()), mma.Exp(id.Get().Emax())
		e(func(p *mma.Params) { pl.at(p).Emin, pl.at(p).Emax = emin, emax })
		e(func(p *mma.Params) { pl.at(p).Emin = emin })
		e(func(p *mma.Params) { pl.at(p).Emax = emax })
	}
}

// outMoves proposes a last conversion of wider accumulators, or none.
func outMoves(h *hypothesis, e emit) {
	out := func(p *mma.Params) *mma.Round { return &p.Out }
	if h.p.Out != (mma.Round{}) {
		pl := &roundPlace{name: "out", at: out, last: true}
		e(func(p *mma.Params) { p.Acc, p.Out = p.Out, mma.Round{} })
		for frac := range mma.Frac(h.D.Get().FracBits) {
			for _, m := range modes {
				e(func(p *mma.Params) { p.Out.Frac, p.Out.Mode = frac+1, m })
			}
		}
		endMoves(pl, e)
		return
	}
	for _, wide := range []fp.ID{h.inner(), fp.FP64} {
		for _, m := range modes {
			behind := func(p *mma.Params) { p.Out, p.Acc = p.Acc, mma.To(wide, m) }
			before := func(p *mma.Params) { p.Out, p.Acc = mma.To(h.D, m), mma.To(wide, p.Acc.Mode) }
			e(behind)
			e(before)
			if h.lateAdds(&h.p) {
				e(func(p *mma.Params) { behind(p); p.Late = p.Acc })
				e(func(p *mma.Params) { before(p); p.Late = p.Acc })
			}
		}
	}
}

// alignMoves proposes widths, modes and floors for a place of an Align.
func alignMoves(place int) func(h *hypothesis, e emit) {
	pl := &alignPlaces[place]
	return func(h *hypothesis, e emit) {
		if !pl.used(h) {
			return
		}
		now := *pl.at(&h.p)
		e(func(p *mma.Params) { pl.at(p).F, pl.at(p).Mode = 0, 0 })
		for f := range mma.Frac(mma.MaxFrac) {
			ms := usual(now.Mode)
			if f+1 == now.F {
				ms = modes
			}
			for _, m := range ms {
				e(func(p *mma.Params) { pl.at(p).F, pl.at(p).Mode = f+1, m })
			}
		}
		for _, floor := range h.floors(now.Floor) {
			e(func(p *mma.Params) { pl.at(p).Floor = floor })
		}
		if now.Floor == 0 {
			h.fixedPoints(pl, e)
			return
		}
		for d := -30; d <= 30; d++ { // the same last bit
			if f := int(now.F) + d; f > 0 && f <= mma.MaxFrac {
				e(func(p *mma.Params) { pl.at(p).F, pl.at(p).Floor = mma.Frac(f), now.Floor+mma.Exp(d) })
			}
		}
	}
}

// fixedPoints proposes floors above most exponents, so that terms are cut at one
// bit: such a floor and the width show together only.
func (h *hypothesis) fixedPoints(pl *alignPlace, e emit) {
	const width = 30
	for _, bit := range h.floors(0)[1:] {
		for _, m := range usual(0) {
			e(func(p *mma.Params) { *pl.at(p) = mma.Align{F: width, Mode: m, Floor: min(bit, 10) + width} })
		}
	}
}

// floors returns lower bounds of an alignment: none, those about the present one,
// and a grid over all exponents that could make a difference; of FP64 over those near
// the ends and the middle of the range.
func (h *hypothesis) floors(now mma.Exp) []mma.Exp {
	const about = 6
	all := []mma.Exp{0}
	grid := func(lo, hi, step mma.Exp) {
		for f := lo; f <= hi; f += step {
			all = append(all, f)
		}
	}
	if now != 0 {
		grid(now-about, now+about, 1)
	}
	products, results := mma.Exp(h.A.Get().Emin()+h.B.Get().Emin()-int32(h.Down)), mma.Exp(h.D.Get().Emin())
	lo := min(products, results) - 30
	hi := mma.Exp(min(max(h.A.Get().Emax()+h.B.Get().Emax(), 0)+10, 40))
	if hi-lo < 400 {
		grid(lo, hi, 3)
		return all
	}
	for _, e := range []mma.Exp{products, results, 0} {
		grid(e-42, e+39, 3)
	}
	return all
}

// cutMoves proposes ways of cutting the accumulator apart from the other terms.
func cutMoves(h *hypothesis, e emit) {
	e(func(p *mma.Params) { p.Join.CF, p.Join.CMode = 0, 0 })
	now := h.p.Join
	for _, m := range modes {
		e(func(p *mma.Params) { p.Join.CF, p.Join.CMode = 0, m })
		if now.CF != 0 {
			e(func(p *mma.Params) { p.Join.CMode = m })
		}
	}
	for f := range mma.Frac(mma.MaxFrac) {
		for _, m := range usual(now.CMode) {
			e(func(p *mma.Params) { p.Join.CF, p.Join.CMode = f+1, m })
		}
	}
	for f := range mma.Frac(mma.MaxFrac + 1) {
		e(func(p *mma.Params) { p.Join.CDrop = f })
	}
}
