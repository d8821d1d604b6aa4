package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// cancelDot draws products of about one size and takes c as minus their sum, up to
// a chosen relative error of 2^-kappa: the sum's condition number is about
// 2^kappa. Where c cannot hold the sum, or there is none, products are paired
// with their negatives instead.
func cancelDot(d *draw) {
	if d.fs != nil {
		d.shift(d.between(-20, 20))
	}
	lo, hi := d.products()
	base := d.between(lo, hi)
	kappa := d.between(1, 30)
	if d.fc == nil || d.oneIn(3) {
		d.cancelPairs(base, kappa)
		return
	}
	// The sum in units of 2^q: some 40 bits, more are not needed to cancel most of it.
	q := base - 40
	var sum int64
	for k := range d.K {
		d.product(k, base-d.between(0, 6), d.coin())
		sum += d.units(k, q)
	}
	neg := sum > 0
	m := uint64(max(sum, -sum))
	if n := bits.Len64(m); kappa < n {
		m ^= 1 << (n - 1 - kappa)
	}
	d.dot.C = d.fc.Encode(fp.Dyadic{Lo: m, Q: int32(q), Neg: neg}, fp.RNE, fp.OverMax)
}

// units returns product k truncated to a multiple of 2^q, in that unit.
func (d *draw) units(k, q int) int64 {
	x := multiply(d.fa.Dyadic(d.fa.Decode(d.dot.A[k])), d.fb.Dyadic(d.fb.Decode(d.dot.B[k])))
	x.Q += int32(d.block(k))
	x = x.Round(int32(q), fp.RZ)
	n := int64(x.Lo << uint(x.Q-int32(q)))
	if x.Neg {
		return -n
	}
	return n
}

// cancelPairs pairs products with their negatives, one factor of which is changed in the
// bit that kappa gives.
func (d *draw) cancelPairs(base, kappa int) {
	for k := 0; k+1 < d.K; k += 2 {
		d.product(k, base-d.between(0, 6), d.coin())
		d.negate(k+1, k)
		if n := int(d.fa.FracBits); kappa <= n {
			d.dot.A[k+1] ^= 1 << (n - kappa + int(d.fa.Low))
		}
	}
	if d.fc != nil && d.coin() {
		d.accumulator(base-d.between(0, 40), d.coin())
	}
}
