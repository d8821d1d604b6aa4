package main

import "math/bits"

type kind uint8

const (
	finite kind = iota
	infinite
	nan
)

// num is (-1)^neg * m * 2^e exactly, an infinity, or a NaN whose fraction is m, its
// first bit at 2^51. Where rest is set the magnitude lies between m and m+1, both
// excluded: such a number can only be rounded.
type num struct {
	kind kind
	neg  bool
	rest bool
	m    uint64
	e    int
	x    int // exponent of an operand as its code has it, that of subnormals and zero included; of a product their sum
}

var aNaN = num{kind: nan}

func (x num) zero() bool { return x.kind == finite && x.m == 0 && !x.rest }

// top is the exponent of the power of two above the magnitude of a finite x != 0.
func (x num) top() int { return x.e + bits.Len64(x.m) }

func (x num) negated(yes bool) num {
	x.neg = x.neg != yes
	return x
}

// mul returns the product, with a rest if it has more than 64 bits: of two FP64 numbers.
func mul(a, b num) num {
	hi, lo := bits.Mul64(a.m, b.m)
	n := bits.Len64(hi)
	p := num{neg: a.neg != b.neg, m: hi<<(64-n) | lo>>n, rest: lo<<(64-n) != 0, e: a.e + b.e + n, x: a.x + b.x}
	switch {
	case a.kind == nan:
		return a
	case b.kind == nan:
		return b
	case a.kind == infinite && b.zero() || b.kind == infinite && a.zero():
		return aNaN
	case a.kind == infinite || b.kind == infinite:
		return num{kind: infinite, neg: p.neg}
	}
	return p
}

// add returns the sum of numbers of at most 56 bits. An exact zero is positive, unless
// both are negative zeros.
func add(x, y num) num {
	switch {
	case x.kind == nan:
		return x
	case y.kind == nan:
		return y
	case x.kind == infinite && y.kind == infinite && x.neg != y.neg:
		return aNaN
	case x.kind == infinite || y.zero() && !x.zero():
		return x
	case y.kind == infinite || x.zero() && !y.zero():
		return y
	case x.zero():
		return num{neg: x.neg && y.neg, e: x.e}
	}
	if x.top() < y.top() {
		x, y = y, x
	}
	shift := 62 - bits.Len64(x.m)
	sum := num{neg: x.neg, m: x.m << shift, e: x.e - shift}
	var m uint64
	if s := y.e - sum.e; s >= 0 {
		m = y.m << s
	} else if s > -64 {
		m = y.m >> -s
		sum.rest = m<<-s != y.m
	} else {
		sum.rest = true
	}
	switch {
	case x.neg == y.neg:
		sum.m += m
	case m > sum.m:
		sum.neg, sum.m = y.neg, m-sum.m
	default:
		sum.m -= m
		if sum.rest {
			sum.m--
		}
	}
	if sum.zero() {
		sum.neg = false
	}
	return sum
}

// wide is a number in two's complement, whose bits are worth 2^low and more.
type wide struct {
	low  int
	w, v []uint64 // v is for work
}

func newWide(low, high int) *wide {
	n := (high-low)/64 + 1
	return &wide{low: low, w: make([]uint64, n), v: make([]uint64, n)}
}

// room32 has room for sums of products of FP32 numbers and of FP8 numbers with scales,
// room64 for those of FP64 numbers.
var (
	room32 = newWide(-384, 448)
	room64 = newWide(-2240, 2240)
)

func (x *wide) clear() *wide {
	clear(x.w)
	return x
}

func (x *wide) word(i int, w uint64, neg bool) {
	var c uint64
	for ; i < len(x.w) && (w|c) != 0; i++ {
		if neg {
			x.w[i], c = bits.Sub64(x.w[i], w, c)
		} else {
			x.w[i], c = bits.Add64(x.w[i], w, c)
		}
		w = 0
	}
}

// add adds a finite number.
func (x *wide) add(n num) *wide {
	s := n.e - x.low
	i, o := s/64, s%64
	if n.m != 0 {
		x.word(i, n.m<<o, n.neg)
		x.word(i+1, n.m>>(64-o), n.neg)
	}
	return x
}

// addProduct adds the product of two finite numbers of at most 64 bits.
func (x *wide) addProduct(a, b num) *wide {
	hi, lo := bits.Mul64(a.m, b.m)
	x.add(num{neg: a.neg != b.neg, m: lo, e: a.e + b.e})
	return x.add(num{neg: a.neg != b.neg, m: hi, e: a.e + b.e + 64})
}

// num returns the 64 bits from the first one on, and whether anything is below.
func (x *wide) num() num {
	n := num{neg: x.w[len(x.w)-1]>>63 != 0}
	copy(x.v, x.w)
	if n.neg {
		c := uint64(1)
		for i := range x.v {
			x.v[i], c = bits.Add64(^x.v[i], 0, c)
		}
	}
	i := len(x.v) - 1
	for i > 0 && x.v[i] == 0 {
		i--
	}
	o := bits.LeadingZeros64(x.v[i])
	n.m, n.e = x.v[i], x.low+64*i
	if i > 0 {
		n.m, n.e = x.v[i]<<o|x.v[i-1]>>(64-o), n.e-o
		n.rest = x.v[i-1]<<o != 0
		for _, w := range x.v[:i-1] {
			n.rest = n.rest || w != 0
		}
	}
	return n
}

// cut returns a finite x / 2^q as an integer, rounded by mode. Its magnitude must fit in 63
// bits.
func cut(x num, q int, by mode) int64 {
	whole, half, more := split(x, q)
	if by.up(x.neg, whole&1 != 0, half, more) {
		whole++
	}
	if x.neg {
		return -int64(whole)
	}
	return int64(whole)
}

// split returns the magnitude of x / 2^q: the integer part, the first bit below the point,
// and whether any bit below that is set.
func split(x num, q int) (whole uint64, half, more bool) {
	switch s := q - x.e; {
	case s <= 0:
		return x.m << -s, false, x.rest
	case s > 64:
		return 0, false, x.m != 0 || x.rest
	default:
		half = x.m>>(s-1)&1 != 0
		more = x.m<<(64-s)<<1 != 0 || x.rest
		return x.m >> s, half, more
	}
}

// fixed returns v * 2^q.
func fixed(v int64, q int) num {
	if v < 0 {
		return num{neg: true, m: uint64(-v), e: q}
	}
	return num{m: uint64(v), e: q}
}
