package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// exactly are the operations on the product of two significands, which is an integer: a wrong one is
// mostly no product of two operands. Products of zeros are as they should be.
var exactly = map[string]func(m uint64, n int64) uint64{
	"add":   func(m uint64, n int64) uint64 { return uint64(max(int64(m)+n, 0)) },
	"set":   func(m uint64, n int64) uint64 { return m | 1<<n },
	"clear": func(m uint64, n int64) uint64 { return m &^ (1 << n) },
	"flip":  func(m uint64, n int64) uint64 { return m ^ 1<<n },
	"cut":   func(m uint64, n int64) uint64 { return m &^ (1<<n - 1) },
	"scale": func(m uint64, n int64) uint64 { return m }, // the exponent changes
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
		if p.Lo = exactly[r.effect.Do](p.Lo, r.effect.N); r.effect.Do == "scale" {
			p.Q, e = p.Q+int32(r.effect.N), e+int32(r.effect.N)
		}
		return p, e
	}})
	return got, some
}
