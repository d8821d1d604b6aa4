//go:build !purego

package sim

import (
	"math"
)

// scales64 holds the E8M0 scales of the rows or of the columns of a grid, laid out
// [row][block] or [group][block][column], as simd.Scale needs them.
type scales64 struct {
	factor   []float64
	add, set []uint16
	nan      []float32
}

func (s *scales64) resize(n int) {
	s.factor, s.add, s.set, s.nan = resize(s.factor, n), resize(s.add, n), resize(s.set, n), resize(s.nan, n)
}

// put sets scale i and reports whether it is NaN.
func (s *scales64) put(i int, code byte) bool {
	s.factor[i], s.add[i], s.set[i], s.nan[i] = pow2(int32(code)-127), uint16(code), 0, 0
	if code != 0xff {
		return false
	}
	s.factor[i], s.set[i], s.nan[i] = 1, special64, float32(math.NaN())
	return true
}

// readScales reads the scales of a grid and reports whether one is NaN.
func (st *decoded64) readScales() bool {
	g := &st.grid
	in := g.in
	blocks := in.Blocks(in.K)
	nan := false
	rows := &st.scales[ofA]
	rows.resize(g.tiles * in.M * blocks)
	for i, code := range in.SA[g.from*in.M*blocks:][:g.tiles*in.M*blocks] {
		nan = rows.put(i, code) || nan
	}
	columns := &st.scales[ofB]
	columns.resize(g.tiles * g.groups * blocks * 8)
	if in.N%8 != 0 {
		for i := range columns.factor {
			columns.put(i, 127)
		}
	}
	for i, code := range in.SB[g.from*in.N*blocks:][:g.tiles*in.N*blocks] {
		block, j, t := i%blocks, i/blocks%in.N, i/blocks/in.N
		nan = columns.put(((t*g.groups+j/8)*blocks+block)*8+j%8, code) || nan
	}
	return nan
}

// applyScales multiplies the decoded operands by their scales.
func (o *operands64) applyScales(st *decoded64) {
	g := &st.grid
	blocks := g.in.Blocks(g.in.K)
	x := &st.scale
	set := func(s *scales64, n int) {
		x.N, x.Block = int64(n*blocks), int64(o.block)
		x.Factor, x.Add, x.Set, x.NaN = &s.factor[0], &s.add[0], &s.set[0], &s.nan[0]
		x.Kind = nil
	}
	set(&st.scales[ofA], g.tiles*g.in.M)
	x.Val, x.Code = &st.a[0], &st.ea[0]
	if st.special {
		x.Kind = &st.ka[0]
	}
	x.Rows()
	set(&st.scales[ofB], g.tiles*g.groups)
	x.Val, x.Code = &st.b[0], &st.eb[0]
	if st.special {
		x.Kind = &st.kb[0]
	}
	x.Columns()
}
