package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// startMoves proposes places where c enters.
func startMoves(h *hypothesis, e emit) {
	for x := mma.StartC; x <= mma.StartEmpty; x++ {
		for _, m := range modes {
			e(func(p *mma.Params) {
				p.Start = x
				h.fixLate(p, m)
			})
		}
	}
	// The rounding goes where c does.
	switch {
	case h.C == fp.None:
	case h.p.Start != mma.StartC:
		e(func(p *mma.Params) { p.Start, p.Acc = mma.StartC, p.Late; h.fixLate(p, fp.RNE) })
	default:
		for _, x := range []mma.Start{mma.StartZero, mma.StartEmpty} {
			e(func(p *mma.Params) { p.Start, p.Late, p.Acc = x, p.Acc, mma.To(h.D, fp.RNE); h.fixLate(p, fp.RNE) })
		}
	}
}

// maxLanes is the number of lanes up to which a search looks.
const maxLanes = 8

// stepMoves proposes orders, numbers of lanes, and widths of steps.
func stepMoves(h *hypothesis, e emit) {
	for o := mma.Ascending; o <= mma.Halves; o++ {
		for lanes := 1; lanes <= min(maxLanes, h.k); lanes++ {
			for l := 1; l <= (h.k+lanes-1)/lanes; l++ {
				e(func(p *mma.Params) { h.setSteps(p, o, lanes, l, fp.RNE) })
				if lanes == 1 || h.p.Lanes > 1 || o > mma.Descending || l&(l-1) != 0 {
					continue
				}
				for _, m := range modes { // of the additions that come with lanes
					e(func(p *mma.Params) { h.setSteps(p, o, lanes, l, m) })
				}
			}
		}
	}
}

// setSteps sets order, lanes and width of steps, as absent where that says the
// same.
func (sp *space) setSteps(p *mma.Params, o mma.Order, lanes, l int, late fp.Mode) {
	p.Order, p.Lanes, p.L = o, uint8(lanes), uint8(l)
	if lanes == 1 {
		p.Lanes = 0
	}
	if l*lanes >= sp.k {
		p.L = 0
	}
	sp.fixLate(p, late)
}

// shapes returns the ways of dividing terms into groups and of adding them.
func (sp *space) shapes() []mma.Stage {
	const widest = 16
	var all []mma.Stage
	for sum := mma.Fused; sum <= mma.PairHalves; sum++ {
		all = append(all, mma.Stage{Sum: sum})
		for g := 2; g <= min(sp.k-1, widest); g++ {
			all = append(all, mma.Stage{Sum: sum, Group: uint8(g)}, mma.Stage{Sum: sum, Group: uint8(g), Split: mma.Interleaved})
		}
	}
	return all
}

// reshape gives a stage the shape of another.
func reshape(to *mma.Stage, s mma.Stage) { to.Sum, to.Group, to.Split = s.Sum, s.Group, s.Split }

// stageMoves proposes other shapes for the stages that are there, new stages, and
// fewer.
func stageMoves(h *hypothesis, e emit) {
	has0, has1 := h.p.Stage0.Sum != mma.Off, h.p.Stage1.Sum != mma.Off
	e(func(p *mma.Params) { p.Stage0, p.Stage1 = mma.Stage{}, mma.Stage{} })
	e(func(p *mma.Params) { p.Stage0, p.Stage1 = p.Stage1, mma.Stage{} })
	e(func(p *mma.Params) { p.Stage1 = mma.Stage{} })
	for _, s := range h.shapes() {
		if has0 {
			e(func(p *mma.Params) { reshape(&p.Stage0, s) })
		}
		if has1 {
			e(func(p *mma.Params) { reshape(&p.Stage1, s) })
			continue
		}
		for _, n := range h.furnished(s) {
			e(func(p *mma.Params) { p.Stage0, p.Stage1 = n, p.Stage0 })
			if has0 {
				e(func(p *mma.Params) { p.Stage1 = n })
			}
		}
	}
	for i := range 4 {
		e(func(p *mma.Params) { p.Stage0.Fixed, p.Stage1.Fixed = i&1 != 0, i&2 != 0 })
	}
}

// furnished returns stages of a shape: exact, rounding, aligned like the last sum,
// and aligned in a few other ways; the exact width is found later.
func (h *hypothesis) furnished(s mma.Stage) []mma.Stage {
	rounds, aligned := s, s
	rounds.Round = mma.To(h.inner(), fp.RNE)
	aligned.Align = h.p.Join.Align
	all := []mma.Stage{s, rounds, aligned}
	if s.Group&(s.Group-1) != 0 {
		return all
	}
	for f := mma.Frac(5); f <= 40; f += 4 {
		for _, m := range usual(0) {
			n := s
			n.Align.F, n.Align.Mode = f, m
			all = append(all, n)
		}
	}
	return all
}

// newStages proposes new stages of every shape that cut in any way.
func newStages(h *hypothesis, e emit) {
	if h.p.Stage1.Sum != mma.Off {
		return
	}
	for _, s := range h.shapes() {
		for f := mma.Frac(2); f <= 40; f += 3 {
			for _, m := range modes {
				n := s
				n.Align.F, n.Align.Mode = f, m
				e(func(p *mma.Params) { p.Stage0, p.Stage1 = n, p.Stage0 })
				if h.p.Stage0.Sum != mma.Off {
					e(func(p *mma.Params) { p.Stage1 = n })
				}
			}
		}
	}
}

// shapeMoves proposes other shapes for both stages at once.
func shapeMoves(h *hypothesis, e emit) {
	if h.p.Stage1.Sum == mma.Off {
		return
	}
	all := h.shapes()
	for _, s := range all {
		for _, t := range all {
			e(func(p *mma.Params) { reshape(&p.Stage0, s); reshape(&p.Stage1, t) })
		}
	}
}

// scaleMoves proposes where block scales take effect: on products, or on groups
// whose sums may be fixed point, which shows only where such a sum is cut.
func scaleMoves(h *hypothesis, e emit) {
	if h.Scale == fp.None {
		return
	}
	e(func(p *mma.Params) { p.Scale = mma.ScaleProduct })
	for g := uint8(2); g <= h.Block; g++ {
		for _, fixed := range []bool{false, true} {
			groups := func(p *mma.Params) {
				p.Scale, p.Order, p.Lanes = mma.ScaleGroup, mma.Ascending, 0
				p.Stage0 = mma.Stage{Sum: mma.Fused, Group: g, Fixed: fixed}
				h.fixLate(p, fp.RNE)
			}
			e(groups)
			if g != h.Block || h.p.Scale == mma.ScaleGroup {
				continue
			}
			for f := mma.Frac(3); f <= 45; f += 2 {
				for _, m := range modes {
					e(func(p *mma.Params) { groups(p); p.Join.Align.F, p.Join.Align.Mode = f, m })
				}
			}
		}
	}
}
