package sim

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// narrow is the kernel of T-FDPA (arXiv:2511.10909, Alg. 7) on operands of at
// most 5 exponent and 10 fraction bits. It gives the results of tfdpa and is faster:
//
//   - A product, of 22 bits and between 2^-64 and 2^33, is exact in float32, and so
//     is its product with 2^(F-E); converting that to an integer truncates.
//   - Codes of 8 bits are decoded by a table.
//   - The powers of 2 of an alignment come from a table, and most steps are computed
//     without branches (narrowStep.each).
//   - In a step in which some value is Inf, only the products of these values are
//     formed: they decide. If some value is NaN, no product is formed.
//
// Values come in pieces of 8 consecutive k; the last piece of a step is padded with
// zeros. Columns come in groups of 8.
type narrow struct {
	*tfdpa
	width      int
	pieces     int // of a step
	tabA, tabB [256]factor
	step       narrowStep
	single     kernel // faster on outputs one by one, as steps are short; nil: this one is
}

// factor is a decoded operand. code is its exponent code, 0 for zero, Inf and NaN.
type factor struct {
	value   float32
	code    uint8
	special uint8 // 1: Inf, 2: NaN
}

// The exponent code of emin.
const codeOne = 32

// narrowStep is what the addition of a step needs to know.
type narrowStep struct {
	lowest, floor, emin, f int32
	clamp                  bool   // some products are below emin
	first, span            uint32 // a sum needs no care in rounding if its exponent field (float64) is in first..first+span
	drop                   uint64 // bits of a float64 that acc does not keep

	scale *[2048]scales // by the exponent field (float64) of E; nil if the method each cannot be used
	zero  int32         // the exponent field for exponent code 0
	most  int32         // the exponent field of acc's largest exponent
}

// scales are powers of 2 for an alignment.
type scales struct {
	acc, sum float64 // 2^(F-E), 2^(E-F)
	products float32 // 2^(F-E)
}

// scalesByExp has the scales by E-F, which is -1023-most32 at index 0.
var scalesByExp = newScales()

func newScales() (table [most32 + 2048]scales) {
	for i := range table {
		n := i - most32 - 1023
		if n > 900 { // an accumulator that is Inf or NaN: this scale makes truncated report false for every sum
			table[i].sum = math.Inf(1)
			continue
		}
		// A scale below 2^-40 would leave nothing of products either, but by way of
		// subnormal numbers, which are slow.
		table[i] = scales{math.Ldexp(1, -n), math.Ldexp(1, n), float32(math.Ldexp(1, min(127, max(-n, -40))))}
	}
	return table
}

// narrowState is one worker's decoded tile.
type narrowState struct {
	single  any // of that kernel
	steps   int // of a row or column
	a, b    narrowSide
	codes   [][8]uint64 // exponent codes of B by k, a byte for each column: [group][step][piece]
	columns []uint8     // [group][step]: a bit for each column with Inf or NaN
	acc     [8]uint64   // bits of float64
	nan     uint8       // a bit for each accumulator that is NaN because a factor was, whatever acc holds
	last    [16]byte    // codes of a piece that is not whole
}

// newNarrow returns the kernel, or nil if it does not support t's formats, scales or
// step length.
func newNarrow(t *tfdpa) *narrow {
	a, b := t.a.f, t.b.f
	fits := func(f *fp.Format) bool {
		return f.ExpBits <= 5 && f.FracBits <= 10 && (f.Width == 1 || f.ID == fp.FP16)
	}
	if !fits(a) || !fits(b) || a.Width != b.Width || t.l > 32 || t.s.f != nil {
		return nil
	}
	n := &narrow{tfdpa: t, width: int(a.Width), pieces: (t.l + 7) / 8, tabA: factors(a), tabB: factors(b)}
	n.step = narrowStep{
		lowest: t.lowest, floor: t.floor, emin: t.emin, f: t.f, clamp: t.emin > t.base,
		first: uint32(t.emin + 1023), span: uint32(t.emax - t.emin), drop: 1<<t.drop - 1,
	}
	if t.nearest {
		n.step.first, n.step.span = 1<<12, 0 // none
	}
	if !t.nearest && t.f <= most32 && t.floor <= t.base && t.emin <= t.base-t.f { // so that no sum but zero is below emin
		n.step.scale = (*[2048]scales)(scalesByExp[most32-t.f:])
		n.step.most, n.step.zero = t.emax+1023, t.lowest+1023
	}
	if t.l < 4 {
		if w := newWord(t.m); w != nil {
			n.single = w
		}
	}
	return n
}

func (t *narrow) name() string { return "float32" }

func (t *narrow) newState() any {
	st := &narrowState{}
	if t.single != nil {
		st.single = t.single.newState()
	}
	return st
}

func (t *narrow) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*narrowState)
	if in.M*in.N == 1 && t.single != nil {
		t.single.run(in, out, st.single)
		return
	}
	steps := in.K / t.l
	st.steps = steps
	st.a.resize(in.M*steps, t.pieces)
	st.b.resize((in.N+7)/8*8*steps, t.pieces)
	for n := range in.Tiles {
		t.decode(st, &st.a, &t.tabA, in.A[n*in.M*in.K*t.width:], in.M*steps)
		t.decode(st, &st.b, &t.tabB, in.B[n*in.N*in.K*t.width:], in.N*steps)
		t.turn(st, in.N, steps)
		for i := range in.M {
			for col := 0; col < in.N; col += 8 {
				acc := st.acc[:min(8, in.N-col)]
				at := (n*in.M+i)*in.N + col
				t.loadAcc(acc, in, at)
				st.nan = 0
				for s := range steps {
					t.addStep(st, acc, i*steps+s, col*steps+s, col/8*steps+s)
				}
				for nan := st.nan; nan != 0; nan &= nan - 1 {
					st.acc[bits.TrailingZeros8(nan)] = 0x7ff8 << 48
				}
				t.storeAcc(acc, out, at)
			}
		}
	}
}

// loadAcc takes C of the outputs that begin with number at.
func (t *narrow) loadAcc(acc []uint64, in *mma.Batch, at int) {
	if t.c != nil && t.c.ID == fp.FP32 && len(acc) == 8 {
		acc, c := (*[8]uint64)(acc), (*[32]byte)(in.C[4*at:])
		for j := range acc {
			acc[j] = math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(c[4*j:]))))
		}
		return
	}
	for j := range acc {
		acc[j] = math.Float64bits(t.loadC(in, at+j))
	}
}

// storeAcc writes the outputs that begin with number at.
func (t *narrow) storeAcc(acc []uint64, out []byte, at int) {
	if t.d.ID == fp.FP32 && len(acc) == 8 {
		acc, d := (*[8]uint64)(acc), (*[32]byte)(out[4*at:])
		for j, v := range acc {
			x := math.Float64frombits(v)
			u := math.Float32bits(float32(x))
			if x != x {
				u = uint32(t.nan)
			}
			binary.LittleEndian.PutUint32(d[4*j:], u)
		}
		return
	}
	for j, x := range acc {
		t.store(out, at+j, math.Float64frombits(x))
	}
}

// addStep adds the products of a step of a row and a group of columns to acc. row, col and
// group are the indexes of the step in st.a, in st.b for the first column, and in st.codes.
func (t *narrow) addStep(st *narrowState, acc []uint64, row, col, group int) {
	n, steps := t.pieces, st.steps
	rowOnes, columns := st.a.special[row], st.columns[group]
	if rowOnes != 0 {
		columns = 0xff
	}
	if rowOnes>>32 != 0 {
		st.nan = 0xff
	}
	if st.nan == 0xff {
		return
	}
	a, b := st.a.val[row*n:][:n], st.b.val[col*n:]
	top := uint64(0)
	for p := range n {
		top = larger(top, largestCodes(st.a.code[row*n+p], &st.codes[group*n+p]))
	}
	if columns &^= st.nan; columns == 0 {
		t.add(acc, a, b, steps*n, top, st.nan)
		return
	}
	before := st.acc
	t.add(acc, a, b, steps*n, top, st.nan|columns)
	for ; columns != 0; columns &= columns - 1 {
		j := bits.TrailingZeros8(columns)
		special := rowOnes | st.b.special[col+j*steps]
		if special>>32 != 0 {
			st.nan |= 1 << j
		} else {
			st.acc[j] = math.Float64bits(specialSum(math.Float64frombits(before[j]), a, b[j*steps*n:], uint32(special)))
		}
	}
}

// largestCodes returns the largest exponent codes of products of a piece of a row
// and 8 columns, a byte each. Codes are below 128.
func largestCodes(row uint64, cols *[8]uint64) uint64 {
	var even, odd uint64 // two chains, for their latency
	for x := 0; x < 8; x += 2 {
		even = larger(even, row&0xff*eachByte+cols[x])
		odd = larger(odd, row>>8&0xff*eachByte+cols[x+1])
		row >>= 16
	}
	return larger(even, odd)
}

// larger returns, byte by byte, the larger of x and y. All bytes are below 128.
func larger(x, y uint64) uint64 {
	const top = 0x80 * eachByte
	d := (y | top) - x
	ge := d & top // y >= x
	return x + d&(ge-ge>>7)
}

// add adds the products of a step to the accumulators of adjacent columns. b has their
// values, one column every stride pieces, and top their largest exponent codes. The
// results of columns in skip do not matter.
func (t *narrow) add(accs []uint64, a, b []piece, stride int, top uint64, skip uint8) {
	// For each column, the bit that its largest code has if some product is not zero.
	some := uint64(2*codeOne*eachByte) >> (64 - 8*len(accs))
	plain := t.step.scale != nil && top&some == some
	var tops [8]uint8
	binary.LittleEndian.PutUint64(tops[:], top)
	for j := 0; j < len(accs); j++ {
		run := min(bits.TrailingZeros(uint(skip)>>j), len(accs)-j)
		if plain {
			n := t.step.each(accs[j:j+run], a, b[j*stride:], stride, tops[j:])
			j, run = j+n, run-n
		}
		if run == 0 {
			continue
		}
		x, exact := t.step.sum(math.Float64frombits(accs[j]), int32(tops[j]), a, b[j*stride:])
		if exact {
			x = t.round(x)
		}
		accs[j] = math.Float64bits(x)
	}
}

// each does what sum does, rounded toward zero, for columns that have products which
// are not zero. It stops at an accumulator that is not finite or becomes too large, and
// returns the number of columns done.
func (c *narrowStep) each(accs []uint64, a, b []piece, stride int, tops []uint8) int {
	if len(a) > 1 {
		return c.eachLong(accs, a, b, stride, tops)
	}
	p, at := &a[0], 0
	tops = tops[:len(accs)]
	for j, acc := range accs {
		s, q := c.scales(tops[j], acc), &b[at]
		sum := int64(math.Float64frombits(acc)*s.acc) + int64(dot4(p[:4], q[:4], s.products)+dot4(p[4:], q[4:], s.products))
		x, ok := c.truncated(sum, s.sum)
		if !ok {
			return j
		}
		accs[j] = x
		at += stride
	}
	return len(accs)
}

// eachLong is each for steps of several pieces.
func (c *narrowStep) eachLong(accs []uint64, a, b []piece, stride int, tops []uint8) int {
	at := 0
	tops = tops[:len(accs)]
	for j, acc := range accs {
		s := c.scales(tops[j], acc)
		sum := int64(math.Float64frombits(acc) * s.acc)
		b := b[at:][:len(a)]
		for k := range b {
			p, q := &a[k], &b[k]
			sum += int64(dot4(p[:4], q[:4], s.products) + dot4(p[4:], q[4:], s.products))
		}
		x, ok := c.truncated(sum, s.sum)
		if !ok {
			return j
		}
		accs[j] = x
		at += stride
	}
	return len(accs)
}

// scales returns the powers of 2 for an exponent code and an accumulator.
func (c *narrowStep) scales(code uint8, acc uint64) *scales {
	e, other := int32(code)+c.zero, int32(acc>>52&0x7ff)
	other -= e
	e += other &^ (other >> 31) // max would be a branch, which no processor can predict
	return &c.scale[e&0x7ff]
}

// truncated returns a sum, counted in units, rounded toward zero, and whether it is
// finite.
func (c *narrowStep) truncated(sum int64, unit float64) (uint64, bool) {
	x := math.Float64bits(float64(sum) * unit)
	return x &^ c.drop, int32(x>>52&0x7ff) <= c.most
}

// dot4 returns the sum of four products times scale, each truncated to an integer.
func dot4(p, q []float32, s float32) int32 {
	x, y := (*[4]float32)(p), (*[4]float32)(q)
	return int32(x[0]*y[0]*s) + int32(x[1]*y[1]*s) + int32(x[2]*y[2]*s) + int32(x[3]*y[3]*s)
}

// sum returns the sum of an accumulator and of products, code being the largest exponent
// code of these. exact reports that x is the exact sum, not rounded yet, because its
// rounding needs care. The function is small so that its variables stay in registers.
func (c *narrowStep) sum(acc float64, code int32, a, b []piece) (x float64, exact bool) {
	u := math.Float64bits(acc)
	ea := int32(u>>52&0x7ff) - 1023
	if code < 2*codeOne || ea == 1024 {
		return c.rare(acc)
	}
	e := max(code+c.lowest, c.floor, ea)
	if c.clamp && u<<1 != 0 {
		e = max(e, c.emin)
	}
	align := c.f - e
	sum := int64(acc * pow2(align))
	// A scale below 2^-40 would leave nothing of products either, but by way of
	// subnormal numbers, which are slow.
	scale := math.Float32frombits(uint32(max(align, -40)+127) << 23)
	if c.f > most32 {
		sum += dot64(a, b, scale)
	} else {
		for k := range a {
			p, q := &a[k], &b[k]
			sum += int64(int32(p[0]*q[0]*scale) + int32(p[1]*q[1]*scale) + int32(p[2]*q[2]*scale) + int32(p[3]*q[3]*scale) +
				int32(p[4]*q[4]*scale) + int32(p[5]*q[5]*scale) + int32(p[6]*q[6]*scale) + int32(p[7]*q[7]*scale))
		}
	}
	x = float64(sum) * pow2(-align)
	u = math.Float64bits(x)
	if uint32(u>>52&0x7ff)-c.first > c.span {
		return x, true
	}
	return math.Float64frombits(u &^ c.drop), false
}

// most32 is the largest F with which 8 products are added up in 32 bits, to which
// conversions are faster than to 64 bits. Each product is below 2^(F+2) units, so that
// their sum is below 2^30; 26 would fit as well, without that margin.
const most32 = 26 - 1

// dot64 returns the sum of products times scale, each truncated to an integer.
//
//go:noinline
func dot64(a, b []piece, scale float32) (sum int64) {
	for k := range a {
		p, q := &a[k], &b[k]
		for i, x := range p {
			sum += int64(x * q[i] * scale)
		}
	}
	return sum
}

// rare is sum where no product counts, or the accumulator is Inf or NaN.
func (c *narrowStep) rare(acc float64) (x float64, exact bool) {
	if acc-acc != 0 || acc == 0 {
		return acc + 0, false // +0 also of -0
	}
	e := max(c.floor, exponent(acc), c.emin)
	return float64(int64(acc*pow2(c.f-e))) * pow2(e-c.f), true
}

// specialSum adds to an accumulator the products that special marks: at least one factor of
// each is Inf, and none is NaN. No sum of the other products could change the result.
func specialSum(acc float64, a, b []piece, special uint32) float64 {
	for ; special != 0; special &= special - 1 {
		k := bits.TrailingZeros32(special)
		acc += float64(a[k/8][k%8]) * float64(b[k/8][k%8])
	}
	return acc
}
