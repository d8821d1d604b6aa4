package defect

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A wrong product is mostly no product of two operands. It is computed with as a product of FP64
// numbers, one of them 1, where the program does the same with such operands: chains and exact sums
// do, and programs in which an operand's own exponent counts do not.

// exactly are the operations on the product of two significands, which is an integer.
var exactly = map[string]func(m uint64, n int64) uint64{
	"add":   func(m uint64, n int64) uint64 { return uint64(max(int64(m)+n, 0)) },
	"set":   func(m uint64, n int64) uint64 { return m | 1<<n },
	"clear": func(m uint64, n int64) uint64 { return m &^ (1 << n) },
	"flip":  func(m uint64, n int64) uint64 { return m ^ 1<<n },
	"cut":   func(m uint64, n int64) uint64 { return m &^ (1<<n - 1) },
	"scale": func(m uint64, n int64) uint64 { return m }, // the exponent changes
}

// widened returns the model of the program with FP64 operands; nil if products do not fit.
func (w *viewer) widened() *sim.Model {
	if !w.tried {
		w.tried = true
		if significand(w.f.A)+significand(w.f.B) <= significand(fp.FP64) {
			f := w.f
			f.A, f.B = fp.FP64, fp.FP64
			w.wide, _ = sim.New(f, w.m.K(), w.m.Params())
		}
	}
	return w.wide
}

func significand(id fp.ID) int { return int(id.Get().FracBits) + 1 }

// widen returns a dot product with FP64 operands of the same values; change, if not nil, gives the
// products other integers and exponents.
func (w *viewer) widen(d *mma.Dot, change func(k int, m uint64, q int32) (uint64, int32)) *mma.Dot {
	x := d.Clone()
	f, a, b := fp.FP64.Get(), w.f.A.Get(), w.f.B.Get()
	for k := range d.A {
		m, n := a.Decode(d.A[k]), b.Decode(d.B[k])
		if m.Class != fp.Finite || n.Class != fp.Finite {
			x.A[k], x.B[k] = toFP64(a, d.A[k], m), toFP64(b, d.B[k], n)
			continue
		}
		y, z := a.Dyadic(m), b.Dyadic(n)
		_, p := bits.Mul64(y.Lo, z.Lo)
		q := y.Q + z.Q
		if change != nil {
			p, q = change(k, p, q)
		}
		x.A[k], x.B[k] = f.Encode(fp.Dyadic{Lo: p, Q: q, Neg: m.Neg != n.Neg}, fp.RNE, fp.OverInf), f.FromFloat64(1)
	}
	return x
}

// toFP64 converts a code.
func toFP64(f *fp.Format, code uint64, n fp.Num) uint64 {
	d := fp.FP64.Get()
	switch n.Class {
	case fp.Inf:
		return d.InfCode(n.Neg)
	case fp.NaN:
		return d.QuietNaN(n.Neg)
	}
	return d.Encode(f.Dyadic(n), fp.RNE, fp.OverInf)
}

// exact is the result where the products of some numbers are changed.
func (r *runner) exact(v *view, places []int) (uint64, bool) {
	some := false
	d := r.widen(v.dot, func(k int, m uint64, q int32) (uint64, int32) {
		for _, place := range places {
			if place == k {
				some = true
				if r.effect.Do == "scale" {
					q += int32(r.effect.N)
				}
				return exactly[r.effect.Do](m, r.effect.N), q
			}
		}
		return m, q
	})
	if !some {
		return v.right, false
	}
	return r.wide.Dot(d, nil), true
}
