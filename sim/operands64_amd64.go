//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// operands64 says how the kernels on float64 decode operands.
type operands64 struct {
	level      simd.Level
	a, b       format64
	null, bias [16]uint16 // of the largest exponent codes
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
	special bool      // some are Inf or NaN
	a, b    []float64 // as simd.Decode makes them
	sign    []uint8   // of A
	ea, eb  []uint16
	ka, kb  []float32 // if special
	e       []uint16  // of the last step
	x       simd.Decode
	codes   simd.Exponents
	kinds   simd.Kinds
	largest simd.Largest16
}

// The exponent code of two bytes of emin, and what those of Inf and NaN have. Codes
// of zero are 0. Bit 13 is set in special64, in twice that, and in no sum of others.
const (
	codeOne64 = 256
	special64 = 0x3000
)

// setFormats sets what depends on the formats, and says whether both are known.
func (o *operands64) setFormats(f mma.Formats, level simd.Level) bool {
	o.level = level
	for _, id := range []fp.ID{f.A, f.B} {
		g := id.Get()
		if g.FracBits > 25 || g.ExpBits > 8 || g.NoZero || !g.Signed || g.Width > 4 || g.Width == 4 && (g.Low != 13 || g.FracBits != 10) {
			return false
		}
	}
	o.a, o.b = newFormat64(f.A.Get()), newFormat64(f.B.Get())
	lowest := f.A.Get().Emin() + f.B.Get().Emin()
	for i := range o.null {
		o.null[i], o.bias[i] = 2*codeOne64-1, uint16(1023+lowest-2*codeOne64)
	}
	return true
}

func newFormat64(g *fp.Format) format64 {
	f := format64{width: int(g.Width)}
	at := int64(g.ExpBits + g.FracBits + g.Low) // of the sign
	f.decode = simd.Decode{
		Left: 64 - at, Right: 12 - int64(g.ExpBits), SignLeft: 63 - at,
		Rebias: (1023 - int64(g.Bias)) << 52, Hidden: 1 << 52, Emin: math.Ldexp(1, int(g.Emin())),
		Keep: int64((uint64(1)<<(g.ExpBits+g.FracBits) - 1) << (52 - g.FracBits)),
	}
	// As words, TF32 has the digits of BF16.
	frac, low := g.FracBits, uint8(0)
	if g.Width == 4 {
		frac, low = 7, 16
	}
	magnitude, top := uint16(1<<(g.ExpBits+frac)-1), uint16(g.MaxFinite()>>low)
	inf, nan := uint16(0xffff), uint16(0xffff) // no magnitude, and no code of one byte
	switch {
	case g.HasInf():
		inf = uint16(g.InfCode(false) >> low)
		nan = magnitude // which is NaN, and above top, too
	case g.Specials == fp.NegZeroNaN:
		nan = uint16(g.SignBit())
	}
	f.codes.Frac, f.codes.SignAt = int64(frac), int64(g.ExpBits+frac)
	f.kinds.SignAt = f.codes.SignAt
	for i := range f.codes.One {
		c, k := &f.codes, &f.kinds
		c.Magnitude[i], c.Top[i], c.NaN[i] = magnitude, top, nan
		c.One[i], c.Base[i], c.Special[i] = 1, codeOne64-1, special64
		k.Magnitude[i], k.Top[i], k.Inf[i], k.NaN[i] = magnitude, top, inf, nan
		k.Number[i], k.InfKind[i], k.NaNKind[i] = 0x3f80, 0x7f80, 0x7fc0 // BF16
	}
	return f
}

// decode decodes the operands of a grid.
func (o *operands64) decode(st *decoded64) {
	g := &st.grid
	in := g.in
	wa, wb := o.a.width, o.b.width
	a := st.filled(ofA, in.A[wa*g.from*in.M*in.K:][:wa*g.tiles*in.M*in.K], 16*wa)
	na, more := len(a)/wa, (g.rows-in.M)*in.K
	st.a, st.sign, st.ea = resize(st.a, na+more), resize(st.sign, na+more), resize(st.ea, na+more)
	clear(st.sign[na:]) // of the rows that fill a tile up: they are offsets
	st.special = o.a.exponents(st, a, st.ea, st.sign)
	st.x = o.a.decode
	st.x.Src, st.x.Dst, st.x.N = &a[0], &st.a[0], int64(na)
	st.x.Rows(o.level, wa)

	b := st.filled(ofB, st.turnColumns(wb), 16*wb)
	nb := len(b) / wb
	st.b, st.eb = resize(st.b, 3*nb), resize(st.eb, nb)
	st.special = o.b.exponents(st, b, st.eb, nil) || st.special
	st.x = o.b.decode
	st.x.Src, st.x.Dst, st.x.N = &b[0], &st.b[0], int64(nb)
	st.x.Columns(o.level, wb)
	if st.special {
		st.ka, st.kb = resize(st.ka, na+more), resize(st.kb, nb)
		o.a.kindsOf(st, a, st.ka)
		o.b.kindsOf(st, b, st.kb)
	}
}

func (f *format64) exponents(st *decoded64, src []byte, code []uint16, sign []uint8) bool {
	x := &st.codes
	*x = f.codes
	x.Src, x.Code, x.N = &src[0], &code[0], int64(len(src)/f.width)
	if sign != nil {
		x.Sign = &sign[0]
	}
	return x.Run(f.width)
}

func (f *format64) kindsOf(st *decoded64, src []byte, dst []float32) {
	x := &st.kinds
	*x = f.kinds
	x.Src, x.Dst, x.N = &src[0], &dst[0], int64(len(src)/f.width)
	x.Run(f.width)
}

// largestOf finds the largest exponents of a step of l products from at on.
func (o *operands64) largestOf(st *decoded64, at, l int) {
	g := &st.grid
	k := g.in.K
	st.e = resize(st.e, g.outputs())
	st.largest = simd.Largest16{
		A: &st.ea[at], B: &st.eb[8*at], E: &st.e[0], Tiles: int64(g.tiles), Groups: int64(g.groups), Rows: int64(g.rows), L: int64(l),
		ARow: int64(2 * k), ATile: int64(2 * k * g.in.M), BGroup: int64(16 * k), Null: o.null, Bias: o.bias,
	}
	st.largest.Run()
}
