package defect

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// exactly are the operations on the product of two significands, which is an integer: a wrong one is
// mostly no product of two operands. Products of zeros are as they should be.
var exactly = map[string]func(m uint64, n int64) uint64{
	"add":   func(m uint64, n int64) uint64 { return uint64(max(int64(m)+n, 0)) },
	"set":   func(m uint64, n int64) uint64 { return m | 1<<n },
	"clear": func(m uint64, n int64) uint64 { return m &^ (1 << n) },
	"flip":  func(m uint64, n int64) uint64 { return m ^ 1<<n },
	"cut":   func(m uint64, n int64) uint64 { return m &^ (1<<n - 1) },
}

// exponents are what may become of the exponent of a product, the sum of its operands'.
var exponents = map[string]func(e int32, n int64) int32{
	"scale":     func(e int32, n int64) int32 { return e + int32(n) },
	"exp-most":  func(e int32, n int64) int32 { return min(e, int32(n)) },
	"exp-least": func(e int32, n int64) int32 { return max(e, int32(n)) },
	"exp-wrap": func(e int32, n int64) int32 {
		if from, bits := exponentWrap(n); e >= from {
			return e - 1<<bits
		}
		return e
	},
}

// exponentWrap is n of a sum of exponents that lacks bits: from which exponent it is too small, by
// which power of two.
func exponentWrap(n int64) (from, bits int32) { return int32(n >> 4), int32(n & 15) }

// exponentEffects are those that may explain cases: in each of them a product has an exponent that is
// changed, and mostly in one of them by little.
func exponentEffects(differ []*sample) (all []Effect) {
	const near = 6
	largest, least := int64(1<<20), int64(-1<<20)
	for _, c := range differ {
		if top, low := c.view.whole[column(OfCase, "maxp")], c.view.whole[column(OfCase, "minp")]; top != absent {
			largest, least = min(largest, top), max(least, low)
		}
	}
	if largest == 1<<20 {
		return nil
	}
	for n := range int64(near) {
		all = append(all, Effect{On: OnExact, Do: "exp-most", N: largest - 1 - n}, Effect{On: OnExact, Do: "exp-least", N: least + 1 + n})
		for bits := int64(3); bits < 12; bits++ {
			if top := int64(1) << (bits - 1); largest-n < top-2 || largest-n > top+2 {
				continue // not where a number of so many bits with a sign is too large
			}
			all = append(all, Effect{On: OnExact, Do: "exp-wrap", N: (largest-n)<<4 | bits})
		}
	}
	return all
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
	mode := productModes[r.effect.N]
	rounded := p.Round(max(p.Exponent(), emin)-frac, mode)
	if r.m.Params().Prod.Round.Frac == 0 && !rounded.IsZero() && rounded.Exponent() > d.Emax() {
		if n := d.Decode(d.Encode(p, mode, fp.OverIEEE)); n.Class == fp.Finite { // see overflown
			return d.Dyadic(n)
		}
	}
	return rounded
}

// isExact reports whether products of significands are integers that can be changed: they fit, and
// are not those of parts of operands.
func (w *viewer) isExact() bool {
	return significand(w.f.A)+significand(w.f.B) < 64 && w.m.Params().Passes == 0
}

func significand(id fp.ID) int { return int(id.Get().FracBits) + 1 }

// exact is the result where the products of some numbers are changed.
func (r *runner) exact(v *view, places []int) (uint64, bool) {
	some, d := false, v.dot
	if r.effect.Do == "rounded" && r.m.Params().Prod.Round.Frac == 0 {
		d, some = r.overflown(v.dot, places)
	}
	got := r.m.DotChanged(d, r.exactChange(places, &some))
	return got, some
}

// exactChange changes the products of some numbers; some becomes true where it does.
func (r *runner) exactChange(places []int, some *bool) sim.Change {
	return sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		if !slices.Contains(places, k) {
			return p, e
		}
		*some = true
		switch r.effect.Do {
		case "rounded":
			return r.roundedTo(p), e
		case "plus-zero":
			return fp.Dyadic{}, e
		}
		if change := exponents[r.effect.Do]; change != nil {
			to := change(e, r.effect.N)
			p.Q += to - e
			return p, to
		}
		p.Lo = exactly[r.effect.Do](p.Lo, r.effect.N)
		return p, e
	}}
}

// overflown makes those of some products infinite that are when they are rounded as results are. It
// reports whether there are any.
func (r *runner) overflown(d *mma.Dot, places []int) (*mma.Dot, bool) {
	a, b, to := r.f.A.Get(), r.f.B.Get(), r.f.D.Get()
	if !a.HasInf() || !to.HasInf() || a.Emax()+b.Emax()+1 < to.Emax() {
		return d, false
	}
	some := false
	for _, k := range places {
		x, y := a.Decode(d.A[k]), b.Decode(d.B[k])
		if x.Class != fp.Finite || y.Class != fp.Finite {
			continue
		}
		p := multiplied(a.Dyadic(x), b.Dyadic(y))
		if p.IsZero() {
			continue
		}
		code := to.Encode(p, productModes[r.effect.N], fp.OverIEEE)
		if classOf(to, code) != isInf {
			continue
		}
		if !some {
			d, some = d.Clone(), true
		}
		d.A[k], d.B[k] = a.InfCode(p.Neg), b.FromFloat64(1)
	}
	return d, some
}

// multiplied is the exact product of two numbers of at most 64 bits.
func multiplied(x, y fp.Dyadic) fp.Dyadic {
	p := fp.Dyadic{Neg: x.Neg != y.Neg, Q: x.Q + y.Q}
	p.Hi, p.Lo = bits.Mul64(x.Lo, y.Lo)
	return p
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
