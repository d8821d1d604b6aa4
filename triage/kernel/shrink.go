package kernel

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Case is a small product on which two sides differ.
type Case struct {
	schedule.Shape
	Terms    int // products of the element that are not zero
	At       [2]int
	A, B     uint64 // what the sides give there
	D        fp.ID
	Operands *gemm.Operands
}

// shrink makes a product that differs smaller: first one element, then K, then the products
// that are not zero.
func (z *Fuzz) shrink(ctx context.Context, s *shapeRange, p *drawn) (*Case, error) {
	q := Product{Operands: p.a, Got: p.d[0], Want: p.d[1], D: p.id}
	at := q.First()
	best := p
	try := func(a, b *gemm.Operands) bool {
		c := &drawn{a: a, b: b}
		z.compute(ctx, c)
		if c.err != nil {
			return false
		}
		q := Product{Operands: c.a, Got: c.d[0], Want: c.d[1], D: c.id}
		if e := q.First(); q.differs(e) {
			best, at = c, e
			return true
		}
		return false
	}
	if z.plain() { // of blocks of scales nothing is cut off
		if takes(s.M, 1) && takes(s.N, 1) {
			try(z.element(p.a, at), z.element(p.b, at))
		}
		for step := best.a.K / 2; step > 0; step /= 2 {
			for from := best.a.K - step; from >= 0 && best.a.K > step; {
				if left := best.a.K - step; s.Ks == nil || slices.Contains(s.Ks, left) {
					try(z.cut(best.a, from, step), z.cut(best.b, from, step))
				}
				from = min(from, best.a.K) - step
			}
		}
	}
	for step := best.a.K; step > 0; step /= 2 {
		for from := 0; from < best.a.K; from += step {
			if z.some(best.a, from, step) {
				try(z.without(best.a, from, step), z.without(best.b, from, step))
			}
		}
	}
	n, w := at[0]*best.a.N+at[1], best.id.Width()
	c := &Case{Shape: best.a.Shape, At: at, A: mma.Load(best.d[0], w, n), B: mma.Load(best.d[1], w, n), D: best.id, Operands: best.a}
	for k := range c.K {
		if z.some(best.a, k, 1) {
			c.Terms++
		}
	}
	return c, ctx.Err()
}

// plain reports whether no side has scales.
func (z *Fuzz) plain() bool {
	for _, s := range []*Side{z.A, z.B} {
		if s.Unit.Scale != fp.None || s.Kernel != nil && (s.Kernel.ScaleA != nil || s.Kernel.ScaleB != nil) {
			return false
		}
	}
	return true
}

// element returns the operands of one element.
func (z *Fuzz) element(o *gemm.Operands, at [2]int) *gemm.Operands {
	c := *o
	a, b := o.K*z.A.Unit.A.Width(), o.K*z.A.Unit.B.Width()
	c.M, c.N, c.A, c.B = 1, 1, o.A[at[0]*a:][:a], o.B[at[1]*b:][:b]
	return &c
}

// cut returns the operands without n products from from on.
func (z *Fuzz) cut(o *gemm.Operands, from, n int) *gemm.Operands {
	c := *o
	c.K -= n
	part := func(matrix []byte, lines, w int) (out []byte) {
		for l := range lines {
			line := matrix[l*o.K*w:][:o.K*w]
			out = append(append(out, line[:from*w]...), line[(from+n)*w:]...)
		}
		return out
	}
	c.A, c.B = part(o.A, o.M, z.A.Unit.A.Width()), part(o.B, o.N, z.A.Unit.B.Width())
	return &c
}

// without returns the operands with zeros for some products.
func (z *Fuzz) without(o *gemm.Operands, from, n int) *gemm.Operands {
	c := *o
	clearPart := func(matrix []byte, lines, w int) []byte {
		out := slices.Clone(matrix)
		for l := range lines {
			clear(out[(l*o.K+from)*w:][:min(n, o.K-from)*w])
		}
		return out
	}
	c.A, c.B = clearPart(o.A, o.M, z.A.Unit.A.Width()), clearPart(o.B, o.N, z.A.Unit.B.Width())
	return &c
}

// some reports whether some of n products from from on are not zero.
func (z *Fuzz) some(o *gemm.Operands, from, n int) bool {
	w := z.A.Unit.A.Width()
	for l := range o.M {
		for _, b := range o.A[(l*o.K+from)*w:][:min(n, o.K-from)*w] {
			if b != 0 {
				return true
			}
		}
	}
	return false
}
