package triage

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// plainPrograms returns what a kernel may compute that stands in for the unit where there is none: sums
// in narrow formats, and the base with the subnormal numbers that it flushes kept, as IEEE 754 has them.
func (pr *Unknown) plainPrograms() []mma.Params {
	return append(pr.narrowChains(), pr.withoutFlushes()...)
}

// withoutFlushes returns the base with all subnormal numbers kept, if there are any that it flushes:
// that is one decision, and as many changes as there are places where it flushes.
func (pr *Unknown) withoutFlushes() []mma.Params {
	p := pr.Base
	p.In.Sub, p.In.C, p.In.Acc = mma.KeepSub, mma.KeepSub, mma.KeepSub
	for _, place := range mma.Roundings {
		place.At(&p).Flush = mma.NoFlush
	}
	if p == pr.Base || p.Validate(pr.Formats, pr.K) != nil {
		return nil
	}
	return []mma.Params{p}
}

// narrowFormats are those in which kernels add although the result has more bits.
var narrowFormats = []fp.ID{fp.FP16, fp.BF16}

// narrowChains returns the programs of kernels that add one product after the other in a narrow
// format. No unit of the catalogue does that, and from a unit that adds many products at once it is so
// many changes away that a search finds it late or not at all. Each product is rounded to the format
// before it is added, or not; the sum is rounded to it at once, or by way of FP32; and c is converted
// to the format before the first product is added, or added to the sum of all products.
func (pr *Unknown) narrowChains() []mma.Params {
	var all []mma.Params
	space := change.Space{Formats: pr.Formats, K: pr.K}
	for _, id := range narrowFormats {
		to, wide := mma.To(id, fp.RNE), mma.To(fp.FP32, fp.RNE)
		for _, order := range []mma.Order{mma.Ascending, mma.Descending} {
			for _, product := range []mma.Round{to, {}} {
				for _, post := range []mma.Round{{}, wide} {
					p := mma.FMA(pr.Formats.D.Result())
					p.Order, p.Prod.Round, p.Join.Post, p.Acc = order, product, post, to
					for _, p := range pr.withC(p, id) {
						if p = pr.sameSteps(p); p != pr.Base && space.Valid(&p) && !space.Sums(&pr.Base, &p) {
							all = append(all, p)
						}
					}
				}
			}
		}
	}
	return all
}

// withC returns the versions of a program that adds in a format, one for each way to add c, if there is
// one: it is converted to the format first, or added last in the format of the result.
func (pr *Unknown) withC(p mma.Params, id fp.ID) []mma.Params {
	d := pr.Formats.D.Result()
	first, narrow := p, id.Get()
	if !holds(d.Get(), narrow) {
		first.Out = mma.To(d, fp.RNE)
	}
	if pr.Formats.C == fp.None {
		return []mma.Params{first}
	}
	if c := pr.Formats.C.Get(); !holds(narrow, c) {
		first.In.NarrowC = mma.Narrow{Mode: fp.RNE, To: id, Over: mma.OverInf}
		if c.FracBits > narrow.FracBits {
			first.In.NarrowC.Frac = p.Acc.Frac
		}
	}
	zero, empty := p, p
	zero.Start, zero.Late = mma.StartZero, mma.To(d, fp.RNE)
	empty.Start, empty.Late = mma.StartEmpty, zero.Late
	return []mma.Params{first, zero, empty}
}

// holds reports whether a format has all finite numbers of another one.
func holds(f, other *fp.Format) bool {
	return f.FracBits >= other.FracBits && f.Emin() <= other.Emin() && f.Emax() >= other.Emax()
}
