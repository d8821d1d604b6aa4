package main

import "math/bits"

// A format is sign, exponent and fraction.
type format struct {
	name     string
	exp, man int // bits
	bias     int
	bytes    int // of the container
	drop     int // bits at its low end that do not count
	special  special
	unsigned bool
}

// special tells which codes are no numbers.
type special uint8

const (
	ieee    special = iota // the largest exponent: infinities and NaNs
	oneNaN                 // all bits set: a NaN
	none                   // every code is a number
	minus0                 // the code of -0 is the only NaN
	unknown                // a register inside a unit, without limits
)

var (
	fp64     = &format{name: "fp64", exp: 11, man: 52, bias: 1023, bytes: 8}
	fp32     = &format{name: "fp32", exp: 8, man: 23, bias: 127, bytes: 4}
	tf32     = &format{name: "tf32", exp: 8, man: 10, bias: 127, bytes: 4, drop: 13}
	bf16     = &format{name: "bf16", exp: 8, man: 7, bias: 127, bytes: 2}
	fp16     = &format{name: "fp16", exp: 5, man: 10, bias: 15, bytes: 2}
	e5m2     = &format{name: "e5m2", exp: 5, man: 2, bias: 15, bytes: 1}
	e4m3     = &format{name: "e4m3", exp: 4, man: 3, bias: 7, bytes: 1, special: oneNaN}
	e4m3fnuz = &format{name: "e4m3fnuz", exp: 4, man: 3, bias: 8, bytes: 1, special: minus0}
	e2m1     = &format{name: "e2m1", exp: 2, man: 1, bias: 1, bytes: 1, special: none}
	ue8m0    = &format{name: "ue8m0", exp: 8, bias: 127, bytes: 1, special: oneNaN, unsigned: true}
	ue4m3    = &format{name: "ue4m3", exp: 4, man: 3, bias: 7, bytes: 1, special: oneNaN, unsigned: true}
)

// register returns a format for p significant bits within a unit, of any exponent.
func register(p int) *format {
	return &format{man: p - 1, exp: 24, bias: 1 << 23, special: unknown}
}

func (f *format) emin() int { return 1 - f.bias }

// decode returns the number of a code.
func (f *format) decode(code uint64) num {
	code >>= f.drop
	frac := code & (1<<f.man - 1)
	exp := int(code>>f.man) & (1<<f.exp - 1)
	n := num{neg: !f.unsigned && code>>(f.man+f.exp)&1 != 0, m: frac, e: f.emin() - f.man, x: f.emin()}
	if f == ue8m0 {
		if code == 0xff {
			return aNaN
		}
		return num{m: 1, e: exp - f.bias, x: exp - f.bias}
	}
	full := exp == 1<<f.exp-1
	switch {
	case f.special == ieee && full && frac == 0:
		return num{kind: infinite, neg: n.neg}
	case f.special == ieee && full, f.special == oneNaN && full && frac == 1<<f.man-1, f.special == minus0 && n.neg && exp == 0 && frac == 0:
		return num{kind: nan, neg: n.neg, m: frac << (52 - f.man)}
	case exp != 0:
		n.m |= 1 << f.man
		n.e, n.x = exp-f.bias-f.man, exp-f.bias
	}
	return n
}

// largest is the largest finite number.
func (f *format) largest() num {
	m, exp := uint64(2)<<f.man-1, 1<<f.exp-1
	switch f.special {
	case ieee:
		exp--
	case oneNaN:
		m--
	}
	return num{m: m, e: exp - f.bias - f.man}
}

// defaultNaN is the quiet NaN without a payload.
func (f *format) defaultNaN() uint64 {
	switch f.special {
	case minus0:
		return 1 << (f.exp + f.man)
	case oneNaN:
		return 1<<(f.exp+f.man) - 1
	}
	return (1<<(f.exp+1) - 1) << (f.man - 1) << f.drop
}

// encode returns the code of a number that the format has. An infinity becomes a NaN if the
// format has none.
func (f *format) encode(n num) uint64 {
	sign := uint64(0)
	if n.neg {
		sign = 1 << (f.exp + f.man) << f.drop
	}
	switch {
	case n.kind == nan || n.kind == infinite && f.special != ieee:
		return f.defaultNaN()
	case n.kind == infinite:
		return sign | (1<<f.exp-1)<<f.man<<f.drop
	case n.m == 0 && f.special == minus0:
		return 0
	case n.m == 0:
		return sign
	}
	s := f.man + 1 - bits.Len64(n.m)
	if low := f.emin() - f.man; n.e-s < low {
		s = n.e - low
	}
	m := n.m << max(s, 0) >> max(-s, 0)
	return sign | (m+uint64(n.e-s-f.emin()+f.man)<<f.man)<<f.drop
}

type mode uint8

const (
	nearest mode = iota // ties to even
	zero                // truncation
	down
	up
	away // to nearest, ties away from zero
	odd  // what is not exact ends in a one
)

// up reports whether a magnitude is rounded up. last is the last bit that is kept, half the
// first one that is cut off, and more reports whether any bit below that is set.
func (by mode) up(neg, last, half, more bool) bool {
	switch by {
	case nearest:
		return half && (more || last)
	case away:
		return half
	case down:
		return neg && (half || more)
	case up:
		return !neg && (half || more)
	case odd:
		return !last && (half || more)
	}
	return false
}

type overflow uint8

const (
	byMode   overflow = iota // as IEEE 754: to infinity or to the largest number
	toInf                    // to infinity, whatever the mode
	saturate                 // to the largest number; infinities too
)

type tiny uint8

const (
	keep        tiny = iota
	flush            // results below the normal numbers are zeros of their sign
	flushBefore      // so are numbers that are below them before the rounding
	flushPlus        // as flush, and the zero is positive
)

// to is where and how a number is rounded.
type to struct {
	*format
	by   mode
	over overflow
	tiny tiny
	nan  uint64 // code of every NaN, 0: defaultNaN
}

func (t to) round(x num) num {
	if x.kind == infinite && t.over == saturate {
		m := t.largest()
		m.neg = x.neg
		return m
	}
	if x.kind != finite || x.zero() {
		return x
	}
	low := max(x.top()-t.man-1, t.emin()-t.man)
	r := num{neg: x.neg, e: x.e, m: x.m}
	if low >= x.e {
		var half, more bool
		r.m, half, more = split(x, low)
		r.e = low
		if t.by.up(x.neg, r.m&1 != 0, half, more) {
			r.m++
		}
	}
	small := r.m == 0 || r.top() <= t.emin()
	if t.tiny == flushBefore {
		small = x.top() <= t.emin()
	}
	if small && t.tiny != keep {
		return num{neg: x.neg && t.tiny != flushPlus}
	}
	r.x = max(r.top()-1, t.emin())
	m := t.largest()
	if r.m == 0 || r.top() < m.top() || r.top() == m.top() && r.m<<(64-bits.Len64(r.m)) <= m.m<<(64-bits.Len64(m.m)) {
		return r
	}
	m.neg, m.x = x.neg, m.top()-1
	inf := t.by == nearest || t.by == away || t.by == down && x.neg || t.by == up && !x.neg
	if t.over == toInf || t.over == byMode && inf {
		return num{kind: infinite, neg: x.neg}
	}
	return m
}

// code returns the code of the rounded number.
func (t to) code(x num) uint64 {
	x = t.round(x)
	if x.kind == nan && t.nan != 0 {
		return t.nan
	}
	return t.encode(x)
}

// sum rounds x + y; an exact zero is negative if rounding is down.
func (t to) sum(x, y num) num {
	s := add(x, y)
	if t.by == down && s.zero() && (!x.zero() || x.neg != y.neg) {
		s.neg = true
	}
	return t.round(s)
}

// fma rounds a * b + c once.
func (t to) fma(a, b, c num) num { return t.sum(mul(a, b), c) }

// product rounds a * b.
func (t to) product(a, b num) num { return t.round(mul(a, b)) }

// daz returns x, or a zero of its sign if it is below the normal numbers of its format.
func (f *format) daz(x num) num {
	if x.kind == finite && x.m != 0 && x.top() <= f.emin() {
		x.m = 0
	}
	return x
}

// propagate returns the code of a NaN made quiet, with its sign and payload.
func (f *format) propagate(x num) uint64 {
	code := uint64(1<<f.exp-1)<<f.man | 1<<(f.man-1) | x.m>>(52-f.man)
	if x.neg {
		code |= 1 << (f.exp + f.man)
	}
	return code << f.drop
}
