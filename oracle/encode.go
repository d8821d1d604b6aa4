package oracle

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// encode returns the code of a term in a format, which must have that number: nothing is
// rounded here. An infinity that the format does not have becomes the NaN of an invalid
// operation.
func encode(t term, id fp.ID, s mma.Special) uint64 {
	f := id.Get()
	code := uint64(0)
	switch {
	case f.Integer():
		n := t.m.plus(newInteger(1).shifted(int(f.Bits()))) // not negative, and the same lowest bits
		return n.lo & f.CodeMask()
	case t.kind == NotANumber:
		return nanCode(t, f, s)
	case t.neg && !f.Signed:
		return 0
	case t.kind == Infinite && !f.HasInf():
		return nanCode(made(s), f, s)
	case t.kind == Infinite:
		code = f.InfCode(false)
	case !t.isZero():
		code = magnitudeCode(t, f)
	}
	if t.neg && (f.HasNegZero() || !t.isZero()) {
		code |= f.SignBit()
	}
	return code
}

// magnitudeCode is the code of |t|. Counted in units of the last place, a
// normal number has its hidden bit just above the fraction field; there it adds
// the 1 by which its exponent field is larger than that of a subnormal.
func magnitudeCode(t term, f *fp.Format) uint64 {
	e := max(t.log2(), int(f.Emin()))
	units, ok := multiple(t, e-int(f.FracBits))
	if !ok || e > int(f.Emax()) {
		panic(fmt.Sprintf("oracle: %d*2^%d is not a %s number: the program is not valid", t.m.toBig(), t.q, f.Name))
	}
	if f.NoZero { // its exponent field 0 has normal numbers, too
		units -= 1 << f.FracBits
	}
	return uint64(e-int(f.Emin()))<<f.FracBits + units
}

// multiple returns n with |t| = n * 2^u, if there is one of at most 64 bits.
func multiple(t term, u int) (n uint64, ok bool) {
	m, exact := t.m.abs(), true
	if t.q >= u {
		m = m.shifted(t.q - u)
	} else {
		m, _, exact = m.floor(u - t.q)
	}
	return m.lo, exact && m.bitLen() <= 64
}

// made returns the NaN that an operation makes.
func made(s mma.Special) term {
	t := term{kind: NotANumber, neg: s.NegativeNaN(), invalid: true}
	for i := range s.Ones {
		t.payload |= 1 << (63 - i)
	}
	return t
}

// nanCode returns the code that a NaN result has by the program's NaN rule.
func nanCode(t term, f *fp.Format, s mma.Special) uint64 {
	rule, ones := s.NaN, uint64(1)<<(f.ExpBits+f.FracBits)-1
	switch f.Specials {
	case fp.NegZeroNaN:
		return f.SignBit()
	case fp.AllFinite: // the largest number; a program has no other rule then
		return ones
	case fp.OnesNaN:
		if rule == mma.NaNQuietNeg || s.OperandNaN() && t.neg {
			ones |= f.SignBit()
		}
		return ones
	}
	quiet := f.InfCode(false) | 1<<(f.FracBits-1)
	switch rule {
	case mma.NaNOnes:
		return ones
	case mma.NaNQuiet, mma.NaNQuietNeg, mma.NaNOfC:
		t = made(s) // whatever NaN it was
		fallthrough
	case mma.NaNFirst, mma.NaNSignal, mma.NaNMulAdd, mma.NaNLarger:
		quiet |= t.payload >> (64 - f.FracBits)
		if t.neg {
			quiet |= f.SignBit()
		}
	}
	return quiet
}
