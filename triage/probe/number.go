package probe

import "github.com/mmafuzz/mmafuzz/sim/fp"

// number is (-1)^neg * sig * 2^exp.
type number struct {
	neg bool
	sig uint64
	exp int
}

// pow returns 2^e.
func pow(e int) number { return number{sig: 1, exp: e} }

// times returns sig * 2^e.
func times(sig uint64, e int) number { return number{sig: sig, exp: e} }

// minus returns -n.
func (n number) minus() number { n.neg = !n.neg; return n }

// signed returns n, negated if neg.
func (n number) signed(neg bool) number { n.neg = n.neg != neg; return n }

// scaled returns n * 2^e.
func (n number) scaled(e int) number { n.exp += e; return n }

// reduced returns n with an odd significand.
func (n number) reduced() number {
	for n.sig != 0 && n.sig&1 == 0 {
		n.sig, n.exp = n.sig>>1, n.exp+1
	}
	if n.sig == 0 {
		n.exp = 0
	}
	return n
}

// code returns the code of a number. ok is false if the format lacks the number.
func code(f *fp.Format, n number) (c uint64, ok bool) {
	if n.sig == 0 {
		return 0, !f.NoZero
	}
	if n.neg && !f.Signed {
		return 0, false
	}
	d := fp.Dyadic{Lo: n.sig, Q: int32(n.exp), Neg: n.neg}
	if d.Exponent() > f.Emax() {
		return 0, false
	}
	c = f.Encode(d, fp.RZ, fp.Overflow(0))
	return c, value(f, c) == n.reduced()
}

// value returns the number of a finite code, with an odd significand.
func value(f *fp.Format, c uint64) number {
	d := f.Dyadic(f.Decode(c))
	if d.IsZero() {
		return number{neg: d.Neg}
	}
	return number{d.Neg, d.Lo, int(d.Q)}.reduced()
}

// normal reports whether a code is a normal number of a format.
func normal(f *fp.Format, c uint64) bool {
	n := f.Decode(c)
	return n.Class == fp.Finite && f.Dyadic(n).Exponent() >= f.Emin()
}
