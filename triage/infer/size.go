package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// size is a measure of how much a program says. Of several that explain the same,
// the one of least size is taken.
func (sp *space) size(p *mma.Params) int {
	n := 0
	add := func(weight int, present bool) {
		if present {
			n += weight
		}
	}
	add(2, p.In.Widen != fp.None)
	add(2, p.In.Sub != mma.KeepSub)
	add(2, p.In.C != mma.KeepSub)
	add(2, p.In.Acc != p.In.C)
	add(2, p.Prod.Exp != mma.FieldSum)
	add(2, p.Scale != mma.ScaleProduct)
	add(2, p.Order != mma.Ascending)
	add(2, p.L != 0)
	add(2, p.Lanes > 1)
	add(2, p.Lanes > 2)
	add(2, p.Start != mma.StartC)
	add(2, p.Join.CF != 0)
	add(2, p.Join.CMode != 0)
	add(2, p.Join.CDrop != 0)
	add(1, p.Special.CLeft)
	add(1, p.Special.NaN.Operand())
	for _, s := range []*mma.Stage{&p.Stage0, &p.Stage1} {
		add(6, s.Sum != mma.Off)
		add(1, s.Sum > mma.Fused)
		add(1, s.Group != 0)
		add(1, s.Split != mma.Adjacent)
		add(1, s.Fixed)
	}
	for i := range alignPlaces {
		a := alignPlaces[i].at(p)
		add(3, a.F != 0)
		add(2, a.Floor != 0)
	}
	for i := range roundPlaces {
		n += sp.roundSize(roundPlaces[i].at(p))
	}
	return n + sp.roundSize(&p.Out)
}

// roundSize is the size of a Round: least without ends of its own.
func (sp *space) roundSize(r *mma.Round) int {
	if *r == (mma.Round{}) {
		return 0
	}
	n := 2
	add := func(present bool) {
		if present {
			n++
		}
	}
	d, in := sp.D.Get(), sp.inner().Get()
	add(r.Frac != 0)
	add(r.Frac != 0)
	add(r.Flush != mma.NoFlush)
	add(r.Over != mma.OverInf)
	add(r.Emax != 0 && int32(r.Emax) != d.Emax() && int32(r.Emax) != in.Emax())
	add(r.Emin != 0 && int32(r.Emin) != d.Emin() && int32(r.Emin) != in.Emin())
	return n
}

// simpler proposes programs that say less: parts taken away, or put together.
func (sp *space) simpler(p *mma.Params) []mma.Params {
	now := sp.size(p)
	var all []mma.Params
	e := func(change func(p *mma.Params)) {
		q := *p
		change(&q)
		if sp.size(&q) < now && sp.valid(&q) {
			all = append(all, q)
		}
	}
	sp.fewerStages(p, e)
	for i := range roundPlaces {
		sp.lessRounding(p, &roundPlaces[i], e)
	}
	for i := range alignPlaces {
		a := alignPlaces[i].at
		e(func(p *mma.Params) { *a(p) = mma.Align{} })
		e(func(p *mma.Params) { a(p).Floor = 0 })
	}
	c := p.Join
	e(func(p *mma.Params) { p.Join.CF, p.Join.CMode = 0, 0 })
	e(func(p *mma.Params) { p.Join.CF = 0 })
	e(func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Mode, p.Join.CF, p.Join.CMode = c.CF, c.CMode, 0, 0 })
	e(func(p *mma.Params) { p.Join.CDrop = 0 })
	e(func(p *mma.Params) { p.In.Widen = fp.None })
	e(func(p *mma.Params) { p.In.Sub = mma.KeepSub })
	e(func(p *mma.Params) { p.In.C, p.In.Acc = mma.KeepSub, mma.KeepSub })
	e(func(p *mma.Params) { p.In.Acc = p.In.C })
	e(func(p *mma.Params) { p.Prod.Exp = mma.FieldSum })
	e(func(p *mma.Params) { p.Order = mma.Ascending })
	e(func(p *mma.Params) { p.L = 0 })
	for l := 1; l < sp.k; l++ {
		e(func(p *mma.Params) { sp.setSteps(p, mma.Ascending, 1, l, fp.RNE) })
	}
	e(func(p *mma.Params) { p.Lanes = 0; sp.fixLate(p, fp.RNE) })
	e(func(p *mma.Params) { p.Start = mma.StartC; sp.fixLate(p, fp.RNE) })
	e(func(p *mma.Params) { p.Special.CLeft = false })
	e(func(p *mma.Params) { p.Out = mma.Round{} })
	e(func(p *mma.Params) { p.Acc, p.Out = p.Out, mma.Round{} })
	e(func(p *mma.Params) { p.Acc, p.Late, p.Out = p.Out, p.Out, mma.Round{} })
	e(func(p *mma.Params) { p.Out.Flush = mma.NoFlush })
	e(func(p *mma.Params) { p.Out.Over = mma.OverInf })
	return all
}

func (sp *space) fewerStages(p *mma.Params, e emit) {
	e(func(p *mma.Params) { p.Scale, p.Stage0 = mma.ScaleProduct, mma.Stage{} })
	e(func(p *mma.Params) { p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{} })
	e(func(p *mma.Params) { p.Stage0, p.Stage1 = p.Stage1, mma.Stage{} })
	e(func(p *mma.Params) { p.Stage1 = mma.Stage{} })
	e(func(p *mma.Params) { p.Join.Align, p.Stage0 = p.Stage0.Align, mma.Stage{} })
	e(func(p *mma.Params) { p.Join.Align, p.Stage1 = p.Stage1.Align, mma.Stage{} })
	for _, s := range []func(p *mma.Params) *mma.Stage{
		func(p *mma.Params) *mma.Stage { return &p.Stage0 }, func(p *mma.Params) *mma.Stage { return &p.Stage1 },
	} {
		e(func(p *mma.Params) { s(p).Group, s(p).Split = 0, mma.Adjacent })
		e(func(p *mma.Params) { s(p).Sum = mma.Fused })
		e(func(p *mma.Params) { s(p).Fixed = false })
	}
}

// lessRounding proposes a rounding taken away, alone or with what it does left to
// the last one, and ends taken away.
func (sp *space) lessRounding(p *mma.Params, pl *roundPlace, e emit) {
	r := *pl.at(p)
	if r == (mma.Round{}) {
		return
	}
	e(func(p *mma.Params) { pl.at(p).Flush = mma.NoFlush })
	e(func(p *mma.Params) { pl.at(p).Over = mma.OverInf })
	in := sp.inner().Get()
	e(func(p *mma.Params) { pl.at(p).Emin, pl.at(p).Emax = mma.Exp(in.Emin()), mma.Exp(in.Emax()) })
	if pl.last {
		if p.Out != (mma.Round{}) {
			e(func(p *mma.Params) { pl.at(p).Emin, pl.at(p).Emax = 0, 0 })
		}
		return
	}
	drop := func(change func(acc *mma.Round)) {
		e(func(p *mma.Params) { *pl.at(p) = mma.Round{}; change(&p.Acc) })
	}
	drop(func(acc *mma.Round) {})
	drop(func(acc *mma.Round) { acc.Mode = r.Mode })
	drop(func(acc *mma.Round) { acc.Mode, acc.Frac = r.Mode, min(acc.Frac, max(r.Frac, 1)) })
	drop(func(acc *mma.Round) { acc.Frac = min(acc.Frac, max(r.Frac, 1)) })
	drop(func(acc *mma.Round) { acc.Flush = r.Flush })
	drop(func(acc *mma.Round) { acc.Over = r.Over })
}
