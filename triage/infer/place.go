package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hypothesis is a program with the space that it is in.
type hypothesis struct {
	*space
	p mma.Params
}

// roundPlace is a place of the program where a Round stands.
type roundPlace struct {
	name string
	at   func(p *mma.Params) *mma.Round
	used func(h *hypothesis) bool // the program comes by
	last bool                     // it makes numbers of D's format, or accumulators: never absent
}

func always(*hypothesis) bool { return true }

var roundPlaces = []roundPlace{
	{"prod.round", func(p *mma.Params) *mma.Round { return &p.Prod.Round }, always, false},
	{"stage0.round", func(p *mma.Params) *mma.Round { return &p.Stage0.Round },
		func(h *hypothesis) bool { return h.p.Stage0.Sum != mma.Off && !h.p.Stage0.Fixed }, false},
	{"stage1.round", func(p *mma.Params) *mma.Round { return &p.Stage1.Round },
		func(h *hypothesis) bool { return h.p.Stage1.Sum != mma.Off && !h.p.Stage1.Fixed }, false},
	{"join.post", func(p *mma.Params) *mma.Round { return &p.Join.Post }, always, false},
	{"acc", func(p *mma.Params) *mma.Round { return &p.Acc }, always, true},
	{"late", func(p *mma.Params) *mma.Round { return &p.Late }, func(h *hypothesis) bool { return h.lateAdds(&h.p) }, true},
}

// alignPlace is a place where terms are aligned.
type alignPlace struct {
	name string
	at   func(p *mma.Params) *mma.Align
	used func(h *hypothesis) bool
}

var alignPlaces = []alignPlace{
	{"stage0.align", func(p *mma.Params) *mma.Align { return &p.Stage0.Align }, func(h *hypothesis) bool { return h.p.Stage0.Sum != mma.Off }},
	{"stage1.align", func(p *mma.Params) *mma.Align { return &p.Stage1.Align }, func(h *hypothesis) bool { return h.p.Stage1.Sum != mma.Off }},
	{"join.align", func(p *mma.Params) *mma.Align { return &p.Join.Align }, always},
}

// inner is the format in which units round on the way: FP32, or FP64 where D is.
func (sp *space) inner() fp.ID {
	if sp.D == fp.FP64 {
		return fp.FP64
	}
	return fp.FP32
}

// lateAdds says whether a program adds anything after the last step.
func (sp *space) lateAdds(p *mma.Params) bool {
	return p.Lanes > 1 || p.Start != mma.StartC && sp.C != fp.None
}

// fixLate gives a program the rounding of late additions that it needs, or none.
func (sp *space) fixLate(p *mma.Params, m fp.Mode) {
	switch {
	case !sp.lateAdds(p):
		p.Late = mma.Round{}
	case p.Late == mma.Round{}:
		p.Late = mma.To(sp.D, m)
	}
	if p.Start == mma.StartC || !p.Special.NaN.Operand() {
		p.Special.CLeft = false
	}
}

// most returns the widest fraction that the last rounding of steps may have.
func (h *hypothesis) most(place *roundPlace) mma.Frac {
	switch {
	case !place.last:
		return mma.MaxFrac
	case h.p.Out != (mma.Round{}):
		return mma.MaxFrac - 1
	}
	return mma.Frac(h.D.Get().FracBits)
}

// slot is a place where numbers lose bits, whatever does it. Slots often show
// alike, so that a search must be able to move a width from one to another.
type slot struct {
	get func(p *mma.Params) (mma.Frac, fp.Mode)
	set func(p *mma.Params, f mma.Frac, m fp.Mode) // f = 0: loses nothing, or as little as it can
}

// slots returns the slots of a program.
func (h *hypothesis) slots() []slot {
	var all []slot
	for i := range roundPlaces {
		if pl := &roundPlaces[i]; pl.used(h) {
			all = append(all, h.roundSlot(pl))
		}
	}
	for i := range alignPlaces {
		pl := &alignPlaces[i]
		if !pl.used(h) {
			continue
		}
		all = append(all, slot{
			get: func(p *mma.Params) (mma.Frac, fp.Mode) { return pl.at(p).F, pl.at(p).Mode },
			set: func(p *mma.Params, f mma.Frac, m fp.Mode) { pl.at(p).F, pl.at(p).Mode = f, modeIf(f, m) },
		})
	}
	return append(all, slot{
		get: func(p *mma.Params) (mma.Frac, fp.Mode) { return p.Join.CF, p.Join.CMode },
		set: func(p *mma.Params, f mma.Frac, m fp.Mode) { p.Join.CF, p.Join.CMode = f, modeIf(f, m) },
	})
}

func (h *hypothesis) roundSlot(pl *roundPlace) slot {
	most := h.most(pl)
	return slot{
		get: func(p *mma.Params) (mma.Frac, fp.Mode) { return pl.at(p).Frac, pl.at(p).Mode },
		set: func(p *mma.Params, f mma.Frac, m fp.Mode) {
			r := pl.at(p)
			switch {
			case f == 0 && pl.last:
				r.Frac = most
				return
			case f == 0:
				*r = mma.Round{}
				return
			case *r == mma.Round{}:
				*r = mma.To(h.inner(), m)
			}
			r.Frac, r.Mode = min(f, most), m
		},
	}
}

// modeIf returns a mode if there is anything to round.
func modeIf(f mma.Frac, m fp.Mode) fp.Mode {
	if f == 0 {
		return 0
	}
	return m
}
