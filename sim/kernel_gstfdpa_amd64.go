//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// gstfdpa is the kernel of GST-FDPA (arXiv:2511.10909, Alg. 9) with vector
// instructions: exact sums of groups in float32, then the sum of the scaled sums and
// C in float64.
type gstfdpa struct {
	m        *Model
	level    simd.Level
	l, group int
	a, b     simd.Small
	scales   [256][2]float64 // value, and the power of two of the exponent field
	groups   simd.Groups
	sums     simd.Sums
}

// gstfdpaState is one worker's scratch space.
type gstfdpaState struct {
	gridState
	a, b        [2][]float32 // values and magnitudes
	sums, sizes []float32    // [group][output]
	zeros32     []float32
	rows, cols  []float64 // scales
	joined      []float64
	kinds       []float32
	marks       []uint16 // bit 13 is set for every output, so that Sums looks at all kinds
	order       []uint32
	small       simd.Small
	chain       simd.Chain
	groups      simd.Groups
	sum         simd.Sums
}

// newGSTFDPA returns the kernel, or nil if it does not support the program.
func newGSTFDPA(m *Model, level simd.Level) kernel {
	p, f := &m.params, m.formats
	q := mma.Params{
		L: p.L, Scale: mma.ScaleGroup, Stage0: mma.Stage{Sum: mma.Fused, Group: p.Stage0.Group, Fixed: true},
		Join: mma.Join{Align: mma.Align{F: p.Join.Align.F, Mode: fp.RZ, Floor: p.Join.Align.Floor}}, Acc: p.Acc,
		Special: mma.Special{NaN: p.Special.NaN},
	}
	want := mma.To(fp.FP32, fp.RZ)
	want.Frac = p.Acc.Frac
	t := &gstfdpa{m: m, level: level, l: p.Step(m.k), group: int(p.Stage0.Group)}
	if level < simd.AVX2 || q != *p || p.Acc != want || p.Acc.Frac == 0 || p.Acc.Frac > 23 || p.Special.OperandNaN() ||
		f.D != fp.FP32 || f.C != fp.FP32 && f.C != fp.None || f.Scale == fp.None || m.k%t.l != 0 {
		return nil
	}
	if t.group == 0 || t.l%t.group != 0 || int(f.Block)%t.group != 0 || m.k%int(f.Block) != 0 || !t.fits() {
		return nil
	}
	t.a, t.b = newSmall(f.A.Get()), newSmall(f.B.Get())
	t.set()
	return t
}

// fits reports whether the sums of groups are exact as FP32, and the terms of a step
// stay below 2^52 units.
func (t *gstfdpa) fits() bool {
	most, least := float64(t.group), 1.0
	for _, id := range []fp.ID{t.m.formats.A, t.m.formats.B} {
		f := id.Get()
		if f.Width != 1 || f.Specials != fp.AllFinite || !f.Signed {
			return false
		}
		most *= f.Float64(f.MaxFinite())
		least *= f.Float64(1)
	}
	terms := float64(t.l/t.group + 1)
	return most/least <= 1<<24 && math.Ldexp(most*4*terms, int(t.m.params.Join.Align.F)) <= 1<<52
}

func newSmall(f *fp.Format) simd.Small {
	at := int64(f.ExpBits + f.FracBits)
	return simd.Small{
		Left: 32 - at, Right: 9 - int64(f.ExpBits), SignLeft: 31 - at, Sign: 1 << 31,
		Hidden: 1 << 23, Rebias: (127 - int64(f.Bias)) << 23,
		Two: [2]float32{2}, Emin: [2]float32{float32(math.Ldexp(1, int(f.Emin())))},
	}
}

func (t *gstfdpa) set() {
	f := t.m.formats.Scale.Get()
	for i := range t.scales {
		n := f.Decode(uint64(i))
		s := &t.scales[i]
		s[0] = f.Float64(uint64(i))
		switch n.Class {
		case fp.Finite:
			s[1] = math.Ldexp(1, int(n.Exp))
		case fp.NaN:
			s[1] = 1
		}
	}
	p := &t.m.params
	emin := math.Ldexp(1, -126)
	t.groups = simd.Groups{
		Groups: int64(t.l / t.group), ExpMask: 0x7ff << 52, SignBit: math.MinInt64, Shift: (52 - int64(p.Join.Align.F)) << 52, Emin: emin,
	}
	if p.Join.Align.Floor != 0 {
		t.groups.Floor = math.Ldexp(1, int(p.Join.Align.Floor))
	}
	t.sums = simd.Sums{
		ExpMask: 0x7ff << 52, SignBit: math.MinInt64, Emin: emin, Last: (52 - int64(p.Acc.Frac)) << 52, Over: math.Ldexp(1, 128),
		QNaN: int64(newMachine(t.m).nanCode(term{kind: NaN})), Inf32: 0x7f800000, Bit13: 1 << 13,
	}
}

func (t *gstfdpa) name() string {
	return "gst-fdpa " + (Portable + Path(t.level-simd.Portable)).String()
}

func (t *gstfdpa) newState() any { return &gstfdpaState{} }

func (t *gstfdpa) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*gstfdpaState)
	for len(st.order) < t.group {
		st.order = append(st.order, uint32(len(st.order)))
	}
	perTile := 9*in.K*(in.M+in.N) + 8*in.M*in.N*(t.l/t.group)
	eachGrid(&st.gridState, in, out, perTile, func(g *grid) { t.grid(st, g, out) }, t.m.runGeneral)
}

// grid computes the outputs of one grid of tiles.
func (t *gstfdpa) grid(st *gstfdpaState, g *grid, out []byte) {
	a := st.filled(ofA, g.rowCodes(1), 8)
	t.decode(st, &t.a, a, &st.a, (g.rows-g.in.M)*g.in.K)
	b := st.filled(ofB, st.turnColumns(g.columnCodes(1), 1), 8)
	t.decode(st, &t.b, b, &st.b, 0)
	t.readScales(st)
	n := g.outputs()
	groups := t.l / t.group
	st.sums, st.sizes = resize(st.sums, groups*n), resize(st.sizes, groups*n)
	st.zeros32, st.joined, st.kinds = resize(st.zeros32, n), resize(st.joined, n), resize(st.kinds, n)
	for len(st.marks) < n {
		st.marks = append(st.marks, 1<<13)
	}
	c, d := st.accumulators(out)
	for at := 0; at < g.in.K; at += t.l {
		for i := range groups {
			for j, dst := range [][]float32{st.sums, st.sizes} {
				t.sumGroup(st, j, at+i*t.group, dst[i*n:][:n])
			}
		}
		t.join(st, at, c, d)
		c = d
	}
	st.scatter(out)
}

// decode decodes codes to values and magnitudes, with room for more after them.
func (t *gstfdpa) decode(st *gstfdpaState, format *simd.Small, src []byte, dst *[2][]float32, more int) {
	n := len(src)
	dst[0], dst[1] = resize(dst[0], n+more), resize(dst[1], n+more)
	st.small = *format
	st.small.Src, st.small.Val, st.small.Mag, st.small.N = &src[0], &dst[0][0], &dst[1][0], int64(n)
	st.small.Run()
}

// readScales reads the scales of a grid, one for each group of products.
func (t *gstfdpa) readScales(st *gstfdpaState) {
	g := &st.grid
	in := g.in
	blocks, groups := in.Blocks(in.K), in.K/t.group
	per := groups / blocks // groups in a block
	st.rows, st.cols = resize(st.rows, 2*g.tiles*in.M*groups), resize(st.cols, 16*g.tiles*g.groups*groups)
	for i, code := range in.SA[g.from*in.M*blocks:][:g.tiles*in.M*blocks] {
		for j := range per {
			copy(st.rows[2*(i*per+j):], t.scales[code][:])
		}
	}
	if in.N%8 != 0 {
		clear(st.cols)
	}
	for i, code := range in.SB[g.from*in.N*blocks:][:g.tiles*in.N*blocks] {
		block, j, tile := i%blocks, i/blocks%in.N, i/blocks/in.N
		for n := range per {
			at := 16*((tile*g.groups+j/8)*groups+block*per+n) + j%8
			st.cols[at], st.cols[at+8] = t.scales[code][0], t.scales[code][1]
		}
	}
}

// sumGroup sums the products of a group, or their magnitudes.
func (t *gstfdpa) sumGroup(st *gstfdpaState, magnitudes, at int, dst []float32) {
	g := &st.grid
	m, k := g.in.M, g.in.K
	x := &st.chain
	x.A, x.B = bytesOf(st.a[magnitudes][at:]), bytesOf(st.b[magnitudes][8*at:])
	x.C, x.D = bytesOf(st.zeros32), bytesOf(dst)
	x.Tiles, x.Groups, x.Rows = int64(g.tiles), int64(g.groups), int64(g.rows)
	x.ARow, x.ATile, x.BGroup = int64(4*k), int64(4*k*m), int64(32*k)
	x.Order, x.N = &st.order[0], int64(t.group)
	x.FMA32()
}

// join adds C to the scaled sums of the groups of a step.
func (t *gstfdpa) join(st *gstfdpaState, at int, c, d *byte) {
	g := &st.grid
	m, n, all := g.in.M, g.outputs(), g.in.K/t.group
	x := &st.groups
	*x = t.groups
	x.Sums, x.Sizes, x.SumStride = &st.sums[0], &st.sizes[0], int64(4*n)
	x.RowScales, x.ColumnScales = &st.rows[2*at/t.group], &st.cols[16*at/t.group]
	x.Acc, x.D, x.Kinds = floats32(c), &st.joined[0], &st.kinds[0]
	x.Tiles, x.ColumnGroups, x.Rows = int64(g.tiles), int64(g.groups), int64(g.rows)
	x.RowStride, x.RowTile, x.ColumnStride = int64(16*all), int64(16*all*m), int64(128*all)
	x.Run(t.level)
	s := &st.sum
	*s = t.sums
	s.Parts, s.Acc, s.Sum, s.N = &st.joined[0], c, d, int64(n)
	s.E, s.Kinds = &st.marks[0], &st.kinds[0]
	s.Truncate(t.level)
}
