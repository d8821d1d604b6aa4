package infer

import "math/bits"

// quarters is a product of two significands, each in quarters: {6, 6} is 1.5 * 1.5.
type quarters struct{ a, b uint64 }

// The products that together are four: with factors of two fraction bits, of one, and of none.
var (
	fourOfTwo  = []quarters{{6, 6}, {7, 4}}
	fourOfOne  = []quarters{{6, 4}, {6, 4}, {4, 4}}
	fourOfNone = []quarters{{4, 4}, {4, 4}, {4, 4}, {4, 4}}
)

// four returns products that together are four: as few as the formats allow, or ones.
func (d *designer) four() []quarters {
	switch n := min(d.fa.FracBits, d.fb.FracBits); {
	case n >= 2 && !d.oneIn(3):
		return fourOfTwo
	case n >= 1 && !d.oneIn(3):
		return fourOfOne
	}
	return fourOfNone
}

// carryUp makes products whose sum is a power of two, as large as their number can make it or
// nearly, less about half of the last bit that a result just below it has. Whether the carry of
// rounding up gets into the next binade is a matter of each binade of an adder.
func carryUp(d *designer) {
	at, four := d.places(d.k), d.four()
	small := -1 // the place of the small term; -1: it is c
	if d.fc == nil || d.k > 1 && d.coin() {
		small, at = at[0], at[1:]
	}
	m := max(0, bits.Len(uint(len(at)/len(four)))-1-d.IntN(2)) + 2
	if len(at) < len(four) { // a sum of ones
		four, m = fourOfNone, bits.Len(uint(len(at)))-1
	}
	lo, hi := d.ordinary()
	e, neg := d.between(lo, hi-m-1), d.coin()
	for i := range (len(four) << m) >> 2 {
		x, k := four[i%len(four)], at[i]
		d.reach(k, e)
		ea, eb := d.split(e-d.added(k), false)
		d.dot.A[k] = code(d.fa, neg, ea, x.a<<d.fa.FracBits>>2)
		d.dot.B[k] = code(d.fb, false, eb, x.b<<d.fb.FracBits>>2)
		d.swapSigns(k)
	}
	half := e + m - 2 - d.widths[d.IntN(len(d.widths))] + d.between(-2, 1)
	if small < 0 {
		d.dot.C = code(d.fc, !neg, d.clampC(half), 0)
		return
	}
	d.reach(small, half)
	d.power(small, half, !neg)
}
