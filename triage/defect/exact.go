package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// exactly are the operations on the product of two significands, which is an integer: a wrong one is
// mostly no product of two operands. Products of zeros are as they should be.
var exactly = map[string]func(m uint64, n int64) uint64{
	"add":     func(m uint64, n int64) uint64 { return uint64(max(int64(m)+n, 0)) },
	"set":     func(m uint64, n int64) uint64 { return m | 1<<n },
	"clear":   func(m uint64, n int64) uint64 { return m &^ (1 << n) },
	"flip":    func(m uint64, n int64) uint64 { return m ^ 1<<n },
	"cut":     func(m uint64, n int64) uint64 { return m &^ (1<<n - 1) },
	"scale":   func(m uint64, n int64) uint64 { return m }, // the exponent changes
	"rounded": func(m uint64, n int64) uint64 { return m }, // see roundedTo
}

// productModes are the ways in which a product may be rounded other than its like.
var productModes = []fp.Mode{fp.RZ, fp.RNE, fp.RNA, fp.RU, fp.RD, fp.RTO}

// roundedTo rounds a product as wide as the program rounds it, or else as results are.
func (r *runner) roundedTo(p fp.Dyadic) fp.Dyadic {
	d := r.f.D.Get()
	frac, emin := int32(d.FracBits), d.Emin()
	if x := r.m.Params().Prod.Round; x.Frac != 0 {
		if frac, emin = int32(x.Frac), p.Exponent(); x.HasEmin() {
			emin = int32(x.Emin)
		}
	}
	return p.Round(max(p.Exponent(), emin)-frac, productModes[r.effect.N])
}

// isExact reports whether products of significands are integers that can be changed: they fit, and
// are not those of parts of operands.
func (w *viewer) isExact() bool {
	return significand(w.f.A)+significand(w.f.B) < 64 && w.m.Params().Passes == 0
}

func significand(id fp.ID) int { return int(id.Get().FracBits) + 1 }

// exact is the result where the products of some numbers are changed.
func (r *runner) exact(v *view, places []int) (uint64, bool) {
	some := false
	got := r.m.DotChanged(v.dot, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		if !slices.Contains(places, k) {
			return p, e
		}
		some = true
		if r.effect.Do == "rounded" {
			return r.roundedTo(p), e
		}
		if p.Lo = exactly[r.effect.Do](p.Lo, r.effect.N); r.effect.Do == "scale" {
			p.Q, e = p.Q+int32(r.effect.N), e+int32(r.effect.N)
		}
		return p, e
	}})
	return got, some
}

// significands is the result where the significands of some operands, numbered as in the scope of
// operands, are a power of two times what they should be.
func (r *runner) significands(v *view, places []int) (uint64, bool) {
	some := false
	got := r.m.DotChanged(v.dot, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		for _, x := range places {
			if x/2 == k {
				some = true
				p.Q += int32(r.effect.N)
			}
		}
		return p, e
	}})
	return got, some
}
