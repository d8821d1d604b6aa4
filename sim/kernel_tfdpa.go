package sim

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// tfdpa is the kernel of T-FDPA and ST-FDPA (arXiv:2511.10909, Alg. 7 and 8) in
// portable scalar Go. What makes it fast:
//
//   - A product of two significands of up to 26 bits is exact in float64, and so
//     is its product with 2^(F-E); converting that to an integer truncates toward
//     zero. That is the alignment, sign included: two multiplications and a
//     conversion. No exponent comes near float64's limits: products lie in
//     2^-298..2^257, block scales add 2^+-254, and 2^(F-E) is at least 2^-400.
//   - The accumulator is a float64 too, and one more term. The sum, at most 53
//     bits, is exact as a float64; rounding it clears low bits.
//   - The largest exponents of 8 (or 4) columns are found together, in the bytes
//     (or 16-bit words) of a uint64.
//   - A step with an Inf or a NaN in its row or column needs no alignment:
//     float64 arithmetic has the same rules for them.
type tfdpa struct {
	m       *Model
	l       int // products per step
	f       int32
	floor   int32 // far below all exponents if there is none
	acc     mma.Round
	emin    int32 // of acc
	emax    int32
	nearest bool // acc rounds to nearest even, else toward zero
	drop    uint // fraction bits of a float64 that acc does not keep

	a, b, s  decoder
	c, d     *fp.Format // c is nil if the instruction has none
	base     int32      // nominal exponent of a product of two subnormals
	lanes    int        // columns in one uint64: 8 or 4
	bits     uint       // 64/lanes
	finite   uint64     // exponent code of emin
	nonZero  int32      // lane of a product that is not zero, at least
	lowest   int32      // exponent less its lane's value
	laneMask int32
	tops     uint64 // the top bit of each lane
	nan      uint64 // code of a NaN result

	signC, normalC, rebiasC uint64 // of C's format: sign bit, number of normal exponent fields, change of bias to float64's
}

// tfdpaState is one worker's decoded tile.
type tfdpaState struct {
	rows, cols side
	row        []uint64 // exponent codes of A, repeated in all lanes: [row][k]
	col        []uint64 // exponent codes of B, one column a lane: [group][k]
	sa, sb     []operand
	codes      []uint32 // of the side being decoded
	exps       []uint32 // exponent codes of it
	tops       []uint64 // largest exponent codes of a group of columns: [step]
}

// side is the rows of A or the columns of B, decoded.
type side struct {
	val     []float64 // [row][k]
	special []bool    // [row][step]: some value of the step is Inf or NaN
}

// The sum of the terms of a step, each below 2^(F+2) units, must stay below 2^53 units.
const (
	maxKernelL = 127
	maxKernelF = 44
)

// newTFDPA returns the kernel, or nil if it does not support the program.
func newTFDPA(m *Model) *tfdpa {
	p, f := &m.params, m.formats
	a, b := f.A.Get(), f.B.Get()
	l := p.Step(m.k)
	if a.Specials == fp.NegZeroNaN || b.Specials == fp.NegZeroNaN || // decodeSide does not know them
		!isTFDPA(p) || a.FracBits > 25 || b.FracBits > 25 || l > maxKernelL || m.k%l != 0 {
		return nil
	}
	if !f.D.Get().HasInf() || f.C != fp.None && (f.C != f.D || int32(p.Acc.Emin) != f.D.Get().Emin()) { // a subnormal c would count with another exponent than later accumulators
		return nil
	}
	if f.Scale != fp.None && (f.Scale != fp.E8M0 || int(f.Block)%l != 0) {
		return nil
	}
	t := &tfdpa{
		m: m, l: l, f: int32(p.Join.Align.F), floor: int32(p.Join.Align.Floor),
		acc: p.Acc, drop: 52 - uint(p.Acc.Frac), emin: int32(p.Acc.Emin), emax: int32(p.Acc.Emax), nearest: p.Acc.Mode == fp.RNE,
		a: newDecoder(a, p, mma.Narrow{}), b: newDecoder(b, p, mma.Narrow{}),
		c: format(f.C), d: f.D.Get(),
		base:  a.Emin() + b.Emin(),
		lanes: 8, bits: 8, tops: 0x8080808080808080,
	}
	if max(a.Emax()-a.Emin(), b.Emax()-b.Emin()) >= 1<<(t.bits-3) {
		t.lanes, t.bits, t.tops = 4, 16, 0x8000800080008000
	}
	// Exponent codes are finite..2*finite-1, and 0 for zero, Inf and NaN. A lane
	// holds the sum of two: at least 2*finite if neither factor is zero, less
	// otherwise, and never the lane's top bit.
	t.finite = 1 << (t.bits - 3)
	t.nonZero = 2 * int32(t.finite)
	t.lowest = t.base - t.nonZero
	t.laneMask = 1<<t.bits - 1
	if t.floor == 0 {
		t.floor = -1 << 20
	}
	if t.c != nil {
		t.signC, t.normalC = t.c.SignBit(), 1<<t.c.ExpBits-2
		t.rebiasC = uint64(1023-int64(t.c.Bias)) << 52
	}
	if f.Scale != fp.None {
		t.s = newDecoder(fp.E8M0.Get(), &mma.Params{}, mma.Narrow{})
	}
	x := newMachine(m)
	t.nan = x.nanCode(term{kind: NaN})
	return t
}

// isTFDPA reports whether a program has the shape of Alg. 7 or 8: nothing set but
// what the kernel reads.
func isTFDPA(p *mma.Params) bool {
	q := *p
	al, r := p.Join.Align, p.Acc
	q.L, q.Acc, q.Join.Align.F, q.Join.Align.Mode, q.Join.Align.Floor = 0, mma.Round{}, 0, 0, 0
	q.Special.TinySign, q.Special.NaN = false, 0
	return q == mma.Params{} && al.F != 0 && al.F <= maxKernelF && al.Mode == fp.RZ &&
		!p.Special.OperandNaN() && (r.Mode == fp.RZ || r.Mode == fp.RNE) &&
		r.Frac < 52 && r.Flush == mma.NoFlush && r.Over == mma.OverInf && r.Emin != 0 && r.Emax != 0
}

func (t *tfdpa) name() string { return "float64" }

func (t *tfdpa) newState() any { return &tfdpaState{} }

func (t *tfdpa) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*tfdpaState)
	groups := (in.N + t.lanes - 1) / t.lanes
	st.tops = resize(st.tops, in.K/t.l)
	for n := range in.Tiles {
		t.decode(st, in, n)
		for i := range in.M {
			for g := range groups {
				t.largest(st, i, g, in.K)
				t.outputs(st, in, n, i, g, out)
			}
		}
	}
}

// decode fills the state with tile n.
func (t *tfdpa) decode(st *tfdpaState, in *mma.Batch, n int) {
	k := in.K
	t.decodeSide(st, &t.a, &st.rows, in.A, n*in.M, in.M, k)
	repeat := t.tops >> (t.bits - 1) // one in each lane
	st.row = resize(st.row, len(st.exps))
	for i, e := range st.exps {
		st.row[i] = uint64(e) * repeat
	}
	t.decodeSide(st, &t.b, &st.cols, in.B, n*in.N, in.N, k)
	st.col = resize(st.col, (in.N+t.lanes-1)/t.lanes*k)
	clear(st.col)
	for j := range in.N {
		lane := st.col[j/t.lanes*k:][:k]
		shift := uint(j%t.lanes) * t.bits
		for x, e := range st.exps[j*k:][:k] {
			lane[x] |= uint64(e) << (shift & 63)
		}
	}
	if blocks := in.Blocks(k); blocks > 0 {
		st.sa, st.sb = operands(st.sa, in.M*blocks), operands(st.sb, in.N*blocks)
		t.s.decodeRow(st.sa, in.SA, n, in.M*blocks)
		t.s.decodeRow(st.sb, in.SB, n, in.N*blocks)
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// loadCodes copies the codes that begin at element first of a buffer.
func loadCodes(dst []uint32, buf []byte, width uint8, first int) {
	n := len(dst)
	switch width {
	case 1:
		for i, c := range buf[first:][:n] {
			dst[i] = uint32(c)
		}
	case 2:
		buf = buf[2*first:][:2*n]
		for i := range dst {
			dst[i] = uint32(binary.LittleEndian.Uint16(buf[2*i:]))
		}
	default: // 4: wider operands have no kernel
		buf = buf[4*first:][:4*n]
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint32(buf[4*i:])
		}
	}
}

// decodeSide decodes n rows of a buffer, beginning with number row, and their
// exponent codes into st.exps.
func (t *tfdpa) decodeSide(st *tfdpaState, d *decoder, s *side, buf []byte, row, n, k int) {
	st.codes, st.exps = resize(st.codes, n*k), resize(st.exps, n*k)
	s.val, s.special = resize(s.val, n*k), resize(s.special, n*k/t.l)
	loadCodes(st.codes, buf, d.f.Width, row*k)
	low, frac, toFrac := d.f.Low, d.frac, 52-d.frac
	signAt := frac + d.f.ExpBits
	magnitude, fields, normal := uint32(1)<<signAt-1, uint32(d.field), uint32(d.top-1)
	rebias := uint64(1023-d.bias) << 52
	exp := uint32(t.finite - 1)
	unit := pow2(d.emin - int32(frac))
	for step := range s.special {
		from := step * t.l
		special := false
		val, exps := s.val[from:][:t.l], st.exps[from:][:t.l]
		for x, code := range st.codes[from:][:t.l] {
			c := code >> (low & 31)
			field := c >> (frac & 31) & fields
			sign := uint64(c>>(signAt&31)) << 63
			switch {
			case field-1 < normal: // the same sign, exponent and fraction as a float64
				val[x] = math.Float64frombits(sign | (uint64(c&magnitude)<<(toFrac&63) + rebias))
				exps[x] = field + exp
			case field == 0: // subnormal or zero
				v := float64(c&magnitude) * unit
				val[x] = math.Float64frombits(sign | math.Float64bits(v))
				exps[x] = 0
				if v != 0 {
					exps[x] = exp + 1
				}
			default: // the largest field: perhaps Inf or NaN, with the code of zero
				val[x], exps[x] = d.f.Float64(uint64(code)), 0
				if isSpecial(val[x]) {
					special = true
				} else {
					exps[x] = field + exp
				}
			}
		}
		s.special[step] = special
	}
}

// largest finds the largest exponent codes of row i and the columns of group g
// for each step.
func (t *tfdpa) largest(st *tfdpaState, i, g, k int) {
	row, col := st.row[i*k:][:k], st.col[g*k:][:k]
	h, shift := t.tops, (t.bits-1)&63
	for s := range st.tops {
		var top uint64
		b := col[s*t.l:][:t.l]
		for x, a := range row[s*t.l:][:t.l] {
			sum := a + b[x]
			ge := ((sum | h) - top) & h // top bit of a lane: sum >= top
			ge -= ge >> shift           // all lower bits
			top ^= (top ^ sum) & ge
		}
		st.tops[s] = top
	}
}

// outputs computes the outputs of row i of tile n in the columns of group g.
func (t *tfdpa) outputs(st *tfdpaState, in *mma.Batch, n, i, g int, out []byte) {
	at := (n*in.M+i)*in.N + g*t.lanes
	shift := uint(0)
	for j := g * t.lanes; j < min(in.N, (g+1)*t.lanes); j++ {
		acc := t.loadC(in, at)
		if t.s.f != nil {
			acc = t.scaledOutput(st, in, i, j, shift, acc)
		} else {
			acc = t.output(st, in.K, i, j, shift, acc)
		}
		t.store(out, at, acc)
		at++
		shift += t.bits
	}
}

// output adds the products of output (i, j) to acc. The functions from here on
// are small so that their variables stay in registers.
func (t *tfdpa) output(st *tfdpaState, k, i, j int, shift uint, acc float64) float64 {
	a, b := st.rows.val[i*k:][:k], st.cols.val[j*k:][:k]
	l, steps := t.l, len(st.tops)
	specialA, specialB := st.rows.special[i*steps:], st.cols.special[j*steps:]
	for s, tops := range st.tops {
		if specialA[s] || specialB[s] {
			acc = specialDot(acc, a[:l], b[:l])
		} else {
			acc = t.step(acc, a[:l], b[:l], int32(tops>>(shift&63)), 0)
		}
		a, b = a[l:], b[l:]
	}
	return acc
}

// scaledOutput is output with block scales.
func (t *tfdpa) scaledOutput(st *tfdpaState, in *mma.Batch, i, j int, shift uint, acc float64) float64 {
	k, l, steps := in.K, t.l, len(st.tops)
	a, b := st.rows.val[i*k:][:k], st.cols.val[j*k:][:k]
	for s, tops := range st.tops {
		scale, ok := t.scale(st, in, i, j, s*l)
		if !ok {
			acc = math.NaN()
		}
		if st.rows.special[i*steps+s] || st.cols.special[j*steps+s] {
			acc = specialDot(acc, a[:l], b[:l])
		} else {
			acc = t.step(acc, a[:l], b[:l], int32(tops>>(shift&63)), scale)
		}
		a, b = a[l:], b[l:]
	}
	return acc
}

// step adds the products of a step, none of which is Inf or NaN, to an
// accumulator. top is the largest exponent code, with other lanes above it.
func (t *tfdpa) step(acc float64, a, b []float64, top, scale int32) float64 {
	e := t.floor
	if top &= t.laneMask; top >= t.nonZero { // some product is not zero
		e = max(e, top+t.lowest+scale)
	} else if acc == 0 {
		return 0 // all terms are zero: +0
	}
	if acc != 0 {
		ea := exponent(acc)
		if ea == 1024 {
			return acc // Inf or NaN, and all products are finite
		}
		e = max(e, ea, t.emin)
	}
	align := t.f - e
	sum := int64(acc*pow2(align)) + dot(a, b, pow2(align+scale))
	return t.round(float64(sum) * pow2(-align))
}

// scale returns the sum of the exponents of an output's scales for the step that
// begins at k, or false if one is NaN.
func (t *tfdpa) scale(st *tfdpaState, in *mma.Batch, i, j, k int) (int32, bool) {
	block, blocks := k/int(in.Block), in.Blocks(in.K)
	sa, sb := &st.sa[i*blocks+block], &st.sb[j*blocks+block]
	return sa.e + sb.e, sa.class != fp.NaN && sb.class != fp.NaN
}

// pow2 returns 2^n for n in float64's normal range.
func pow2(n int32) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// dot returns the sum of the products times scale, each truncated to an integer.
func dot(a, b []float64, scale float64) int64 {
	var s int64
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float64)(a), (*[4]float64)(b)
		s += int64(x[0]*y[0]*scale) + int64(x[1]*y[1]*scale)
		s += int64(x[2]*y[2]*scale) + int64(x[3]*y[3]*scale)
		a, b = a[4:], b[4:]
	}
	for k, v := range a {
		s += int64(v * b[k] * scale)
	}
	return s
}

// exponent returns floor(log2|x|) of a number in float64's normal range.
func exponent(x float64) int32 { return int32(math.Float64bits(x)>>52&0x7ff) - 1023 }

func isSpecial(x float64) bool { return math.Float64bits(x)>>52&0x7ff == 0x7ff }

// round rounds the exact sum of a step.
func (t *tfdpa) round(x float64) float64 {
	u := math.Float64bits(x)
	if t.nearest {
		return t.roundNearest(u)
	}
	if e := exponent(x); e < t.emin || e > t.emax {
		return t.roundRare(x)
	}
	return math.Float64frombits(u >> (t.drop & 63) << (t.drop & 63))
}

// roundNearest is round to nearest even.
func (t *tfdpa) roundNearest(u uint64) float64 {
	x := math.Float64frombits(u)
	if exponent(x) < t.emin {
		return t.roundRare(x)
	}
	drop := t.drop & 63
	u += 1<<drop>>1 - 1 + u>>drop&1
	if r := math.Float64frombits(u >> drop << drop); exponent(r) <= t.emax {
		return r
	}
	return math.Copysign(math.Inf(1), x)
}

// roundRare is round outside the range of normal numbers: above, the result is
// an infinity; below, where the unit is fixed, it is a subnormal or zero.
func (t *tfdpa) roundRare(x float64) float64 {
	if exponent(x) > t.emax {
		return math.Copysign(math.Inf(1), x)
	}
	unit := t.emin - int32(t.acc.Frac)
	n := math.Trunc(x * pow2(-unit))
	if t.nearest {
		n = math.RoundToEven(x * pow2(-unit))
	}
	if n == 0 && !t.m.params.Special.TinySign {
		return 0
	}
	return n * pow2(unit)
}

// specialDot adds the products of a step, some of which are Inf or NaN, to an accumulator:
// so is the result. No sum of finite products overflows in float64.
func specialDot(acc float64, a, b []float64) float64 {
	b = b[:len(a)]
	for k, v := range a {
		acc += float64(v * b[k])
	}
	return acc
}

// loadC returns C of an output exactly; for a NaN, any NaN.
func (t *tfdpa) loadC(in *mma.Batch, i int) float64 {
	switch t.m.formats.C {
	case fp.None:
		return 0
	case fp.FP32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(in.C[4*i:])))
	}
	code := mma.Load(in.C, int(t.c.Width), i)
	frac := t.c.FracBits & 63
	magnitude := code &^ t.signC
	if field := magnitude >> frac; field-1 < t.normalC {
		sign := (code ^ magnitude) << (63 - (frac+t.c.ExpBits)&63)
		return math.Float64frombits(sign | (magnitude<<((52-frac)&63) + t.rebiasC))
	}
	return t.c.Float64(code)
}

// store writes an accumulator, which is a number of D's format, as output i.
func (t *tfdpa) store(out []byte, i int, x float64) {
	if t.m.formats.D == fp.FP32 && x == x {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(x)))
		return
	}
	mma.Store(out, int(t.d.Width), i, t.code(x))
}

// code returns the code of an accumulator.
func (t *tfdpa) code(x float64) uint64 {
	if x != x {
		return t.nan
	}
	u := math.Float64bits(x)
	f := t.d
	sign := u >> 63 << (f.ExpBits + f.FracBits)
	if e := exponent(x); e >= f.Emin() && e <= f.Emax() {
		return sign | (u&^(1<<63)-uint64(1023-int64(f.Bias))<<52)>>(52-f.FracBits)
	}
	return t.rareCode(x, sign)
}

// rareCode is code for zeros, subnormals and infinities.
func (t *tfdpa) rareCode(x float64, sign uint64) uint64 {
	f := t.d
	if math.IsInf(x, 0) {
		return f.InfCode(x < 0)
	}
	return sign | uint64(math.Abs(x)*pow2(int32(f.FracBits)-f.Emin()))
}
