package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// draw is the randomness of one tile or dot product and the tools to build
// operands of chosen exponents.
type draw struct {
	Spec
	args  []int
	index uint64 // of the tile
	state uint64
	bytes *bytesSource // not nil: where the randomness comes from instead of state
	base  *mma.Dot     // of a mutation
	// around is the generator whose dot products are varied, with d.args.
	around *Generator

	fa, fb, fc, fs *format // fc and fs may be nil
	dot            *mma.Dot
	scale          []int // exponent that the scales of each block add

	positions []int     // scratch space
	cs        [256]byte // the same: codes of C
}

func newDraw(sp Spec) *draw {
	d := &draw{Spec: sp, fa: newFormat(sp.A), fb: newFormat(sp.B), fc: newFormat(sp.C), fs: newFormat(sp.Scale)}
	d.dot = mma.NewDot(sp.Formats, sp.K)
	d.scale = make([]int, len(d.dot.SA))
	d.positions = make([]int, sp.K)
	return d
}

// Mix is the finaliser of splitmix64.
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// start begins the stream of an index.
func (d *draw) start(key, index uint64) { d.state = Mix(key + index*0x9e3779b97f4a7c15) }

// next returns 64 random bits (wyrand), or bits of the byte source.
func (d *draw) next() uint64 {
	if d.bytes != nil {
		return d.bytes.next()
	}
	d.state += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(d.state, d.state^0xe7037ed1a0b428db)
	return hi ^ lo
}

// intn returns a number in 0..n-1.
func (d *draw) intn(n int) int {
	hi, _ := bits.Mul64(d.next(), uint64(n))
	return int(hi)
}

// between returns a number in lo..hi; lo if the range is empty.
func (d *draw) between(lo, hi int) int {
	if hi <= lo {
		return lo
	}
	return lo + d.intn(hi-lo+1)
}

// oneIn is true once in n times.
func (d *draw) oneIn(n int) bool { return d.intn(n) == 0 }

func (d *draw) coin() bool { return d.next()>>63 != 0 }

// aim returns one of the arguments three times in four, else, or without
// arguments, a number in lo..hi.
func (d *draw) aim(lo, hi int) int {
	if len(d.args) > 0 && !d.oneIn(4) {
		return d.args[d.intn(len(d.args))]
	}
	return d.between(lo, hi)
}

// reset makes the dot product all zeros, with scales of 1.
func (d *draw) reset() {
	clear(d.dot.A)
	clear(d.dot.B)
	d.dot.C = 0
	for i := range d.scale {
		d.scale[i] = 0
		d.dot.SA[i], d.dot.SB[i] = d.one(), d.one()
	}
}

// one returns the scale 1.
func (d *draw) one() uint64 { return uint64(d.fs.Bias) << d.fs.FracBits }

// scaleBy gives block i scales whose exponents add up to e; near the ends of the range that
// the format reaches, the sum may be up to 3 short of e.
func (d *draw) scaleBy(i, e int) {
	x, y := d.splitScale(e, d.between(e/2-3, e/2+3)-e/2)
	d.dot.SA[i], d.dot.SB[i] = d.scaleCode(x, d.scaleFrac()), d.scaleCode(y, d.scaleFrac())
	d.scale[i] = x + y
}

// splitScale returns exponents of two scales: e/2+more and the rest of e, each moved into the
// format's range. Near the ends of what two scales reach, their sum may be up to |more| short
// of e.
func (d *draw) splitScale(e, more int) (x, y int) {
	lo, hi := int(d.fs.Emin()), int(d.fs.Emax())
	x = min(max(e/2+more, lo), hi)
	return x, min(max(e-x, lo), hi)
}

// scaleCode returns a scale of exponent e.
func (d *draw) scaleCode(e int, frac uint64) uint64 {
	return min(uint64(e+int(d.fs.Bias))<<d.fs.FracBits|frac, d.fs.MaxFinite())
}

// scaleFrac returns a random fraction of a scale half of the time, else 0.
func (d *draw) scaleFrac() uint64 {
	if n := d.fs.FracBits; n > 0 && d.coin() {
		return d.next() & (1<<n - 1)
	}
	return 0
}

// shift gives every block scales of about the same exponent, so that products of
// exponent e can be had although the operand formats are narrow. It returns
// what it added, 0 without scales.
func (d *draw) shift(e int) int {
	if d.fs == nil {
		return 0
	}
	for i := range d.scale {
		d.scaleBy(i, e)
	}
	return d.scale[0]
}

// products returns the range of exponents of products of normal numbers in
// block 0.
func (d *draw) products() (lo, hi int) {
	lo, hi = int(d.fa.Emin()+d.fb.Emin()), int(d.fa.Emax()+d.fb.Emax())
	return lo + d.block(0), hi + d.block(0)
}

// lowestBit returns the exponent of the smallest product of subnormals.
func (d *draw) lowestBit() int {
	return int(d.fa.Emin()) - int(d.fa.FracBits) + int(d.fb.Emin()) - int(d.fb.FracBits) - int(d.Down)
}

// block returns the exponent that scales and Formats.Down add to product k.
func (d *draw) block(k int) int {
	if d.fs == nil {
		return -int(d.Down)
	}
	return d.scale[k/int(d.Block)] - int(d.Down)
}

// code returns a code of f: sign, exponent e and fraction (right-aligned). An
// exponent below the normal range gives a subnormal with its top bit there if
// there is one, an exponent beyond the range the nearest in it.
func code(f *format, neg bool, e int, frac uint64) uint64 {
	emin, n := int(f.Emin()), int(f.FracBits)
	c := uint64(0)
	switch {
	case e >= emin:
		c = f.Field(min(int32(e), f.Emax()))<<n | frac&(1<<n-1)
	case e >= emin-n:
		c = (1<<n | frac&(1<<n-1)) >> (emin - e)
	default:
		c = 1
	}
	if c <<= f.Low; !f.Inverse {
		c = min(c, f.MaxFinite())
	}
	if neg {
		c |= f.SignBit()
	}
	return c
}

// frac returns a fraction of n bits: zero, all ones, one bit, all but one, a run
// of leading ones, or random.
func (d *draw) frac(n int) uint64 {
	if n == 0 {
		return 0
	}
	ones := uint64(1)<<n - 1
	kind := d.intn(8)
	if kind < 3 {
		return [3]uint64{2: ones}[kind]
	}
	// A table where a switch would be natural: no processor predicts its branches.
	x := d.next()
	at, _ := bits.Mul64(x, uint64(n))
	bit := uint64(1) << at
	return [8]uint64{3: bit, 4: ones &^ bit, 5: ones &^ (bit - 1), 6: x & ones, 7: x & ones}[kind]
}

// product sets product k to have the nominal exponent e, or the nearest that the
// formats reach, and random fractions. It returns the exponent.
func (d *draw) product(k, e int, neg bool) int {
	s := d.block(k)
	la, ha, lb, hb := int(d.fa.Emin()), int(d.fa.Emax()), int(d.fb.Emin()), int(d.fb.Emax())
	e = min(max(e-s, la+lb), ha+hb)
	ea := d.between(max(la, e-hb), min(ha, e-lb))
	d.dot.A[k] = code(d.fa, neg, ea, d.frac(int(d.fa.FracBits)))
	d.dot.B[k] = code(d.fb, false, e-ea, d.frac(int(d.fb.FracBits)))
	if d.coin() {
		d.swapSigns(k)
	}
	return e + s
}

// swapSigns flips the signs of both factors, which keeps that of the product.
func (d *draw) swapSigns(k int) {
	d.dot.A[k] ^= d.fa.SignBit()
	d.dot.B[k] ^= d.fb.SignBit()
}

// power sets product k to +-2^e, or the nearest power that normal factors reach; half of the
// time subnormal factors are allowed too.
func (d *draw) power(k, e int, neg bool) {
	if d.coin() { // normal factors only
		d.powerOf(k, e, neg, int(d.fa.Emin()), int(d.fb.Emin()))
		return
	}
	d.powerOf(k, e, neg, int(d.fa.Emin())-int(d.fa.FracBits), int(d.fb.Emin())-int(d.fb.FracBits))
}

// tightPower is power, but with normal factors wherever these reach 2^e.
func (d *draw) tightPower(k, e int, neg bool) {
	la, lb := int(d.fa.Emin()), int(d.fb.Emin())
	if e-d.block(k) < la+lb {
		la, lb = la-int(d.fa.FracBits), lb-int(d.fb.FracBits)
	}
	d.powerOf(k, e, neg, la, lb)
}

// powerOf is power with factors of at least the given exponents.
func (d *draw) powerOf(k, e int, neg bool, la, lb int) {
	ha, hb := int(d.fa.Emax()), int(d.fb.Emax())
	e = min(max(e-d.block(k), la+lb), ha+hb)
	ea := d.between(max(la, e-hb), min(ha, e-lb))
	d.dot.A[k] = code(d.fa, neg, ea, 0)
	d.dot.B[k] = code(d.fb, false, e-ea, 0)
}

// negate sets product k to minus product j, in the same block of scales or not.
func (d *draw) negate(k, j int) {
	d.dot.A[k], d.dot.B[k] = d.dot.A[j]^d.fa.SignBit(), d.dot.B[j]
	if d.fa.SignBit()&d.dot.A[k] != 0 && d.coin() {
		d.swapSigns(k)
	}
}

// accumulator sets c to exponent e and a random fraction; without a C it does
// nothing.
func (d *draw) accumulator(e int, neg bool) {
	if d.fc != nil {
		d.dot.C = code(d.fc, neg, e, d.frac(int(d.fc.FracBits)))
	}
}

// nudge moves the code of c by a few units in the last place.
func (d *draw) nudge(most int) {
	if d.fc == nil {
		return
	}
	sign := d.dot.C & d.fc.SignBit()
	c := int64(d.dot.C&^sign) + int64(d.between(-most, most))
	d.dot.C = sign | uint64(min(max(c, 0), int64(d.fc.MaxFinite())))
}

// accumulators returns the range of exponents of normal c.
func (d *draw) accumulators() (lo, hi int) {
	if d.fc == nil {
		return 0, 0
	}
	return int(d.fc.Emin()), int(d.fc.Emax())
}

// place returns a position at which both factors are still +0, or any if there is none.
func (d *draw) place() int {
	k := d.intn(d.K)
	for range d.K {
		if d.dot.A[k]|d.dot.B[k] == 0 {
			return k
		}
		k = (k + 1) % d.K
	}
	return k
}
