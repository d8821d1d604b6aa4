package oracle

import (
	"cmp"
	"math/big"
	"math/bits"
)

// integer is an integer of any size, and a value: nothing changes it. Those below 2^126 in
// magnitude, which nearly all are, are two's complement numbers of 128 bits, so that they need
// no memory of their own; of larger ones math/big takes care.
type integer struct {
	hi  int64
	lo  uint64
	big *big.Int // nil, or the number; then hi and lo are 0
}

// smallBits is the number of bits of the largest magnitude that is not given to math/big: the
// sum of two of them fits 128 bits.
const smallBits = 126

func newInteger(n int64) integer { return integer{hi: n >> 63, lo: uint64(n)} }

// fromBig returns a number that math/big has computed.
func fromBig(n *big.Int) integer {
	if n.BitLen() > smallBits {
		return integer{big: n}
	}
	m := new(big.Int).Abs(n)
	x := integer{lo: new(big.Int).And(m, maxUint64).Uint64(), hi: int64(m.Rsh(m, 64).Uint64())}
	if n.Sign() < 0 {
		return x.neg()
	}
	return x
}

var maxUint64 = new(big.Int).SetUint64(1<<64 - 1)

// toBig returns the number as math/big has it, for reading.
func (x integer) toBig() *big.Int {
	if x.big != nil {
		return x.big
	}
	m := x.abs()
	n := new(big.Int).SetUint64(uint64(m.hi))
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(m.lo))
	if x.hi < 0 {
		n.Neg(n)
	}
	return n
}

func (x integer) isZero() bool { return x.hi == 0 && x.lo == 0 && x.big == nil }

func (x integer) sign() int {
	switch {
	case x.big != nil:
		return x.big.Sign()
	case x.hi < 0:
		return -1
	case x.hi == 0 && x.lo == 0:
		return 0
	}
	return 1
}

// bitLen is the number of bits of the magnitude.
func (x integer) bitLen() int {
	if x.big != nil {
		return x.big.BitLen()
	}
	hi, lo := x.magnitude()
	if hi != 0 {
		return 64 + bits.Len64(hi)
	}
	return bits.Len64(lo)
}

// magnitude is the magnitude of a number of 128 bits.
func (x integer) magnitude() (hi, lo uint64) {
	sign := uint64(x.hi >> 63)
	lo, carry := bits.Add64(x.lo^sign, sign&1, 0)
	return (uint64(x.hi) ^ sign) + carry, lo
}

// odd reports whether x is odd: in two's complement, the last bit.
func (x integer) odd() bool {
	if x.big != nil {
		return x.big.Bit(0) == 1
	}
	return x.lo&1 == 1
}

func (x integer) neg() integer {
	if x.big != nil {
		return integer{big: new(big.Int).Neg(x.big)}
	}
	lo, borrow := bits.Sub64(0, x.lo, 0)
	hi, _ := bits.Sub64(0, uint64(x.hi), borrow)
	return integer{hi: int64(hi), lo: lo}
}

func (x integer) abs() integer {
	if x.hi < 0 || x.big != nil && x.big.Sign() < 0 {
		return x.neg()
	}
	return x
}

// withLast is x with its last bit set.
func (x integer) withLast() integer {
	if x.odd() {
		return x
	}
	return x.plus(newInteger(1))
}

func (x integer) plus(y integer) integer {
	if x.big != nil || y.big != nil {
		return fromBig(new(big.Int).Add(x.toBig(), y.toBig()))
	}
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(uint64(x.hi), uint64(y.hi), carry)
	sum := integer{hi: int64(hi), lo: lo}
	if top := sum.hi >> 61; top != 0 && top != -1 && sum.bitLen() > smallBits { // the second is certain of most sums, and faster
		return integer{big: sum.toBig()}
	}
	return sum
}

// oneWord reports whether x is a word and a sign: its magnitude is at most 2^64.
func (x integer) oneWord() bool { return x.big == nil && x.hi == x.hi>>63 }

// word returns x if it is between -2^31 and 2^31.
func (x integer) word() (n int64, ok bool) {
	n = int64(x.lo)
	return n, x.big == nil && x.hi == n>>63 && n == int64(int32(n))
}

func (x integer) times(y integer) integer {
	if m, ok := x.word(); ok {
		if n, ok := y.word(); ok {
			return newInteger(m * n)
		}
	}
	above, m := x.magnitude()
	aboveY, n := y.magnitude()
	if x.big != nil || y.big != nil || above|aboveY != 0 || bits.Len64(m)+bits.Len64(n) > smallBits {
		return fromBig(new(big.Int).Mul(x.toBig(), y.toBig()))
	}
	hi, lo := bits.Mul64(m, n)
	product := integer{hi: int64(hi), lo: lo}
	if x.hi^y.hi < 0 {
		return product.neg()
	}
	return product
}

// shifted is x * 2^n; n is not negative.
func (x integer) shifted(n int) integer {
	if x.isZero() {
		return x
	}
	if !(x.oneWord() && n < smallBits-64) && (x.big != nil || x.bitLen()+n > smallBits) {
		return integer{big: new(big.Int).Lsh(x.toBig(), uint(n))}
	}
	if n >= 64 {
		return integer{hi: int64(x.lo << (n - 64))}
	}
	return integer{hi: x.hi<<n | int64(x.lo>>1>>(63-n)), lo: x.lo << n}
}

// floor divides by 2^n: x = (q + r) * 2^n with 0 <= r < 1. exact reports whether r is 0, and
// half compares r with 1/2.
func (x integer) floor(n int) (q integer, half int, exact bool) {
	switch {
	case n == 0:
		return x, -1, true
	case x.big != nil:
		zeros := int(x.big.TrailingZeroBits())
		switch {
		case x.big.Bit(n-1) == 0: // of two's complement, as below
			half = -1
		case zeros < n-1:
			half = 1
		}
		return fromBig(new(big.Int).Rsh(x.big, uint(n))), half, zeros >= n
	}
	// In two's complement the rest is the n bits that are gone, and the quotient those above.
	// Beyond the 128 bits there are copies of the sign.
	n = min(n, 128)
	if n <= 64 {
		rest := x.lo << (64 - n) // as a fraction of 2^64
		return integer{hi: x.hi >> n, lo: x.lo>>n | uint64(x.hi)<<(64-n)}, cmp.Compare(rest, 1<<63), rest == 0
	}
	n -= 64
	rest := uint64(x.hi) << (64 - n)
	half = cmp.Compare(rest, 1<<63)
	if half == 0 && x.lo != 0 {
		half = 1
	}
	return integer{hi: x.hi >> 63, lo: uint64(x.hi >> n)}, half, rest == 0 && x.lo == 0
}

func (x integer) cmp(y integer) int {
	if x.big != nil || y.big != nil {
		return x.toBig().Cmp(y.toBig())
	}
	return x.plus(y.neg()).sign()
}
