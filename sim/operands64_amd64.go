//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// operands64 describes how the kernels on float64 decode operands.
type operands64 struct {
	level    simd.Level
	a, b     format64
	block    int            // products per scale; 0: none
	largest  simd.Largest16 // its constants
	sequence *sequence      // nil: codes stay in their order
	values   bool           // kinds are values: products of finite numbers may be Inf
	nanKinds bool           // kinds are also made if some factor is NaN and none is Inf
}

// sequence is a permutation of 32 codes of one byte.
type sequence struct {
	pattern [32]uint8 // within each 16 of them
	cross   bool      // after that, the lower halves of both 16 come first
}

// format64 is how operands of a format are decoded.
type format64 struct {
	width  int
	decode simd.Decode
	codes  simd.Exponents
	kinds  simd.Kinds
}

// decoded64 is a grid's decoded operands.
type decoded64 struct {
	gridState
	special bool      // kinds are made: some operand is Inf or, with nanKinds, NaN
	a, b    []float64 // as simd.Decode makes them
	sa, sb  []uint8   // signs
	ea, eb  []uint16
	ka, kb  []float32 // kinds, if special
	e       []uint16  // largest exponents of the last step
	parts   []float64 // as simd.Sums makes them
	kind    []float32 // as simd.SumKinds makes them
	x       simd.Decode
	dot     simd.Dot
	widen   simd.Widen
	sumOf   simd.SumKinds
	shuffle simd.Shuffle
	ordered [2][]byte // the codes of A and of B in the order of the program
	scale   simd.Scale
	scales  [2]scales64
	codes   simd.Exponents
	kinds   simd.Kinds
	largest simd.Largest16
}

// Exponent codes of two bytes: 0 is that of zero, codeOne64 that of emin, special64 that of
// Inf and NaN. codeOne64 is at least twice as large as the sum of an exponent, counted
// from emin, and that of a scale. Bit 13 is set in special64, in twice that, and in no sum
// of two other codes, also after a bias has turned the sum into an exponent field of
// float64.
const (
	codeOne64 = 1024
	special64 = 0x3500
)

// setFormats sets what depends on the formats, and reports whether the kernels support
// them.
func (o *operands64) setFormats(f mma.Formats, level simd.Level) bool {
	o.level = level
	for _, id := range []fp.ID{f.A, f.B} {
		g := id.Get()
		if g.FracBits > 25 || g.ExpBits > 8 || g.NoZero || !g.Signed || g.Width > 4 || g.Width > 1 && !g.HasInf() || g.Width == 4 && (g.Low != 13 || g.FracBits != 10) {
			return false
		}
	}
	o.a, o.b = newFormat64(f.A.Get()), newFormat64(f.B.Get())
	lowest := f.A.Get().Emin() + f.B.Get().Emin()
	if f.Scale != fp.None {
		lowest += 2 * f.Scale.Get().Emin()
		o.block = int(f.Block)
	}
	x := &o.largest
	for i := range x.Null {
		x.Null[i], x.Bias[i], x.Over[i] = 2*codeOne64-1, uint16(1023+lowest-2*codeOne64), math.MaxInt16
		x.Bit13[i], x.Cap[i] = 1<<13, math.MaxUint16
	}
	return true
}

// setFloor sets a lower bound of the largest exponents; 0 is none.
func (o *operands64) setFloor(e mma.Exp) {
	for i := range o.largest.Floor {
		if e != 0 {
			o.largest.Floor[i] = uint16(1023 + int(e))
		}
	}
}

func newFormat64(g *fp.Format) format64 {
	f := format64{width: int(g.Width)}
	f.decode = simd.Decode{
		Keep: int64(g.SignBit()-1) &^ (1<<g.Low - 1), Sign: int64(g.SignBit()), Left: 52 - int64(g.FracBits+g.Low),
		Two: 2, Rebias: (1023 - int64(g.Bias)) << 52, Hidden: 1 << 52, Emin: math.Ldexp(1, int(g.Emin())),
	}
	// As a word, a TF32 code has the bits of BF16: see codeWords in internal/simd/gen.
	frac, low := g.FracBits, uint8(0)
	if g.Width == 4 {
		frac, low = 7, 16
	}
	magnitude, top := uint16(1<<(g.ExpBits+frac)-1), uint16(g.MaxFinite()>>low)
	inf, nan := uint16(0xffff), uint16(0xffff) // no magnitude, and no code of one byte
	switch {
	case g.HasInf():
		inf = uint16(g.InfCode(false) >> low)
		nan = magnitude // one of the NaNs, all of which are above top
	case g.Specials == fp.NegZeroNaN:
		nan = uint16(g.SignBit())
	}
	sign := int64(g.ExpBits + frac)
	f.codes.Frac, f.codes.SignAt, f.codes.Eight = int64(frac), sign, 8
	f.kinds.SignAt, f.kinds.SignLeft = sign, 15-sign
	for i := range f.codes.One {
		c, k := &f.codes, &f.kinds
		c.Magnitude[i], c.Top[i], c.NaN[i] = magnitude, top, nan
		c.SignBit[i], k.Sign[i] = 1<<sign, 1<<15
		c.One[i], c.Base[i], c.Special[i], c.Inf[i] = 1, codeOne64-1, special64, inf
		k.Magnitude[i], k.Top[i], k.Inf[i], k.NaN[i] = magnitude, top, inf, nan
		k.Number[i], k.InfKind[i], k.NaNKind[i] = 0x3f80, 0x7f80, 0x7fc0 // BF16
	}
	return f
}

// decode decodes the operands of a grid.
func (o *operands64) decode(st *decoded64) {
	st.largest = o.largest
	g := &st.grid
	in := g.in
	wa, wb := o.a.width, o.b.width
	a := st.filled(ofA, o.shuffled(st, ofA, g.rowCodes(wa)), 32*wa)
	na, more := len(a)/wa, (g.rows-in.M)*in.K
	st.a, st.ea, st.sa = resize(st.a, na+more), resize(st.ea, na+more), resize(st.sa, na+more)
	clear(st.sa[na:]) // signs of the rows that fill up a tile: they serve as offsets
	st.special = o.exponents(st, &o.a, a, st.ea, st.sa)
	st.x = o.a.decode
	st.x.Src, st.x.Dst, st.x.N = &a[0], &st.a[0], int64(na)
	st.x.Rows(o.level, wa)

	b := st.filled(ofB, st.turnColumns(o.shuffled(st, ofB, g.columnCodes(wb)), wb), 32*wb)
	nb := len(b) / wb
	st.b, st.eb, st.sb = resize(st.b, 3*nb), resize(st.eb, nb), resize(st.sb, nb)
	st.special = o.exponents(st, &o.b, b, st.eb, st.sb) || st.special
	if o.block > 0 {
		st.special = st.readScales() && o.nanKinds || st.special
	}
	st.x = o.b.decode
	st.x.Src, st.x.Dst, st.x.N = &b[0], &st.b[0], int64(nb)
	st.x.Columns(o.level, wb)
	st.special = st.special || o.values
	if st.special {
		st.ka, st.kb = resize(st.ka, na+more), resize(st.kb, nb)
		o.kindsOf(st, &o.a, a, st.ka)
		o.kindsOf(st, &o.b, b, st.kb)
	}
	if o.block > 0 {
		o.applyScales(st)
	}
}

// shuffled returns codes in the order of the program.
func (o *operands64) shuffled(st *decoded64, of int, src []byte) []byte {
	if o.sequence == nil {
		return src
	}
	src = st.filled(of, src, 32)
	st.ordered[of] = resize(st.ordered[of], len(src))
	x := &st.shuffle
	x.Src, x.Dst, x.N, x.Pattern = &src[0], &st.ordered[of][0], int64(len(src)), o.sequence.pattern
	x.Run(o.sequence.cross)
	return st.ordered[of]
}

// exponents makes exponent codes and reports whether kinds are to be made.
func (o *operands64) exponents(st *decoded64, f *format64, src []byte, code []uint16, sign []uint8) bool {
	x := &st.codes
	*x = f.codes
	x.Src, x.Code, x.Sign, x.N = &src[0], &code[0], &sign[0], int64(len(src)/f.width)
	x.Run(o.level, f.width)
	return x.AnyInf != 0 || o.nanKinds && x.Any != 0
}

func (o *operands64) kindsOf(st *decoded64, f *format64, src []byte, dst []float32) {
	if o.values {
		f.valuesOf(st, src, dst, o.level)
		return
	}
	x := &st.kinds
	*x = f.kinds
	x.Src, x.Dst, x.N = &src[0], &dst[0], int64(len(src)/f.width)
	x.Run(o.level, f.width)
}

// valuesOf converts BF16 or TF32 to FP32. Values below 1 count as 1: they make no
// product too large, and subnormal numbers are slow.
func (f *format64) valuesOf(st *decoded64, src []byte, dst []float32, level simd.Level) {
	x := &st.widen
	x.Src, x.Dst, x.N = &src[0], bytesOf(dst), int64(len(src)/f.width)
	if level >= simd.AVX512 {
		x.FromOne(f.width)
		return
	}
	for i := range x.Abs {
		x.Small[i], x.Least[i], x.Abs[i] = 0, 127<<23, math.MaxInt32
	}
	if f.width == 4 {
		x.TF32()
	} else {
		x.Brain()
	}
}

// largestOf finds the largest exponents of the l products that begin at position at.
func (o *operands64) largestOf(st *decoded64, e *[]uint16, at, l int) {
	g := &st.grid
	k := g.in.K
	*e = resize(*e, g.outputs())
	x := &st.largest
	x.A, x.B, x.E = &st.ea[at], &st.eb[8*at], &(*e)[0]
	x.Tiles, x.Groups, x.Rows, x.L = int64(g.tiles), int64(g.groups), int64(g.rows), int64(l)
	x.ARow, x.ATile, x.BGroup = int64(2*k), int64(2*k*g.in.M), int64(16*k)
	x.Run(o.level)
}

// addProducts adds the products of a step to st.parts.
func (o *operands64) addProducts(st *decoded64, at, l int) {
	o.products(st, &st.dot, at, l)
	st.dot.Parts = &st.parts[0]
	st.dot.Run(o.level)
}

// products sets x to the products of a step.
func (o *operands64) products(st *decoded64, x *simd.Dot, at, l int) {
	g := &st.grid
	m, k := g.in.M, g.in.K
	x.A, x.Sign, x.B = &st.a[at], &st.sa[at], &st.b[24*at]
	x.Tiles, x.Groups, x.Rows, x.L = int64(g.tiles), int64(g.groups), int64(g.rows), int64(l)
	x.ARow, x.ATile, x.SignRow, x.SignTile, x.BGroup = int64(8*k), int64(8*k*m), int64(k), int64(k*m), int64(192*k)
}

// sumKinds sums the kinds of a step's products, which tell what a sum is that has Inf or
// NaN among its factors.
func (o *operands64) sumKinds(st *decoded64, at, l int) *float32 {
	g := &st.grid
	k := g.in.K
	st.kind = resize(st.kind, g.outputs())
	x := &st.sumOf
	x.A, x.B, x.D, x.E = &st.ka[at], &st.kb[8*at], &st.kind[0], &st.e[0]
	x.Tiles, x.Groups, x.Rows, x.L = int64(g.tiles), int64(g.groups), int64(g.rows), int64(l)
	x.ARow, x.ATile, x.BGroup = int64(4*k), int64(4*k*g.in.M), int64(32*k)
	if o.values {
		x.Over(o.level)
	} else {
		x.Run(o.level)
	}
	return x.D
}
