package oracle

import (
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Kind describes what a term is: a number, an infinity or a NaN.
type Kind uint8

// The kinds.
const (
	Finite Kind = iota
	Infinite
	NotANumber
)

// term is a term in the sense of package mma: an exact number with a nominal
// exponent, or an infinity or NaN.
type term struct {
	kind Kind
	neg  bool // the sign, also of zeros and infinities
	null bool // a zero that has no nominal exponent

	invalid bool // a NaN that no operand brought: Inf*0 or Inf-Inf
	signals bool // a signalling NaN
	over    bool // an infinity that rounding a product made
	direct  bool // a NaN or Inf*0 that is a product, and not yet part of a sum or rounded
	second  bool // and whose first factor is not the NaN

	m       integer // finite: the number is m * 2^q
	q       int
	e       int    // nominal exponent, unless null
	element int    // of a product: its position in the vectors
	payload uint64 // of a NaN: the fraction field, in the top bits
}

// isZero reports whether t is the number 0, null or not.
func (t *term) isZero() bool { return t.kind == Finite && t.m.isZero() }

// log2 returns floor(log2|t|) of a number that is not 0.
func (t *term) log2() int { return t.q + t.m.bitLen() - 1 }

// below reports whether t is a number with 0 < |t| < 2^exp.
func (t *term) below(exp int) bool { return t.kind == Finite && !t.isZero() && t.log2() < exp }

// invalidOperation returns the NaN of Inf*0 and Inf-Inf.
func (e *evaluator) invalidOperation() term {
	return made(e.Special)
}

// decode reads a code. The nominal exponent is that of the exponent field, for
// field 0 the format's emin. Zeros are null.
func decode(id fp.ID, code uint64) (t term) {
	t.decode(id, code)
	return t
}

func (t *term) decode(id fp.ID, code uint64) {
	if codes := narrow()[id]; codes != nil {
		*t = codes[code&0xFF]
		return
	}
	t.decodeFields(id.Get(), code)
}

// narrow has, by format, the terms of all codes of those formats of the table that have one
// byte.
var narrow = sync.OnceValue(newNarrow)

func newNarrow() *[256]*[256]term {
	var all [256]*[256]term
	for _, id := range slices.Concat(fp.All(), []fp.ID{fp.One}, fp.Integers()) {
		if f := id.Get(); f.Width == 1 {
			all[id] = new([256]term)
			for code := range all[id] {
				all[id][code].decodeFields(f, uint64(code))
			}
		}
	}
	return &all
}

func (t *term) decodeFields(f *fp.Format, code uint64) {
	code >>= f.Low
	frac := code & (1<<f.FracBits - 1)
	field := code >> f.FracBits & (1<<f.ExpBits - 1)
	neg := f.Signed && code>>(f.FracBits+f.ExpBits)&1 == 1
	switch kindOf(f, neg, field, frac) {
	case NotANumber:
		payload := frac << (64 - f.FracBits)
		*t = term{kind: NotANumber, neg: neg, payload: payload, signals: f.Specials == fp.IEEE && payload>>63 == 0}
		return
	case Infinite:
		*t = term{kind: Infinite, neg: neg}
		return
	}
	e := int(f.Emin())
	if f.Integer() {
		n := int64(frac)
		if neg { // the sign bit counts with its place
			n -= 1 << f.FracBits
		}
		*t = integerTerm(newInteger(n), e)
		return
	}
	if field != 0 || f.NoZero {
		if e = int(field) - int(f.Bias); f.Inverse {
			e = -e
		}
		frac |= 1 << f.FracBits
	}
	if frac == 0 {
		*t = term{null: true, neg: neg}
		return
	}
	m := int64(frac)
	if neg {
		m = -m
	}

	*t = term{neg: neg, m: newInteger(m), q: e - int(f.FracBits), e: e}
}

// normal reads the code of a normal number m * 2^(e-f.FracBits); ok is false for any other, and for
// some of the largest exponent.
func normal(f *fp.Format, code uint64) (m int64, e int, ok bool) {
	code >>= f.Low
	field, top := code>>f.FracBits&(1<<f.ExpBits-1), uint64(1)<<f.ExpBits-1
	m = int64(code&(1<<f.FracBits-1) | 1<<f.FracBits)
	if code>>(f.FracBits+f.ExpBits)&1 == 1 {
		m = -m
	}
	return m, int(field) - int(f.Bias), field != 0 && field != top
}

// integerTerm is an integer of a format with the exponent e.
func integerTerm(n integer, e int) term {
	if n.isZero() {
		return term{null: true}
	}
	return term{neg: n.sign() < 0, m: n, e: e}
}

// kindOf applies a format's rule of special values.
func kindOf(f *fp.Format, neg bool, field, frac uint64) Kind {
	top := field == 1<<f.ExpBits-1
	switch f.Specials {
	case fp.IEEE:
		if top && frac == 0 {
			return Infinite
		}
		if top {
			return NotANumber
		}
	case fp.OnesNaN:
		if top && frac == 1<<f.FracBits-1 {
			return NotANumber
		}
	case fp.NegZeroNaN:
		if neg && field == 0 && frac == 0 {
			return NotANumber
		}
	}
	return Finite
}
