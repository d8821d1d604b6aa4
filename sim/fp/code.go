package fp

import "math"

// Class describes what kind of number a code stands for.
type Class uint8

// The classes. Finite means finite and not zero.
const (
	Zero Class = iota
	Finite
	Inf
	NaN
)

// Num is a decoded code: (-1)^Neg * Sig * 2^(Exp-FracBits), FracBits being
// that of its format. Nothing is normalised: Exp is the exponent field without
// its bias, for subnormals and zero Emin, and Sig of a subnormal has no hidden
// bit. For Inf and NaN, Sig is the fraction field and Exp has no meaning.
type Num struct {
	Sig   uint64
	Exp   int32
	Class Class
	Neg   bool
}

// Decode returns the number that a code stands for. Bits of the code above
// CodeBits are ignored.
func (f *Format) Decode(code uint64) Num {
	code >>= f.Low
	frac := code & (1<<f.FracBits - 1)
	field := code >> f.FracBits & (1<<f.ExpBits - 1)
	n := Num{Sig: frac, Neg: f.Signed && code>>(f.ExpBits+f.FracBits)&1 != 0}
	switch f.special(n.Neg, field, frac) {
	case Inf:
		n.Class = Inf
		return n
	case NaN:
		n.Class = NaN
		return n
	}
	if n.Neg && f.Integer() {
		return Num{Sig: 1<<f.FracBits - frac, Exp: f.Emin(), Class: Finite, Neg: true}
	}
	if field == 0 && !f.NoZero {
		n.Exp = f.Emin()
		if frac != 0 {
			n.Class = Finite
		}
		return n
	}
	n.Class = Finite
	n.Sig |= 1 << f.FracBits
	n.Exp = f.Exponent(field)
	return n
}

// special returns the class of a code that is Inf or NaN, and Finite for all others, zeros
// included.
func (f *Format) special(neg bool, field, frac uint64) Class {
	top := uint64(1)<<f.ExpBits - 1
	switch f.Specials {
	case IEEE:
		if field == top && frac == 0 {
			return Inf
		}
		if field == top {
			return NaN
		}
	case OnesNaN:
		if field == top && frac == 1<<f.FracBits-1 {
			return NaN
		}
	case NegZeroNaN:
		if neg && field == 0 && frac == 0 {
			return NaN
		}
	}
	return Finite
}

// Dyadic returns a decoded finite number or zero as a Dyadic.
func (f *Format) Dyadic(n Num) Dyadic {
	return Dyadic{Lo: n.Sig, Q: n.Exp - int32(f.FracBits), Neg: n.Neg}
}

// Overflow describes what becomes of a number whose rounded magnitude exceeds the
// largest finite one.
type Overflow uint8

// The overflow rules.
const (
	// OverInf: infinity, whatever the rounding mode (NaN in a format that has
	// no infinity, the largest finite number in one that has neither).
	OverInf Overflow = iota
	// OverIEEE: infinity or the largest finite number, as IEEE 754 section 7.4
	// gives for the rounding mode; round-to-odd gives the latter.
	OverIEEE
	// OverMax: the largest finite number (saturation).
	OverMax
)

// Encode returns the code of d rounded to f by m, with gradual underflow. A zero keeps
// its sign where the format has a negative zero. An unsigned format encodes the
// magnitude, so that RD and RU act on the magnitude. E8M0 has significands of one digit,
// so all of its numbers are odd: a tie goes to the larger magnitude (IEEE 754 section
// 4.3.1) and RTO truncates.
func (f *Format) Encode(d Dyadic, m Mode, over Overflow) uint64 {
	d.Neg = d.Neg && f.Signed
	sign := f.sign(d.Neg)
	if d.IsZero() {
		return f.zero(d.Neg)
	}
	emin, frac := f.Emin(), int32(f.FracBits)
	e := max(d.Exponent(), emin)
	r := d.Round(e-frac, m)
	if r.IsZero() {
		return f.zero(d.Neg)
	}
	if f.Integer() {
		return f.integer(r)
	}
	e = max(r.Exponent(), emin) // rounding may carry into the next binade
	if e > f.Emax() || e == f.Emax() && f.beyondMax(r) {
		return f.overflow(d.Neg, m, over)
	}
	sig := r.align(e - frac)
	field := uint64(0)
	if sig>>frac != 0 { // not subnormal
		field = f.Field(e)
	}
	return sign | (field<<frac|sig&(1<<frac-1))<<f.Low
}

// integer returns the code of an integer, of the nearest one if f does not have it.
func (f *Format) integer(r Dyadic) uint64 {
	most := f.MaxFinite()
	if r.Neg {
		most++
	}
	n := most
	if r.Exponent() <= int32(f.FracBits) {
		n = min(r.align(0), most)
	}
	if r.Neg {
		n = -n & f.CodeMask()
	}
	return n
}

// align returns the magnitude of d in units of 2^q; d is a multiple of 2^q and
// the result is below 2^64.
func (d Dyadic) align(q int32) uint64 {
	if d.Q >= q {
		return d.Lo << (d.Q - q)
	}
	t, _ := d.truncate(q)
	return t.Lo
}

// beyondMax reports whether r, of exponent Emax, exceeds the largest finite
// number: possible only where the top binade is cut short by a NaN code.
func (f *Format) beyondMax(r Dyadic) bool {
	if f.Specials != OnesNaN {
		return false
	}
	return r.align(f.Emax()-int32(f.FracBits)) == 1<<(f.FracBits+1)-1 && f.FracBits > 0
}

func (f *Format) overflow(neg bool, m Mode, over Overflow) uint64 {
	toMax := over == OverMax || over == OverIEEE && (m == RZ || m == RTO || m == RD && !neg || m == RU && neg)
	switch {
	case f.Integer() && neg:
		return f.SignBit()
	case !toMax && f.HasInf():
		return f.InfCode(neg)
	case !toMax && f.HasNaN():
		return f.QuietNaN(neg)
	}
	return f.sign(neg) | f.MaxFinite()
}

func (f *Format) sign(neg bool) uint64 {
	if neg {
		return f.SignBit()
	}
	return 0
}

// zero returns the code of a zero. E8M0 has none: its smallest number stands in.
func (f *Format) zero(neg bool) uint64 {
	if f.HasNegZero() {
		return f.sign(neg)
	}
	if f.Inverse {
		return f.Field(f.Emin()) << f.Low
	}
	return 0
}

// QuietNaN returns a NaN code: in IEEE formats the NaN whose fraction has only its top
// bit set, in other formats the only NaN, which E4M3 has with either sign. It panics for
// formats without NaN.
func (f *Format) QuietNaN(neg bool) uint64 {
	switch f.Specials {
	case IEEE:
		return f.InfCode(neg) | 1<<(f.FracBits-1+f.Low)
	case OnesNaN:
		return f.sign(neg) | (1<<(f.ExpBits+f.FracBits) - 1)
	case NegZeroNaN:
		return f.SignBit()
	}
	panic("fp: " + f.Name + " has no NaN")
}

// OnesNaNCode returns the NaN with all exponent and fraction bits set and the
// sign clear: NVIDIA's canonical NaN. For a FNUZ format it returns the only NaN. It
// panics for formats without NaN.
func (f *Format) OnesNaNCode() uint64 {
	switch f.Specials {
	case AllFinite:
		panic("fp: " + f.Name + " has no NaN")
	case NegZeroNaN:
		return f.SignBit()
	}
	return (1<<(f.ExpBits+f.FracBits) - 1) << f.Low
}

// Distance returns by how many representable numbers two codes are apart, infinities counted
// as the next numbers. Zeros of both signs are one number. Codes of NaN have no place among
// numbers: what it returns for them means nothing.
func (f *Format) Distance(x, y uint64) uint64 {
	if s := f.SignBit(); f.Integer() { // in the order of the codes with the sign flipped
		return max(x^s, y^s) - min(x^s, y^s)
	}
	magX, magY := (x&^f.SignBit())>>f.Low, (y&^f.SignBit())>>f.Low
	if (x^y)&f.SignBit() != 0 {
		return magX + magY
	}
	return max(magX, magY) - min(magX, magY)
}

// Float64 returns the value of a code as a float64, for people to read. It is exact for
// every format, but the sign and the payload of a NaN are lost.
func (f *Format) Float64(code uint64) float64 {
	n := f.Decode(code)
	var v float64
	switch n.Class {
	case Inf:
		v = math.Inf(1)
	case NaN:
		return math.NaN()
	default:
		v = math.Ldexp(float64(n.Sig), int(n.Exp)-int(f.FracBits))
	}
	if n.Neg {
		v = -v
	}
	return v
}

// FromFloat64 returns the code of v rounded to nearest even, saturating; it is
// meant for generators, which draw values and not codes. A NaN gives QuietNaN, which
// panics for formats without NaN.
func (f *Format) FromFloat64(v float64) uint64 {
	if code, ok := f.fromNormal(v); ok {
		return code
	}
	d := FP64.Get()
	n := d.Decode(math.Float64bits(v))
	switch n.Class {
	case NaN:
		return f.QuietNaN(false)
	case Inf:
		return f.overflow(n.Neg, RNE, OverMax)
	}
	return f.Encode(d.Dyadic(n), RNE, OverMax)
}

// Nearest returns what FromFloat64 does, but an infinity stays one in formats that have one.
func (f *Format) Nearest(v float64) uint64 {
	if math.IsInf(v, 0) && f.HasInf() {
		return f.InfCode(v < 0)
	}
	return f.FromFloat64(v)
}

// fromNormal is FromFloat64 for values that are certain to become normal numbers of a
// format with a fraction; ok is false for others. It rounds the code of FP64 as an
// integer: a carry goes into the exponent, as it should.
func (f *Format) fromNormal(v float64) (code uint64, ok bool) {
	b := math.Float64bits(v)
	e, neg := int32(b>>52&0x7ff)-1023, b>>63 != 0
	if e < f.Emin() || e >= f.Emax() || neg && !f.Signed || f.FracBits == 52 || f.FracBits == 0 {
		return 0, false
	}
	b &^= 1 << 63
	cut := 52 - f.FracBits
	b += 1<<(cut-1) - 1 + b>>cut&1
	code = (b>>cut - uint64(1023-int64(f.Bias))<<f.FracBits) << f.Low
	if neg {
		code |= f.SignBit()
	}
	return code, true
}
