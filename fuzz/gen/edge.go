package gen

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// The generators of this file work at the edges of formats: tiny, huge, zero, special.

// underflow returns the smallest normal exponent of D or of FP32, in which units
// round on the way to a narrower D.
func (d *draw) underflow() int {
	if d.D.Get().Emin() > fp.FP32.Get().Emin() && d.oneIn(3) {
		return int(fp.FP32.Get().Emin())
	}
	return int(d.D.Get().Emin())
}

// tinyDot works around the smallest normal number: products that round to it or
// not, sums of two that cancel down to it, c next to it.
func tinyDot(d *draw) {
	e := d.underflow()
	df := d.D.Get()
	if d.fs != nil {
		lo, hi := d.products()
		d.shift(e - d.between(lo, hi) + d.between(-4, 4))
	}
	if d.fc != nil && !d.oneIn(3) {
		d.dot.C = code(d.fc, d.coin(), e, 0)
		d.nudge(4)
	}
	n := d.between(0, min(d.K, 4))
	for range n {
		k := d.place()
		switch d.intn(6) {
		case 0: // a product next to the boundary
			d.product(k, e-d.between(0, 2), d.coin())
		case 1: // below it by less than a unit
			d.power(k, e-int(df.FracBits)-d.between(-2, 3), d.coin())
		case 2:
			d.power(k, e-1, d.coin())
		case 3: // all ones: rounds up to a power of two
			d.dot.A[k] = code(d.fa, d.coin(), d.between(int(d.fa.Emin()), int(d.fa.Emax())), ^uint64(0))
			ea := int(d.fa.Decode(d.dot.A[k]).Exp) + d.block(k)
			d.dot.B[k] = code(d.fb, false, e-1-ea, d.frac(int(d.fb.FracBits)))
		case 4:
			d.product(k, e-d.between(1, 30), d.coin())
		default: // two that cancel down to it
			d.product(k, e+d.between(1, int(df.FracBits)+2), d.coin())
			if j := d.place(); j != k && d.K > 1 {
				d.negate(j, k)
				d.bump(j)
			}
		}
	}
}

// bump moves the last place of one factor of product k.
func (d *draw) bump(k int) {
	one := uint64(1) << d.fa.Low
	if d.dot.A[k]&one == 0 {
		d.dot.A[k] |= one
	} else {
		d.dot.A[k] ^= one
	}
	if d.dot.A[k]&^d.fa.SignBit() == 0 {
		d.dot.A[k] ^= one
	}
}

// hugeDot works around the largest number: products and sums that overflow or
// not, and that come back below the limit by later terms.
func hugeDot(d *draw) {
	df := d.D.Get()
	top := int(df.Emax())
	if top < int(fp.FP32.Get().Emax()) && d.oneIn(4) {
		top = int(fp.FP32.Get().Emax())
	}
	lo, hi := d.products()
	if d.fs != nil {
		d.shift(top - d.between(lo, hi) + d.between(-2, 2))
	}
	if d.fc != nil && d.coin() {
		d.dot.C = code(d.fc, d.coin(), int(d.fc.Emax()), ^uint64(0))
		if d.coin() {
			d.nudge(3)
		}
		if d.oneIn(4) {
			d.accumulator(int(d.fc.Emax())-d.intn(3), d.coin())
		}
	}
	n := d.between(1, min(d.K, 5))
	neg := d.coin()
	for range n {
		k := d.place()
		if d.oneIn(3) {
			neg = !neg
		}
		switch d.intn(4) {
		case 0: // near the limit itself
			d.product(k, top+d.between(-2, 2), neg)
		case 1: // half a unit of the limit, or next to it
			d.power(k, top-int(df.FracBits)+d.between(-3, 1), neg)
		case 2:
			d.power(k, top+d.between(-1, 1), neg)
		default:
			d.product(k, top-d.intn(30), neg)
		}
	}
}

// zeroDot mixes zeros of both signs, terms that cancel exactly, and terms too
// small for any result.
func zeroDot(d *draw) {
	if d.fs != nil && d.coin() {
		d.shift(d.between(-250, 250))
	}
	for k := range d.K {
		d.dot.A[k], d.dot.B[k] = d.zeroCode(d.fa), d.zeroCode(d.fb)
		if d.coin() { // zero times a number
			if d.coin() {
				d.dot.A[k] = code(d.fa, d.coin(), d.between(int(d.fa.Emin())-2, int(d.fa.Emax())), d.frac(int(d.fa.FracBits)))
			} else {
				d.dot.B[k] = code(d.fb, d.coin(), d.between(int(d.fb.Emin())-2, int(d.fb.Emax())), d.frac(int(d.fb.FracBits)))
			}
		}
	}
	allNegative := d.oneIn(3)
	if allNegative {
		d.negativeZeros()
	}
	if d.fc != nil && (allNegative || d.coin()) {
		d.dot.C = d.fc.SignBit()
		if d.oneIn(4) { // or a subnormal that a unit may flush
			d.dot.C |= 1 << d.intn(int(d.fc.FracBits))
		}
	}
	switch k := d.intn(d.K); d.intn(5) {
	case 0: // an exact cancellation
		lo, hi := d.products()
		d.product(k, d.between(lo, hi), d.coin())
		if d.fc != nil && d.coin() {
			d.minusProduct(k)
		} else if d.K > 1 {
			d.negate((k+1+d.intn(d.K-1))%d.K, k)
		}
	case 1: // underflow
		df := d.D.Get()
		d.power(k, int(df.Emin())-int(df.FracBits)-d.between(1, 20), d.coin())
	case 2: // a subnormal operand that a unit may flush
		d.dot.A[k] = (1 + d.next()&(1<<d.fa.FracBits-1)>>1) << d.fa.Low
		if d.coin() {
			d.dot.A[k] |= d.fa.SignBit()
		}
	case 3: // a tiny partial sum, with zeros after it
		d.product(k, int(d.D.Get().Emin())+d.between(0, int(d.D.Get().FracBits)), d.coin())
		if d.fc != nil {
			d.minusProduct(k)
			d.nudge(3)
		}
	}
}

// negativeZeros makes every product -0: +0 times a negative number, which stays
// -0 if a unit drops the signs of zeros, or zeros of opposite signs.
func (d *draw) negativeZeros() {
	numbers := d.coin()
	for k := range d.K {
		switch {
		case numbers || !d.fa.HasNegZero():
			d.dot.A[k] = 0
			d.dot.B[k] = code(d.fb, true, d.between(int(d.fb.Emin()), int(d.fb.Emax())), d.frac(int(d.fb.FracBits)))
		case !d.negative(k):
			d.dot.A[k] ^= d.fa.SignBit()
		}
	}
}

// zeroCode returns +0, or half of the time -0 where the format has one.
func (d *draw) zeroCode(f *format) uint64 {
	if f.HasNegZero() && d.coin() {
		return f.SignBit()
	}
	return 0
}

// negative reports whether product k is negative.
func (d *draw) negative(k int) bool {
	return (d.dot.A[k]&d.fa.SignBit() != 0) != (d.dot.B[k]&d.fb.SignBit() != 0)
}

// specialDot puts infinities, NaNs of every kind and zeros among numbers.
func specialDot(d *draw) {
	lo, hi := d.products()
	for k := range d.K {
		if d.coin() {
			d.product(k, d.between(lo, hi), d.coin())
		}
	}
	if d.fc != nil && d.coin() {
		d.accumulator(d.between(-20, 20), d.coin())
	}
	for range d.between(1, 3) {
		k := d.intn(d.K)
		switch d.intn(6) {
		case 0, 1:
			d.dot.A[k] = d.specialCode(d.fa)
		case 2, 3:
			d.dot.B[k] = d.specialCode(d.fb)
		case 4:
			if d.fc != nil {
				d.dot.C = d.specialCode(d.fc)
			}
		default:
			if d.fs != nil {
				d.dot.SA[k/int(d.Block)] = d.specialCode(d.fs)
			}
		}
	}
}

// specialCode returns an infinity, a quiet or signalling NaN with a random
// payload, or a zero; what the format has of these.
func (d *draw) specialCode(f *format) uint64 {
	neg := d.coin()
	sign := uint64(0)
	if neg {
		sign = f.SignBit()
	}
	switch d.intn(4) {
	case 0, 1:
		if f.HasInf() {
			return f.InfCode(neg)
		}
	case 2:
		if f.Specials == fp.IEEE && f.FracBits > 0 {
			payload := max(d.frac(int(f.FracBits)), 1)
			return f.InfCode(neg) | payload<<f.Low
		}
		if f.HasNaN() {
			code := f.QuietNaN(false)
			if f.Specials == fp.OnesNaN {
				code |= sign
			}
			return code
		}
	}
	if f.NoZero || !f.HasNegZero() {
		return 0
	}
	return sign
}
