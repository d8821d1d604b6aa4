package infer

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// designer builds dot products with chosen exponents. Where the formats cannot represent
// what a family wants, it takes the nearest: hypotheses are judged on the dot products
// that come out, whatever was wanted.
type designer struct {
	*rand.Rand
	f              mma.Formats
	k              int
	fa, fb, fc, fs *fp.Format // fc and fs may be nil
	dot            *mma.Dot
	widths         []int // of roundings and cuts, for exactTie
	scale          []int // exponent that the scales of each block add
}

func newDesigner(f mma.Formats, k int, r *rand.Rand) *designer {
	d := &designer{Rand: r, f: f, k: k, fa: f.A.Get(), fb: f.B.Get()}
	if f.C != fp.None {
		d.fc = f.C.Get()
	}
	if f.Scale != fp.None {
		d.fs = f.Scale.Get()
	}
	return d
}

// start begins a dot product of zeros, with scales of 1.
func (d *designer) start() {
	d.dot = mma.NewDot(d.f, d.k)
	d.scale = make([]int, len(d.dot.SA))
	for i := range d.scale {
		d.scaleBy(i, 0)
	}
}

func (d *designer) coin() bool       { return d.IntN(2) == 0 }
func (d *designer) oneIn(n int) bool { return d.IntN(n) == 0 }

// between returns a number in lo..hi; lo if the range is empty.
func (d *designer) between(lo, hi int) int {
	if hi <= lo {
		return lo
	}
	return lo + d.IntN(hi-lo+1)
}

// places returns up to n different positions in random order.
func (d *designer) places(n int) []int { return d.Perm(d.k)[:min(n, d.k)] }

// scaleBy gives block i scales whose exponents add up to e, or nearly.
func (d *designer) scaleBy(i, e int) {
	lo, hi := int(d.fs.Emin()), int(d.fs.Emax())
	x := min(max(e/2, lo), hi)
	y := min(max(e-x, lo), hi)
	d.dot.SA[i] = uint64(x+int(d.fs.Bias)) << d.fs.FracBits
	d.dot.SB[i] = uint64(y+int(d.fs.Bias)) << d.fs.FracBits
	d.scale[i] = x + y
}

// added returns the exponent that scales and Formats.Down add to product k.
func (d *designer) added(k int) int {
	if d.fs == nil {
		return -int(d.f.Down)
	}
	return d.scale[k/int(d.f.Block)]
}

// products returns the range of exponents of products of normal numbers, without
// scales.
func (d *designer) products() (lo, hi int) {
	down := int(d.f.Down)
	return int(d.fa.Emin()+d.fb.Emin()) - down, int(d.fa.Emax()+d.fb.Emax()) - down
}

// reach moves the scales of k's block, if there are any, so that product k can
// have exponent e.
func (d *designer) reach(k, e int) {
	if d.fs == nil {
		return
	}
	lo, hi := d.products()
	i := k / int(d.f.Block)
	if e-d.scale[i] < lo || e-d.scale[i] > hi {
		d.scaleBy(i, e-d.between(lo, hi))
	}
}

// code returns a code of f of exponent e; below the normal range a subnormal, and
// beyond the range the nearest.
func code(f *fp.Format, neg bool, e int, frac uint64) uint64 {
	emin, n := int(f.Emin()), int(f.FracBits)
	c := uint64(1)
	switch {
	case e >= emin:
		c = f.Field(min(int32(e), f.Emax()))<<n | frac&(1<<n-1)
	case e >= emin-n:
		c = (1<<n | frac&(1<<n-1)) >> (emin - e)
	}
	if c <<= f.Low; !f.Inverse {
		c = min(c, f.MaxFinite())
	}
	if neg {
		c |= f.SignBit()
	}
	return c
}

// frac returns a fraction of n bits with a pattern on which roundings differ.
func (d *designer) frac(n int) uint64 {
	if n == 0 {
		return 0
	}
	ones := uint64(1)<<n - 1
	switch d.IntN(8) {
	case 0, 1:
		return 0
	case 2:
		return ones
	case 3:
		return 1 << d.IntN(n)
	case 4:
		return ones &^ (1 << d.IntN(n))
	case 5:
		return ones &^ (1<<d.IntN(n) - 1)
	}
	return d.Uint64() & ones
}

// split divides the exponent of a product between its factors, which may be
// subnormal.
func (d *designer) split(e int, sub bool) (ea, eb int) {
	la, ha, lb, hb := int(d.fa.Emin()), int(d.fa.Emax()), int(d.fb.Emin()), int(d.fb.Emax())
	if sub {
		la, lb = la-int(d.fa.FracBits), lb-int(d.fb.FracBits)
	}
	e = min(max(e, la+lb), ha+hb)
	lo, hi := max(la, e-hb), min(ha, e-lb)
	ea = d.between(lo, hi)
	if d.coin() { // as even as possible
		ea = min(max(e/2, lo), hi)
	}
	return ea, e - ea
}

// term sets product k to exponent e and random fractions.
func (d *designer) term(k, e int, neg bool) {
	ea, eb := d.split(e-d.added(k), d.oneIn(8))
	d.dot.A[k] = code(d.fa, neg, ea, d.frac(int(d.fa.FracBits)))
	d.dot.B[k] = code(d.fb, false, eb, d.frac(int(d.fb.FracBits)))
	d.swapSigns(k)
}

// power sets product k to +-2^e.
func (d *designer) power(k, e int, neg bool) {
	lo, _ := d.products()
	if d.fs != nil {
		lo += d.added(k)
	}
	ea, eb := d.split(e-d.added(k), e < lo)
	d.dot.A[k] = code(d.fa, neg, ea, 0)
	d.dot.B[k] = code(d.fb, false, eb, 0)
	d.swapSigns(k)
}

// swapSigns moves a product's sign to the other factor, half of the time.
func (d *designer) swapSigns(k int) {
	if d.coin() {
		d.dot.A[k] ^= d.fa.SignBit()
		d.dot.B[k] ^= d.fb.SignBit()
	}
}

// negate sets product k to minus product j.
func (d *designer) negate(k, j int) {
	d.dot.A[k], d.dot.B[k] = d.dot.A[j]^d.fa.SignBit(), d.dot.B[j]
	if d.fs != nil {
		x, y := k/int(d.f.Block), j/int(d.f.Block)
		d.dot.SA[x], d.dot.SB[x], d.scale[x] = d.dot.SA[y], d.dot.SB[y], d.scale[y]
	}
}

// accumulator sets c, if there is one.
func (d *designer) accumulator(e int, neg bool) {
	if d.fc != nil {
		d.dot.C = code(d.fc, neg, e, d.frac(int(d.fc.FracBits)))
	}
}

// minus sets c to minus product k, if there is a c, rounded to its format.
func (d *designer) minus(k int) {
	if d.fc == nil {
		return
	}
	x, y := d.fa.Decode(d.dot.A[k]), d.fb.Decode(d.dot.B[k])
	if x.Class > fp.Finite || y.Class > fp.Finite {
		return
	}
	p, q := d.fa.Dyadic(x), d.fb.Dyadic(y)
	p, q = p.Round(p.Exponent()-31, fp.RTO), q.Round(q.Exponent()-31, fp.RTO)
	p = fp.Dyadic{Lo: p.Lo * q.Lo, Q: p.Q + q.Q + int32(d.added(k)), Neg: p.Neg == q.Neg}
	d.dot.C = d.fc.Encode(p, fp.RNE, fp.OverMax)
}
