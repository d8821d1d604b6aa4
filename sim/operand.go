package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// operand is a decoded factor: sig * 2^q with nominal exponent e.
type operand struct {
	sig   uint64
	code  uint64 // the original code, for NaN payloads
	q, e  int32
	class fp.Class
	neg   bool
	sub   bool // subnormal (in the widened format)
}

// exponent returns floor(log2) of the magnitude of a finite operand.
func (o *operand) exponent() int32 { return o.q + int32(bits.Len64(o.sig)) - 1 }

// decoder turns codes of one format into operands: decoding, widening, narrowing, flush
// and the choice of the nominal exponent.
type decoder struct {
	f      *fp.Format
	widen  *fp.Format // nil: none
	flush  mma.InFlush
	exp    mma.ProdExp
	narrow narrower
	parts  bool   // narrow makes parts of operands (mma.Passes), and not operands
	rest   bool   // mma.Input.Rest
	nanInf bool   // mma.Input.NaNInf
	infNaN bool   // mma.Input.InfNaN
	quiet  uint64 // code of the NaN that Rest leaves of an infinity
	unread uint64 // bits of a code that are read as 0
	zero   int64  // mma.Input.ZeroA or ZeroB

	fracMask, field uint64 // of the code without its low bits
	hidden          uint64
	frac            uint8
	emin, bias      int32
	top             uint64 // smallest exponent field that may be special
}

// newDecoder returns the decoder of a program's operands; narrow is In.A or In.B.
func newDecoder(f *fp.Format, p *mma.Params, narrow mma.Narrow) decoder {
	d := decoder{
		f: f, flush: p.In.Sub, exp: p.Prod.Exp, unread: narrow.Unread(f), parts: p.Passes != 0, rest: p.In.Rest, nanInf: p.In.NaNInf, infNaN: p.In.InfNaN,
		fracMask: 1<<f.FracBits - 1, field: 1<<f.ExpBits - 1, hidden: 1 << f.FracBits,
		frac: f.FracBits, emin: f.Emin(), bias: int32(f.Bias), top: 1<<f.ExpBits - 1,
	}
	if f.Specials == fp.AllFinite || f.Specials == fp.NegZeroNaN {
		d.top = 1 << f.ExpBits // never reached
	}
	wide := f
	if p.In.Widen != fp.None {
		d.widen = f.ID.As(p.In.Widen).Get()
		wide = d.widen
	}
	d.narrow = newNarrower(narrow, wide)
	if f.HasNaN() {
		d.quiet = f.QuietNaN(p.Special.NegativeNaN())
	}
	if d.widen != nil || narrow != (mma.Narrow{}) || d.parts || f.Inverse {
		d.top = 0 // every code is rare
	}
	return d
}

// withZero makes a decoder of integers subtract a zero point.
func (d decoder) withZero(zero int64) decoder {
	if d.zero = zero; zero != 0 {
		d.top = 0 // every code is rare
	}
	return d
}

// operandFormats returns the formats as which codes of A and of B are read.
func operandFormats(p *mma.Params, f mma.Formats) (a, b fp.ID) {
	if a = f.A; p.In.OtherSignA {
		a = a.OtherSign()
	}
	if b = f.B; p.In.OtherSignB {
		b = b.OtherSign()
	}
	return a, b
}

// leastExponent returns the smallest nominal exponent, which is also that of zeros.
func (d *decoder) leastExponent() int32 {
	if d.widen != nil {
		return d.widen.Emin()
	}
	return d.emin
}

// decode fills o.
func (d *decoder) decode(code uint64, o *operand) {
	c := code >> d.f.Low
	field := c >> d.frac & d.field
	if field == 0 || field >= d.top {
		d.rare(code, o)
		return
	}
	o.sig = c&d.fracMask | d.hidden
	o.code = code
	o.e = int32(field) - d.bias
	o.q = o.e - int32(d.frac)
	o.class = fp.Finite
	o.neg = d.f.Signed && c>>(d.frac+d.f.ExpBits)&1 != 0
	o.sub = false
}

// rare decodes zeros, subnormals, infinities, NaNs, and whatever is widened.
func (d *decoder) rare(code uint64, o *operand) {
	code &^= d.unread
	n := d.f.Decode(code)
	*o = operand{sig: n.Sig, code: code, q: n.Exp - int32(d.frac), e: n.Exp, class: n.Class, neg: n.Neg}
	switch {
	case d.nanInf && o.class == fp.NaN:
		o.class = fp.Inf
	case d.infNaN && o.class == fp.Inf:
		code = d.f.QuietNaN(n.Neg)
		o.class, o.code = fp.NaN, code
	}
	if d.zero != 0 {
		*o = integerOperand(code, readInteger(d.f, code)-d.zero)
	}
	emin := d.leastExponent()
	switch {
	case o.class == fp.Zero:
		o.e = emin
	case o.class == fp.Finite && d.widen != nil:
		o.e = max(o.exponent(), emin)
	}
	if d.parts {
		return
	}
	if d.narrow.Frac != 0 {
		*o = d.operand(code, d.narrow.of(o.term()))
	}
	d.flushed(o)
}

// integerOperand returns the operand of an integer.
func integerOperand(code uint64, n int64) operand {
	if n == 0 {
		return operand{code: code, class: fp.Zero}
	}
	return operand{sig: uint64(max(n, -n)), code: code, class: fp.Finite, neg: n < 0}
}

// flushed flushes subnormals and gives an operand its nominal exponent.
func (d *decoder) flushed(o *operand) {
	if o.class > fp.Finite {
		return
	}
	emin := d.leastExponent()
	o.sub = o.class == fp.Finite && o.exponent() < emin
	if o.sub && d.flush != mma.KeepSub {
		o.class, o.sig, o.e = fp.Zero, 0, emin
	}
	if o.class == fp.Zero && d.flush == mma.FlushPlus {
		o.neg = false
	}
	if o.class == fp.Finite && d.exp == mma.OperandSum {
		o.e = o.exponent()
	}
}

// decodeRow decodes a row of n codes of a buffer.
func (d *decoder) decodeRow(dst []operand, buf []byte, row, n int) {
	w := int(d.f.Width)
	for k := range n {
		d.decode(mma.Load(buf, w, row*n+k), &dst[k])
	}
}

// decodeCodes decodes a slice of codes.
func (d *decoder) decodeCodes(dst []operand, codes []uint64) {
	for k, code := range codes {
		d.decode(code, &dst[k])
	}
}
