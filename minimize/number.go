package minimize

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// number is what a code stands for, taken apart as the order compares it.
//
//	Finite  (-1)^neg * sig * 2^(exp-frac), sig odd and of frac+1 bits
//	NaN     the fraction field is sig * 2^-frac, sig odd or 0
type number struct {
	class     fp.Class
	neg       bool
	subnormal bool
	sig       uint64
	frac      int
	exp       int
}

func read(f *fp.Format, code uint64) number {
	n := f.Decode(code)
	x := number{class: n.Class, neg: n.Neg}
	if n.Sig == 0 {
		return x
	}
	low := bits.TrailingZeros64(n.Sig)
	x.sig = n.Sig >> low
	if n.Class == fp.NaN {
		x.frac = int(f.FracBits) - low
		return x
	}
	x.frac = bits.Len64(x.sig) - 1
	x.exp = int(n.Exp) - int(f.FracBits) + low + x.frac
	x.subnormal = n.Sig>>f.FracBits == 0
	return x
}

// code returns the code of x, false if the format has no such number.
func (x number) code(f *fp.Format) (uint64, bool) {
	var code uint64
	switch {
	case x.class <= fp.Finite:
		code = f.Encode(x.dyadic(), fp.RZ, fp.OverMax)
	case x.class == fp.Inf && f.HasInf():
		code = f.InfCode(x.neg)
	case x.class == fp.NaN && f.Specials == fp.IEEE && x.frac <= int(f.FracBits):
		code = f.InfCode(x.neg) | x.sig<<(int(f.FracBits)-x.frac+int(f.Low))
	case x.class == fp.NaN && f.HasNaN():
		code = f.QuietNaN(x.neg)
	}
	y := read(f, code)
	y.subnormal = x.subnormal
	return code, x == y
}

func (x number) dyadic() fp.Dyadic {
	return fp.Dyadic{Lo: x.sig, Q: int32(x.exp - x.frac), Neg: x.neg}
}

// cut returns x with all but n fraction bits cut off. A NaN may lose its whole payload
// by that, and is then no longer a NaN.
func (x number) cut(n int) number {
	if n >= x.frac {
		return x
	}
	x.sig >>= x.frac - n
	x.frac = n
	return x.normalised()
}

// up returns x with n fraction bits, rounded away from zero.
func (x number) up(n int) number {
	y := x.cut(n)
	if n >= x.frac {
		return y
	}
	y.sig = y.sig<<(n-y.frac) + 1
	y.frac = n
	if bits.Len64(y.sig) > n+1 {
		y.exp++
		y.frac++
	}
	return y.normalised()
}

// clear returns x without some bits of its significand.
func (x number) clear(mask uint64) number {
	x.sig &^= mask
	return x.normalised()
}

// normalised drops trailing zeros of the significand.
func (x number) normalised() number {
	low := bits.TrailingZeros64(x.sig | 1<<x.frac)
	x.sig >>= low
	x.frac -= low
	return x
}

// isOne reports whether x is 1 or -1.
func (x number) isOne() bool { return x.class == fp.Finite && x.exp == 0 && x.frac == 0 }

// isOther reports whether x is neither 0 nor 1 nor -1.
func (x number) isOther() bool { return x.class != fp.Zero && !x.isOne() }

// one is +1.0.
var one = number{class: fp.Finite, sig: 1}

// magnitude is the same number for x and -x and another for any other value.
func (x number) magnitude() uint64 {
	switch x.class {
	case fp.Zero:
		return 0
	case fp.Inf:
		return 4094 << 52
	case fp.NaN:
		return 4095<<52 | x.sig<<(52-x.frac)
	}
	return uint64(x.exp+2048)<<52 | x.sig<<(52-x.frac)&(1<<52-1)
}

// valueBits masks the bits of a code that are part of its value.
func valueBits(f *fp.Format) uint64 { return (1<<f.Bits() - 1) << f.Low }
