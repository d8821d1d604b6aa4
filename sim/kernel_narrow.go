package sim

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// narrow is the kernel of T-FDPA (arXiv:2511.10909, Alg. 7) on operands of at
// most 5 exponent and 10 fraction bits. It is tfdpa, whose results it has, with
// these things made faster:
//
//   - A product, of 22 bits and between 2^-64 and 2^33, is exact in float32, and so
//     is its product with 2^(F-E); converting that to an integer truncates.
//   - Codes of 8 bits are decoded by a table.
//   - Of the products of a step in which some value is Inf only those of these values
//     are formed: they decide. None is if some value is NaN.
//
// Everything comes in pieces of 8 values of k, of which the last of a step is
// filled up with zeros, and in groups of 8 columns.
type narrow struct {
	*tfdpa
	width      int
	pieces     int // of a step
	tabA, tabB [256]factor
	step       narrowStep
}

// factor is a decoded code. code is its exponent code, 0 for zero, Inf and NaN.
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
	first, span            uint32 // exponent fields of a float64 that need no care, less the first
	drop                   uint64 // bits of a float64 that acc does not keep
}

// narrowState is one worker's decoded tile.
type narrowState struct {
	a    narrowRows
	b    narrowCols
	acc  [8]float64
	last [16]byte // codes of a piece that is not whole
}

// narrowRows is A, by [row][step][piece].
type narrowRows struct {
	val     []piece
	code    [][8]uint8
	special []uint64 // [row][step]: a bit for each k that is Inf, and in the upper half that is NaN
}

// narrowCols is B.
type narrowCols struct {
	val     []piece     // [group][step][column][piece]
	code    [][64]uint8 // [group][step][piece], of [k][column]
	special []uint64    // [group][step][column]: as those of rows
	columns []uint8     // [group][step]: a bit for each column with one
}

type piece = [8]float32

// newNarrow returns the kernel, or nil if it is not for t's formats.
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
	return n
}

// factors returns the table of a format of 8 bits at most.
func factors(f *fp.Format) (table [256]factor) {
	if f.Width > 1 {
		return table
	}
	for i := range table {
		n := f.Decode(uint64(i))
		e := &table[i]
		e.value = float32(f.Float64(uint64(i)))
		switch {
		case n.Class == fp.Finite:
			e.code = uint8(codeOne + n.Exp - f.Emin())
		case n.Class == fp.NaN:
			e.special = 2
		case n.Class == fp.Inf:
			e.special = 1
		}
	}
	return table
}

func (t *narrow) name() string { return "float32" }

func (t *narrow) newState() any { return &narrowState{} }

func (t *narrow) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*narrowState)
	steps := in.K / t.l
	st.a.resize(in.M*steps, t.pieces)
	st.b.resize((in.N+7)/8*steps, t.pieces)
	for n := range in.Tiles {
		t.decodeA(st, in.A[n*in.M*in.K*t.width:])
		t.decodeB(st, in.B[n*in.N*in.K*t.width:], in.N, steps)
		for i := range in.M {
			for col := 0; col < in.N; col += 8 {
				acc := st.acc[:min(8, in.N-col)]
				at := (n*in.M+i)*in.N + col
				t.loadAcc(acc, in, at)
				for s := range steps {
					t.addStep(st, acc, i*steps+s, col/8*steps+s)
				}
				t.storeAcc(acc, out, at)
			}
		}
	}
}

func (s *narrowRows) resize(rows, pieces int) {
	s.val, s.code = resize(s.val, rows*pieces), resize(s.code, rows*pieces)
	s.special = resize(s.special, rows)
}

func (s *narrowCols) resize(groups, pieces int) {
	s.val, s.code = resize(s.val, 8*groups*pieces), resize(s.code, groups*pieces)
	s.special, s.columns = resize(s.special, 8*groups), resize(s.columns, groups)
}

// loadAcc takes C of the outputs from number at on.
func (t *narrow) loadAcc(acc []float64, in *mma.Batch, at int) {
	if t.c != nil && t.c.ID == fp.FP32 && len(acc) == 8 {
		acc, c := (*[8]float64)(acc), (*[32]byte)(in.C[4*at:])
		for j := range acc {
			acc[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(c[4*j:])))
		}
		return
	}
	for j := range acc {
		acc[j] = t.loadC(in, at+j)
	}
}

// storeAcc writes the outputs from number at on.
func (t *narrow) storeAcc(acc []float64, out []byte, at int) {
	if t.d.ID == fp.FP32 && len(acc) == 8 {
		acc, d := (*[8]float64)(acc), (*[32]byte)(out[4*at:])
		for j, x := range acc {
			u := math.Float32bits(float32(x))
			if x != x {
				u = uint32(t.nan)
			}
			binary.LittleEndian.PutUint32(d[4*j:], u)
		}
		return
	}
	for j, x := range acc {
		t.store(out, at+j, x)
	}
}

// decodeA decodes the rows of a tile.
func (t *narrow) decodeA(st *narrowState, buf []byte) {
	s := &st.a
	p := 0
	for r := range s.special {
		special := uint64(0)
		for n := t.l; n > 0; n -= 8 {
			codes, sp := t.decode(&s.val[p], &t.tabA, st.codes(buf, n, t.width))
			binary.LittleEndian.PutUint64(s.code[p][:], codes)
			special |= sp << ((t.l - n) & 31)
			buf = buf[min(n, 8)*t.width:]
			p++
		}
		s.special[r] = special
	}
}

// decodeB decodes the n columns of a tile of some steps.
func (t *narrow) decodeB(st *narrowState, buf []byte, n, steps int) {
	s := &st.b
	clear(s.columns)
	for j := range n {
		group := j / 8 * steps
		for range steps {
			special := uint64(0)
			val, p := s.val[(group*8+j%8)*t.pieces:], 0
			for n := t.l; n > 0; n -= 8 {
				codes, sp := t.decode(&val[p], &t.tabB, st.codes(buf, n, t.width))
				spread(&s.code[group*t.pieces+p], uint(j), codes)
				special |= sp << ((t.l - n) & 31)
				buf = buf[min(n, 8)*t.width:]
				p++
			}
			s.special[group*8+j%8] = special
			if special != 0 {
				s.columns[group] |= 1 << (j % 8)
			}
			group++
		}
	}
}

// spread stores the exponent codes of column j.
func spread(to *[64]uint8, j uint, codes uint64) {
	j %= 8
	for k := uint(0); k < 64; k += 8 {
		to[k+j] = uint8(codes)
		codes >>= 8
	}
}

// codes returns the codes of a piece of n values, filled up if n is less than 8.
func (st *narrowState) codes(buf []byte, n, width int) []byte {
	if n >= 8 {
		return buf
	}
	clear(st.last[:])
	copy(st.last[:], buf[:n*width])
	return st.last[:]
}

// decode decodes a piece and returns its exponent codes and bits for values that are
// Inf or NaN.
func (t *narrow) decode(val *piece, table *[256]factor, buf []byte) (codes, special uint64) {
	if t.width == 2 {
		return decodeHalves(val, (*[16]byte)(buf))
	}
	b := (*[8]byte)(buf)
	for x := range val {
		f := &table[b[x]]
		val[x] = f.value
		codes |= uint64(f.code) << (8 * x & 63)
		if f.special != 0 {
			special |= 1 << ((x + int(f.special&2)<<4) & 63)
		}
	}
	return codes, special
}

// decodeHalves decodes FP16 codes.
func decodeHalves(val *piece, buf *[16]byte) (codes, special uint64) {
	lo, hi := binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])
	if (notNormal(lo)|notNormal(hi))&(0x8000*eachHalf) != 0 {
		c0, s0 := rareHalves((*[4]float32)(val[:4]), lo)
		c1, s1 := rareHalves((*[4]float32)(val[4:]), hi)
		return c0 | c1<<32, s0 | s1<<4
	}
	for x := range 4 {
		val[x], val[x+4] = normalHalf(lo), normalHalf(hi)
		lo, hi = lo>>16|lo<<48, hi>>16|hi<<48
	}
	return halfCodes(lo) | halfCodes(hi)<<32, 0
}

const (
	eachByte = 0x0101010101010101
	eachHalf = 0x0001000100010001
)

// notNormal sets the top bit of each of four codes that is not a normal number.
// The field of one, plus 1, is at least 2 and below 32.
func notNormal(h uint64) uint64 {
	return 0x8000*eachHalf - (h&(0x7c00*eachHalf)+0x400*eachHalf)&(0x7800*eachHalf)
}

// normalHalf returns a normal number: the exponent field moves to float32's, with
// the difference of the biases.
func normalHalf(h uint64) float32 {
	return math.Float32frombits(uint32(int32(int16(h))<<13)&0x8fffe000 + 112<<23)
}

// halfCodes returns the exponent codes of four normal numbers.
func halfCodes(h uint64) uint64 {
	e := h>>10&(0x1f*eachHalf) + (codeOne-1)*eachHalf
	e = (e | e>>8) & 0x0000ffff0000ffff
	return (e | e>>16) & 0xffffffff
}

// rareHalves decodes four codes, whatever they are.
func rareHalves(val *[4]float32, h uint64) (codes, special uint64) {
	for x := range val {
		v := normalHalf(h)
		c := uint32(h) & 0xffff
		e := c>>10&0x1f + codeOne - 1
		switch c & 0x7c00 {
		case 0:
			v = float32(int32(c&0x3ff)) / (1 << 24)
			if e = codeOne; v == 0 {
				e = 0
			}
			v = math.Float32frombits(math.Float32bits(v) | c<<16&(1<<31))
		case 0x7c00:
			v = math.Float32frombits(c<<16 | 0x7f800000 | c<<13)
			e = 0
			if c&0x3ff == 0 {
				special |= 1 << x
			} else {
				special |= 1 << (32 + x)
			}
		}
		val[x] = v
		codes |= uint64(e) << (8 * x & 63)
		h >>= 16
	}
	return codes, special
}

// addStep adds the products of a step of a row and a group of columns to acc.
func (t *narrow) addStep(st *narrowState, acc []float64, row, group int) {
	rowOnes, columns := st.a.special[row], st.b.columns[group]
	if rowOnes>>32 != 0 {
		for j := range acc {
			acc[j] = math.NaN()
		}
		return
	}
	n := t.pieces
	a, b := st.a.val[row*n:][:n], st.b.val[group*8*n:][:8*n]
	top := uint64(0)
	for p := range n {
		top = larger(top, largestCodes(&st.a.code[row*n+p], &st.b.code[group*n+p]))
	}
	if rowOnes == 0 && columns == 0 {
		t.add(acc, a, b, top)
		return
	}
	for j := range acc {
		switch special := rowOnes | st.b.special[group*8+j]; {
		case special == 0:
			t.add(acc[j:j+1], a, b[j*n:], top>>(8*j&63))
		case special>>32 != 0:
			acc[j] = math.NaN()
		default:
			acc[j] = specialSum(acc[j], a, b[j*n:], uint32(special))
		}
	}
}

// largestCodes returns the largest exponent codes of products of a piece of a row
// and 8 columns, a byte each. Codes are below 128.
func largestCodes(row *[8]uint8, cols *[64]uint8) uint64 {
	var even, odd uint64 // two chains, for their latency
	for x := 0; x < 8; x += 2 {
		even = larger(even, uint64(row[x])*eachByte+binary.LittleEndian.Uint64(cols[8*x:]))
		odd = larger(odd, uint64(row[x+1])*eachByte+binary.LittleEndian.Uint64(cols[8*x+8:]))
	}
	return larger(even, odd)
}

// larger returns the larger bytes of x and y, all of which are below 128.
func larger(x, y uint64) uint64 {
	const top = 0x80 * eachByte
	ge := ((y | top) - x) & top // y >= x
	ge -= ge >> 7               // all lower bits
	return x ^ (x^y)&ge
}

// add adds the products of a step, none of which is Inf or NaN, to the
// accumulators of adjacent columns. top has their largest exponent codes.
func (t *narrow) add(accs []float64, a, b []piece, top uint64) {
	for j, acc := range accs {
		x, exact := t.step.sum(acc, int32(top&0xff), a, b)
		if exact {
			x = t.round(x)
		}
		accs[j] = x
		top >>= 8
		b = b[len(a):]
	}
}

// sum returns the sum of an accumulator and of products of the largest exponent
// code: rounded, or exact if its rounding needs care. It is small so that its
// variables stay in registers.
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

// most32 is the largest F with which 8 products, below 2^(F+2) units each, add up to
// less than 2^31. Conversions to integers of 32 bits are faster than to 64 bits.
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

// specialSum adds those products to an accumulator of which a factor is Inf, and none
// NaN. No sum of the others could change the result.
func specialSum(acc float64, a, b []piece, special uint32) float64 {
	for ; special != 0; special &= special - 1 {
		k := bits.TrailingZeros32(special)
		acc += float64(a[k/8][k%8]) * float64(b[k/8][k%8])
	}
	return acc
}
