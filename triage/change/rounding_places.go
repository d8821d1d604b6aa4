package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rounding is a place of the program where a Round stands.
type rounding struct {
	path string
	at   func(p *mma.Params) *mma.Round
	used func(o *original) bool // the program reaches this place
	last bool                   // it makes accumulators, or numbers of D's format: never absent
}

func late(o *original) bool { return o.p.LateAdds(o.Formats) }

var roundings = func() (all []rounding) {
	for _, x := range mma.Roundings {
		last := x.Path == "acc" || x.Path == "late" || x.Path == "out"
		all = append(all, rounding{x.Path, x.At, reached(x.Path + ".frac"), last})
	}
	return all
}()

// reached returns a function that reports whether a program reaches the place of a number.
func reached(path string) func(o *original) bool {
	f, _ := mma.FindField(path)
	return func(o *original) bool {
		_, _, ok := f.Range(&o.p, o.Formats, o.K)
		return ok
	}
}

// inner are the roundings except for the conversion at the end.
var inner = roundings[:len(roundings)-1]

// used returns the roundings that a program reaches.
func (o *original) used(all []rounding) []*rounding {
	var used []*rounding
	for i := range all {
		if all[i].used(o) {
			used = append(used, &all[i])
		}
	}
	return used
}

// most returns the widest fraction that a rounding may have.
func (r *rounding) most(o *original) mma.Frac {
	switch {
	case !r.last:
		return mma.MaxFrac
	case r.path != "out" && o.p.Out != mma.Round{}:
		return mma.MaxFrac - 1
	}
	return mma.Frac(o.D.Get().FracBits)
}

// alignment is a place where terms are aligned.
type alignment struct {
	path string
	at   func(p *mma.Params) *mma.Align
	used func(o *original) bool
}

var alignments = []alignment{
	{"stage0.align", func(p *mma.Params) *mma.Align { return &p.Stage0.Align }, reached("stage0.align.f")},
	{"stage1.align", func(p *mma.Params) *mma.Align { return &p.Stage1.Align }, reached("stage1.align.f")},
	{"join.align", func(p *mma.Params) *mma.Align { return &p.Join.Align }, reached("join.align.f")},
}

// aligned returns the alignments that a program reaches.
func (o *original) aligned() []*alignment {
	var used []*alignment
	for i := range alignments {
		if alignments[i].used(o) {
			used = append(used, &alignments[i])
		}
	}
	return used
}

// wide is the format in which units round on the way: FP32, or FP64 where D is.
func (s Space) wide() fp.ID {
	if s.D == fp.FP64 {
		return fp.FP64
	}
	return fp.FP32
}

// FixLate gives a program the rounding Late if it has late additions, to D's format with
// mode m unless there is one, and takes it away if it has none. It also takes away what the
// program can no longer have: see fixShape.
func (s Space) FixLate(p *mma.Params, m fp.Mode) {
	fixShape(p)
	switch {
	case !p.LateAdds(s.Formats):
		p.Late = mma.Round{}
	case p.Late == mma.Round{}:
		p.Late = mma.To(s.D, m)
	}
	if p.Start == mma.StartC || !p.Special.OperandNaN() {
		p.Special.CLeft = false
	}
}

// cut is a place where numbers lose bits, in a rounding or in an alignment. Cuts in
// different places often have the same effect, so that a search must be able to move a
// width from one to another.
type cut struct {
	get func(p *mma.Params) (mma.Frac, fp.Mode)
	set func(p *mma.Params, f mma.Frac, m fp.Mode) // f = 0: loses nothing, or as little as it can
}

// cuts returns the cuts of a program.
func (o *original) cuts() []cut {
	var all []cut
	for _, r := range o.used(inner) {
		all = append(all, o.roundingCut(r))
	}
	for _, a := range o.aligned() {
		all = append(all, cut{
			get: func(p *mma.Params) (mma.Frac, fp.Mode) { return a.at(p).F, a.at(p).Mode },
			set: func(p *mma.Params, f mma.Frac, m fp.Mode) { a.at(p).F, a.at(p).Mode = f, modeIf(f, m) },
		})
	}
	return append(all, cut{
		get: func(p *mma.Params) (mma.Frac, fp.Mode) { return p.Join.CF, p.Join.CMode },
		set: func(p *mma.Params, f mma.Frac, m fp.Mode) { p.Join.CF, p.Join.CMode = f, modeIf(f, m) },
	})
}

func (o *original) roundingCut(r *rounding) cut {
	most := r.most(o)
	return cut{
		get: func(p *mma.Params) (mma.Frac, fp.Mode) { return r.at(p).Frac, r.at(p).Mode },
		set: func(p *mma.Params, f mma.Frac, m fp.Mode) {
			x := r.at(p)
			switch {
			case f == 0 && r.last:
				x.Frac = most
				return
			case f == 0:
				*x = mma.Round{}
				return
			case *x == mma.Round{}:
				*x = mma.To(o.wide(), m)
			}
			x.Frac, x.Mode = min(f, most), m
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
