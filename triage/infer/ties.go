package infer

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// widthsOf returns the numbers of fraction bits to which a program rounds or cuts, and those
// of D, each once.
func widthsOf(sp gen.Spec, p *mma.Params) []int {
	all := []int{int(sp.D.Get().FracBits)}
	if g, err := gen.Find("tie"); err == nil && p != nil {
		all = append(all, g.Aims(sp, p)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// exactTie makes a sum that lies halfway between two numbers of one of the program's widths, of
// either sign and in any binade: a product by itself, or a large term and a product whose last
// bit is half of a unit. In half of the latter the product's bits above that one make a tie of a
// narrower width, or miss it by that half unit: a wide accumulator that is rounded to a narrow
// result shows only there how it rounds its own ties.
func exactTie(d *designer) {
	w, tiny := d.widths[d.IntN(len(d.widths))], d.oneIn(6)
	total := w + 2 // bits of the sum
	if tiny {
		total = d.between(2, total)
	}
	if d.coin() && d.tieOfOne(w, total, tiny) {
		return
	}
	n, tail := 1, uint64(1) // the last n bits of the product
	narrow := d.widths[d.IntN(len(d.widths))]
	if n = max(w-narrow, 0) + 1; n > 1 {
		tail = 1<<(n-1) + 1
		if d.coin() {
			tail -= 2
		}
	}
	at := d.places(4)
	x, y := uint64(1), uint64(1)
	if !d.oneIn(3) {
		x, y = d.endingIn(tail, n)
	}
	half := d.exactly(at[0], x, y, w, tiny)
	top, rest := half+total-1, at[1:]
	if x*y == 1 && n > 1 && len(rest) > 0 { // no such product: the bits above are one of their own
		d.reach(rest[0], half+n-1)
		d.power(rest[0], half+n-1, d.coin())
		rest = rest[1:]
	}
	if d.fc != nil && !(len(rest) > 0 && d.oneIn(3)) {
		nc := int(d.fc.FracBits)
		low := max(nc-min(narrow, w), 0)
		d.dot.C = code(d.fc, d.coin(), d.clampC(top), d.frac(nc)>>low<<low)
	} else if len(rest) > 0 {
		d.reach(rest[0], top)
		d.power(rest[0], top, d.coin())
		rest = rest[1:]
	}
	if len(rest) > 0 && d.coin() { // the last bit of the result, or any
		e := half + n
		if d.coin() {
			e = d.between(e, top)
		}
		d.reach(rest[0], e)
		d.power(rest[0], e, d.coin())
	}
}

// tieOfOne makes one product of total bits that lies halfway between two numbers of w fraction
// bits. It returns false if it finds none, as where products have fewer bits.
func (d *designer) tieOfOne(w, total int, tiny bool) bool {
	const tries = 16
	na, nb := int(d.fa.FracBits)+1, int(d.fb.FracBits)+1
	if total > na+nb {
		return false
	}
	first := d.between(max(1, total-nb), min(na, total-1))
	for range tries {
		x, y := d.odd(first), d.odd(min(total-first+d.IntN(2), nb))
		if significant(x, y) == total {
			d.exactly(d.IntN(d.k), x, y, w, tiny)
			return true
		}
	}
	return false
}

// endingIn returns odd significands of A and of B whose product ends in the n bits of tail, an
// odd number; 1 and 1 if it finds none.
func (d *designer) endingIn(tail uint64, n int) (x, y uint64) {
	const tries = 256
	na, nb := int(d.fa.FracBits)+1, int(d.fb.FracBits)+1
	if n >= 64 || n > na+nb {
		return 1, 1
	}
	mask := uint64(1)<<n - 1
	for range tries {
		x = d.odd(d.between(1, na))
		inverse := x // to 3 bits; each step doubles them
		for range 5 {
			inverse *= 2 - x*inverse
		}
		y = tail * inverse & mask
		if more := nb - n; more > 0 {
			y |= d.Uint64() & (1<<d.between(0, more) - 1) << n
		}
		if y>>nb == 0 {
			return x, y
		}
	}
	return 1, 1
}

// odd returns an odd number of n bits.
func (d *designer) odd(n int) uint64 { return d.Uint64()>>(64-n) | 1 | 1<<(n-1) }

// exactly sets product k to x * y times a power of two, such that its last bit is half of a unit
// of a result of w fraction bits in any binade; with tiny, of a subnormal one. It returns the
// exponent of that bit.
func (d *designer) exactly(k int, x, y uint64, w int, tiny bool) (half int) {
	df := d.f.D.Get()
	least, most := int(df.Emin())-w-1, int(df.Emax())-w-1
	if d.fs != nil {
		d.reach(k, d.between(least, most)+significant(x, y)-1)
	}
	lo, hi := lastBits(d.fa, x)
	lb, hb := lastBits(d.fb, y)
	q := d.between(max(lo+lb, least-d.added(k)), min(hi+hb, most-d.added(k)))
	if tiny {
		q = least - d.added(k)
	}
	q = min(max(q, lo+lb), hi+hb)
	first := d.between(max(lo, q-hb), min(hi, q-lb))
	d.dot.A[k] = d.fa.Encode(fp.Dyadic{Lo: x, Q: int32(first), Neg: d.coin()}, fp.RNE, fp.OverMax)
	d.dot.B[k] = d.fb.Encode(fp.Dyadic{Lo: y, Q: int32(q - first)}, fp.RNE, fp.OverMax)
	d.swapSigns(k)
	return q + d.added(k)
}

// lastBits returns the range of exponents of the last bit of an odd significand.
func lastBits(f *fp.Format, x uint64) (lo, hi int) {
	return int(f.Emin()) - int(f.FracBits), int(f.Emax()) - bits.Len64(x) + 1
}

// significant returns the number of bits of a product.
func significant(x, y uint64) int {
	if hi, lo := bits.Mul64(x, y); hi == 0 {
		return bits.Len64(lo)
	} else {
		return 64 + bits.Len64(hi)
	}
}
