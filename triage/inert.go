package triage

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// inert returns the labels that change no result that counts, whatever the other labels are:
// those that the policy hides, and those of limits that no number reaches.
func (n *Attributor) inert() (set uint32) {
	for i, l := range n.labels {
		if n.hides(l) || n.unreached(i) {
			set |= 1 << i
		}
	}
	return set
}

// unreached reports whether a part changes nothing but limits that no number reaches in any
// program between the two.
func (x *between) unreached(part int) bool {
	if part == x.fusion && x.from.K != x.to.K || len(x.parts[part]) == 0 {
		return false
	}
	return !slices.ContainsFunc(x.parts[part], func(c mma.Change) bool {
		within := limits[c.Path]
		return within == nil || !within(x.formats, &x.from.Params) || !within(x.formats, &x.to.Params)
	})
}

// limits tell of a program whether no number reaches one of its limits. What they ask of other
// fields they ask of each alone: if it holds for two programs, it does for all between them.
var limits = map[string]func(f mma.Formats, p *mma.Params) bool{
	// A product that is not rounded overflows only if it is that large.
	"prod.round.emax": func(f mma.Formats, p *mma.Params) bool {
		largest := int(f.A.Get().Emax()) + int(f.B.Get().Emax()) + 1
		return plainProducts(f, p) && p.Prod.Round == mma.Round{Emax: p.Prod.Round.Emax} &&
			(p.Prod.Round.Emax == 0 || int(p.Prod.Round.Emax) >= largest)
	},
	// The nominal exponent of a product is at least that of the least subnormals' product; sums
	// of stages have those of products; and c and the accumulator have at least their emin.
	"join.align.floor": func(f mma.Formats, p *mma.Params) bool {
		a, b := f.A.Get(), f.B.Get()
		least := min(a.Emin()-int32(a.FracBits)+b.Emin()-int32(b.FracBits), f.D.Get().Emin(), int32(p.Acc.Emin))
		if f.C != fp.None {
			least = min(least, f.C.Get().Emin())
		}
		return plainProducts(f, p) && p.Prod.Round.Frac == 0 && p.In.NarrowC == mma.Narrow{} &&
			p.Stage0.Round == mma.Round{} && p.Stage1.Round == mma.Round{} && !p.Stage0.Fixed && !p.Stage1.Fixed &&
			p.Lanes <= 1 && p.Acc.Frac != 0 && p.Acc.Emin != 0 && (p.Join.Align.Floor == 0 || int32(p.Join.Align.Floor) <= least)
	},
}

// plainProducts reports whether products are those of the operands as they are.
func plainProducts(f mma.Formats, p *mma.Params) bool {
	return !p.Refined() && f.Scale == fp.None && f.Down == 0 && p.Passes == 0 &&
		p.In.Widen == fp.None && p.In.A == mma.Narrow{} && p.In.B == mma.Narrow{}
}
