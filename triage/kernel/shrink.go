package kernel

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Case is a small product on which two sides differ.
type Case struct {
	schedule.Shape
	Row, Column int    // of an element that differs
	Terms       int    // k that are not zero in all rows of A
	A, B        uint64 // what the sides give there
	D           fp.ID
	Operands    [2]*gemm.Operands // of the sides: the same matrices; a side may have scales that the other has not
	Products    [2][]byte         // of the sides

	left    schedule.Set // the Terms
	formats mma.Formats
	units   [2]*mma.Instruction
	kernels [2]*schedule.Kernel // of sides that are models, as files have them; nil: of no others
}

// MarshalJSON writes the case without its matrices.
func (c *Case) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		M, N, K, Row, Column, Terms int
		A, B                        string
		D                           fp.ID
	}{c.M, c.N, c.K, c.Row, c.Column, c.Terms, mma.FormatCode(c.D, c.A), mma.FormatCode(c.D, c.B), c.D})
}

// mostValues bounds the elements of A and B that are made simpler one by one.
const mostValues = 512

// shrinker makes a product that differs smaller.
type shrinker struct {
	*Fuzz
	ctx    context.Context
	shapes *shapeRange
	best   *drawn
	at     [2]int
}

// shrink makes a product smaller: first its shape, then the products that are not zero, then
// the values of the rest.
func (z *Fuzz) shrink(ctx context.Context, s *shapeRange, p *drawn) (*Case, error) {
	q := Product{Operands: p.a, Got: p.d[0], Want: p.d[1], D: p.id}
	m := &shrinker{z, ctx, s, p, q.First()}
	if !m.try(m.kept(m.at[:1], m.at[1:], upTo(m.best.a.K))) {
		m.fewer(0)
		m.fewer(1)
	}
	m.fewerProducts()
	m.zeros()
	m.fewerProducts()
	m.simpler()
	o, w := m.best.a, m.best.id.Width()
	n := m.at[0]*o.N + m.at[1]
	c := &Case{Shape: o.Shape, Row: m.at[0], Column: m.at[1], A: mma.Load(m.best.d[0], w, n), B: mma.Load(m.best.d[1], w, n), D: m.best.id,
		Operands: [2]*gemm.Operands{o, m.best.b}, Products: m.best.d, formats: z.A.Unit.Formats, units: [2]*mma.Instruction{z.A.Unit, z.B.Unit}}
	for i, s := range []*Side{z.A, z.B} {
		if s.Modelled {
			c.kernels[i] = portable(s.Kernel)
		}
	}
	var left []int
	for k := range c.K {
		if m.some(k, 1) {
			left = append(left, k)
		}
	}
	c.Terms, c.left = len(left), schedule.SetOf(left)
	return c, ctx.Err()
}

// try makes operands the best ones if the sides differ on them.
func (m *shrinker) try(a, b *gemm.Operands) bool {
	if a == nil || b == nil || m.ctx.Err() != nil || !m.shapes.takes(0, a.M) || !m.shapes.takes(1, a.N) || !m.shapes.takes(2, a.K) {
		return false
	}
	c := &drawn{a: a, b: b}
	if m.compute(m.ctx, c); c.err != nil {
		return false
	}
	q := Product{Operands: a, Got: c.d[0], Want: c.d[1], D: c.id}
	e := q.First()
	if !q.differs(e) {
		return false
	}
	m.best, m.at = c, e
	return true
}

// size is the number of rows (side 0), columns (1) or products (2).
func (m *shrinker) size(side int) int {
	return [3]int{m.best.a.M, m.best.a.N, m.best.a.K}[side]
}

// fewer removes runs of rows, columns or products, long ones first.
func (m *shrinker) fewer(side int) {
	for step := m.size(side) / 2; step > 0; step /= 2 {
		for from := m.size(side) - step; from >= 0 && m.size(side) > step; from = min(from, m.size(side)) - step {
			lists := [3][]int{upTo(m.best.a.M), upTo(m.best.a.N), upTo(m.best.a.K)}
			lists[side] = slices.Delete(lists[side], from, from+step)
			m.try(m.kept(lists[0], lists[1], lists[2]))
		}
	}
}

// fewerProducts removes products. Of a side with few K, the least of them are tried: with the
// products at the beginning, at the end, and those that are not zero.
func (m *shrinker) fewerProducts() {
	if m.shapes.Ks == nil {
		m.fewer(2)
		return
	}
	var filled, empty []int
	for k := range m.best.a.K {
		if m.some(k, 1) {
			filled = append(filled, k)
		} else {
			empty = append(empty, k)
		}
	}
	for _, depth := range m.shapes.Ks {
		all := upTo(m.best.a.K)
		if depth >= len(all) {
			return
		}
		for _, ks := range [][]int{all[:depth], all[len(all)-depth:], slices.Concat(filled, empty)[:depth]} {
			slices.Sort(ks)
			if m.try(m.kept(upTo(m.best.a.M), upTo(m.best.a.N), ks)) {
				return
			}
		}
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// zeros makes products zero, long runs first.
func (m *shrinker) zeros() {
	for step := m.best.a.K; step > 0; step /= 2 {
		for from := 0; from < m.best.a.K; from += step {
			if m.some(from, step) {
				m.try(m.set(func(_ *fp.Format, _ uint64, k int) (uint64, bool) { return 0, k >= from && k < from+step }))
			}
		}
	}
}

// simpler replaces elements by 1, or by what is left of them if few significant bits are kept.
func (m *shrinker) simpler() {
	lines := m.best.a.M + m.best.a.N
	if lines*m.best.a.K > mostValues {
		return
	}
	for n := range lines * m.best.a.K {
		for _, bits := range []int{0, 1, 2, 3, 4, 6, 8, 12, 16} {
			i := -1
			changed := false
			a, b := m.set(func(f *fp.Format, code uint64, _ int) (uint64, bool) {
				if i++; i != n {
					return 0, false
				}
				next := f.FromFloat64(truncated(f.Float64(code), bits))
				changed = code != 0 && next != code
				return next, changed
			})
			if changed && m.try(a, b) {
				break
			}
		}
	}
}

// truncated returns a number without all but its first significant bits, 1 for no bits.
func truncated(v float64, bits int) float64 {
	fraction, exponent := math.Frexp(v)
	if bits == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	return math.Ldexp(math.Trunc(math.Ldexp(fraction, bits)), exponent-bits)
}

// set returns the operands with other elements, those for which to says so: A's row after row,
// then B's column after column.
func (m *shrinker) set(to func(f *fp.Format, code uint64, k int) (uint64, bool)) (a, b *gemm.Operands) {
	change := func(codes []byte, id fp.ID) []byte {
		out, w := slices.Clone(codes), id.Width()
		for n := range len(codes) / w {
			if code, ok := to(id.Get(), mma.Load(codes, w, n), n%m.best.a.K); ok {
				mma.Store(out, w, n, code)
			}
		}
		return out
	}
	x, y := *m.best.a, *m.best.b
	x.A, x.B = change(x.A, m.A.Unit.A), change(x.B, m.A.Unit.B)
	y.A, y.B = x.A, x.B
	return &x, &y
}

// some reports whether A has an element that is not zero among n products from k on.
func (m *shrinker) some(k, n int) bool {
	o, w := m.best.a, m.A.Unit.A.Width()
	for l := range o.M {
		line := o.A[l*o.K*w:][:o.K*w]
		if slices.ContainsFunc(line[k*w:min(k+n, o.K)*w], func(b byte) bool { return b != 0 }) {
			return true
		}
	}
	return false
}

// kept returns the operands of both sides with some rows, columns and products; nil if
// elements with different scales would come to share one.
func (m *shrinker) kept(rows, columns, ks []int) (a, b *gemm.Operands) {
	return m.A.kept(m.best.a, rows, columns, ks), m.B.kept(m.best.b, rows, columns, ks)
}

func (s *Side) kept(o *gemm.Operands, rows, columns, ks []int) *gemm.Operands {
	c := *o
	c.Shape = schedule.Shape{M: len(rows), N: len(columns), K: len(ks)}
	ok := true
	for _, p := range []struct {
		lines  []int
		matrix *[]byte
		id     fp.ID
		own    *[]byte   // scales of the instruction
		scales *[]uint64 // of the kernel
		blocks *schedule.Blocks
	}{
		{rows, &c.A, s.Unit.A, &c.SA, &c.ScaleA, s.blocks(0)},
		{columns, &c.B, s.Unit.B, &c.SB, &c.ScaleB, s.blocks(1)},
	} {
		w := p.id.Width()
		var codes []byte
		for _, l := range p.lines {
			for _, k := range ks {
				codes = append(codes, (*p.matrix)[(l*o.K+k)*w:][:w]...)
			}
		}
		*p.matrix = codes
		if *p.own != nil {
			*p.own = ownScales(*p.own, s.Unit, p.lines, ks, o.K, &ok)
		}
		if *p.scales != nil {
			*p.scales = scalesOf(*p.scales, p.blocks, p.lines, ks, o.K, &ok)
		}
	}
	if !ok {
		return nil
	}
	return &c
}

// ownScales is scalesOf for the scales of an instruction.
func ownScales(codes []byte, u *mma.Instruction, lines, ks []int, depth int, ok *bool) []byte {
	w := u.Scale.Width()
	all := make([]uint64, len(codes)/w)
	for i := range all {
		all[i] = mma.Load(codes, w, i)
	}
	return packed(scalesOf(all, unitBlocks(u), lines, ks, depth, ok), u.Scale)
}

// scalesOf returns the scales of some lines and products of a matrix with K = depth. It clears
// ok if elements with different scales would share one.
func scalesOf(codes []uint64, b *schedule.Blocks, lines, ks []int, depth int, ok *bool) []uint64 {
	out, set := make([]uint64, b.Count(len(lines), len(ks))), make([]bool, b.Count(len(lines), len(ks)))
	for i, line := range lines {
		for j, k := range ks {
			n, code := b.Index(i, j, len(ks)), codes[b.Index(line, k, depth)]
			if set[n] && out[n] != code {
				*ok = false
			}
			out[n], set[n] = code, true
		}
	}
	return out
}
