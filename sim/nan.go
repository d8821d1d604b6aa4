package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// origins describes where a term that is NaN or invalid comes from, until a Round has
// seen it; of an infinity, whether rounding a product made it.
type origins uint8

const (
	signals    origins = 1 << iota // a signalling operand
	ofFirst                        // a product whose first factor is the NaN
	ofSecond                       // a product whose second factor or a scale is the NaN; with ofFirst: Inf*0
	ofOverflow                     // an infinity that rounding a product made: mma.Product.FirstOver
	ofProduct  = ofFirst | ofSecond
)

// nanTerm returns the term of a NaN operand: its code in D's format, quiet,
// the payload left-aligned, the sign kept.
func (x *machine) nanTerm(f *fp.Format, code uint64) term {
	n := f.Decode(code)
	frac := n.Sig
	if shift := int(x.fd.FracBits) - int(f.FracBits); shift >= 0 {
		frac <<= shift
	} else {
		frac >>= -shift
	}
	t := term{Dyadic: fp.Dyadic{Lo: x.quiet(n.Neg)}, kind: NaN}
	if x.fd.HasInf() { // else there is one NaN, or one of each sign
		t.Lo |= frac
	}
	if f.Specials == fp.IEEE && n.Sig>>(f.FracBits-1)&1 == 0 {
		t.nan = signals
	}
	return t
}

// specialProduct is the product of factors, at least one of which is Inf or NaN.
func (x *machine) specialProduct(a, b, sa, sb *operand) term {
	var nan term
	zero := false
	factors, formats := [4]*operand{a, b, sa, sb}, [4]*fp.Format{x.a.f, x.b.f, x.s.f, x.s.f}
	if x.p.Special.BFirst {
		factors[0], factors[1], formats[0], formats[1] = b, a, x.b.f, x.a.f
	}
	for i, o := range factors {
		switch {
		case o == nil:
		case o.class == fp.NaN:
			t := x.nanTerm(formats[i], o.code)
			t.nan |= ofSecond
			if i == 0 {
				t.nan ^= ofProduct
			}
			if nan.kind != NaN || x.p.Special.NaN == mma.NaNSignal && t.nan&signals > nan.nan&signals ||
				x.p.Special.NaN == mma.NaNLarger && x.larger(&t, &nan) {
				nan = t
			}
		case o.class == fp.Zero:
			zero = true
		}
	}
	switch {
	case nan.kind == NaN:
		return x.round(nan, &x.p.Prod.Round)
	case zero:
		return x.round(term{kind: invalid, nan: ofProduct}, &x.p.Prod.Round)
	}
	return x.round(infTerm(a.neg != b.neg), &x.p.Prod.Round)
}

// roundedNaN returns a NaN as a Round leaves it: the NaN that one operation made is an
// operand of the next.
func (x *machine) roundedNaN(t term) term {
	switch {
	case x.p.Special.NaN == mma.NaNZero:
		return zeroTerm(false)
	case t.kind == invalid:
		t = term{Dyadic: fp.Dyadic{Lo: x.made(x.p.Special.NegativeNaN())}, kind: NaN}
	}
	t.nan = 0
	return t
}

// nanSum chooses among the terms of a sum, at least one of which is NaN or invalid.
func (x *machine) nanSum(ts []term, acc int) term {
	var t term
	switch x.p.Special.NaN {
	case mma.NaNSignal:
		t = ts[signalFirst(ts, acc)]
	case mma.NaNMulAdd:
		t = ts[multiplyAdd(ts)]
	case mma.NaNLarger:
		t = ts[x.largerFirst(ts)]
	default:
		t = ts[operandFirst(ts)]
	}
	t.nan &^= ofProduct
	return t
}

// operandFirst returns the index of the first NaN or, if there is none, of an invalid
// term.
func operandFirst(ts []term) int {
	made := 0
	for i := range ts {
		switch ts[i].kind {
		case NaN:
			return i
		case invalid:
			made = i
		}
	}
	return made
}

// largerFirst returns the index of the term that mma.NaNLarger chooses.
func (x *machine) largerFirst(ts []term) int {
	best := operandFirst(ts)
	for i := range ts {
		if ts[i].kind == NaN && x.larger(&ts[i], &ts[best]) {
			best = i
		}
	}
	return best
}

// larger reports whether a NaN operand goes before another by mma.NaNLarger.
func (x *machine) larger(t, u *term) bool {
	if t.nan&signals != u.nan&signals {
		return u.nan&signals != 0
	}
	sign := x.fd.SignBit()
	if f, g := t.Lo&^sign, u.Lo&^sign; f != g {
		return f > g
	}
	return t.Lo < u.Lo
}

// signalFirst returns the index of the term that mma.NaNSignal chooses.
func signalFirst(ts []term, acc int) int {
	rank := func(i int) int {
		switch {
		case ts[i].kind == invalid:
			return 1
		case ts[i].kind != NaN:
			return 3
		case ts[i].nan&signals != 0:
			return 0
		}
		return 2
	}
	best := max(acc, 0)
	for i := range ts {
		if rank(i) < rank(best) {
			best = i
		}
	}
	return best
}

// multiplyAdd returns the index of the term that mma.NaNMulAdd chooses.
func multiplyAdd(ts []term) int {
	last := -1
	for i := range ts {
		if ts[i].nan&ofProduct != 0 {
			last = i
		}
	}
	if last >= 0 && ts[last].nan&ofProduct == ofFirst {
		return last
	}
	for i := range ts {
		if ts[i].kind >= NaN && i != last {
			return i
		}
	}
	return last
}

// quiet returns the code of a quiet NaN of D's format; of one without NaNs the largest number.
func (x *machine) quiet(neg bool) uint64 {
	if !x.fd.HasNaN() {
		return x.fd.MaxFinite()
	}
	return x.fd.QuietNaN(neg)
}

// made returns the code of a NaN that an operation makes.
func (x *machine) made(neg bool) uint64 {
	code := x.quiet(neg)
	if n := x.p.Special.Ones; n != 0 {
		return code | (1<<n-1)<<(x.fd.FracBits-n)
	}
	return code
}

// nanCode returns the code of a result that is the NaN t.
func (x *machine) nanCode(t term) uint64 {
	switch x.p.Special.NaN {
	case mma.NaNOnes:
		if !x.fd.HasNaN() {
			return x.fd.MaxFinite()
		}
		return x.fd.OnesNaNCode()
	case mma.NaNQuiet, mma.NaNOfC, mma.NaNZero: // with NaNZero, t is an infinity that D does not have
		return x.made(false)
	case mma.NaNQuietNeg:
		return x.made(true)
	}
	return t.Lo
}
