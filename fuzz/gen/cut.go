package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// cutAims are the widths at which an arithmetic cuts: terms that straddle 2^(e-F)
// show whether and how it does.
func cutAims(sp Spec, p *mma.Params) []int {
	var fs []int
	for _, f := range []mma.Frac{
		p.Stage0.Align.F, p.Stage1.Align.F, p.Join.Align.F, p.Join.CF, p.Join.CDrop, p.Join.Post.Frac,
		p.Prod.Round.Frac, p.Stage0.Round.Frac, p.Stage1.Round.Frac, p.Acc.Frac,
	} {
		if f != 0 {
			fs = append(fs, int(f))
		}
	}
	return fs
}

// cutDot makes a sum whose last bits an alignment or a rounding to F bits cuts: of a large term
// and small ones, or of many large ones, which carry.
func cutDot(d *draw) {
	f := d.aim(5, 40)
	switch {
	case !d.oneIn(8):
		d.straddle(f)
	case d.K > 4 && d.coin():
		d.carry(f)
	default:
		d.fill(f)
	}
}

// fill makes all products and c of one exponent and one sign, with the largest significands or nearly:
// their sum is as many times the largest of them as any, which shows an adder that is a bit too
// narrow.
func (d *draw) fill(f int) {
	big, neg, _ := d.equalProducts(f)
	if d.fc == nil {
		return
	}
	d.accumulator(big+d.intn(2), neg)
	if d.coin() {
		d.dot.C = d.fc.ones(d.dot.C)
	}
}

// equalProducts makes all products of one exponent and one sign, so that F bits below them there are
// numbers; full ones have the largest significands.
func (d *draw) equalProducts(f int) (big int, neg, full bool) {
	if d.fs != nil {
		d.shift(d.between(-60, 60))
	}
	lo, hi := d.products()
	big, neg, full = d.between(min(lo+f, hi), hi), d.coin(), d.coin()
	for k := range d.K {
		d.product(k, big, neg)
		if full {
			d.allOnes(k)
		}
	}
	return big, neg, full
}

// carry makes all products of one exponent and one sign, most with large significands, so that
// their sum grows above the largest by as many bits as it can; one or two terms lie near the
// last of its F fraction bits. Where products are short this alone shows a sum that is rounded
// to fewer bits than its adder has.
func (d *draw) carry(f int) {
	big, _, full := d.equalProducts(f)
	grown := bits.Len(uint(d.K)) - 1
	if full {
		grown++ // significands of products are nearly 4
	}
	last := big - f
	if d.coin() {
		last += grown
	}
	for range d.between(1, 2) {
		e := last + d.between(-2, 3)
		if d.fc != nil && d.oneIn(4) {
			d.accumulator(e, d.coin())
		} else {
			d.power(d.intn(d.K), e, d.coin())
		}
	}
}

// allOnes gives the factors of product k fractions of all ones, if these are numbers.
func (d *draw) allOnes(k int) {
	d.dot.A[k] = d.fa.ones(d.dot.A[k])
	d.dot.B[k] = d.fb.ones(d.dot.B[k])
}

// ones returns a code with a fraction of all ones, or the largest number.
func (f *format) ones(code uint64) uint64 {
	x := code | (1<<f.FracBits-1)<<f.Low
	if f.Inverse {
		return x
	}
	return x&f.SignBit() | min(x&^f.SignBit(), f.MaxFinite())
}

// straddle puts a large term F bits above small ones whose bits straddle the cut.
// The large term may be c or a product; it may be cancelled by another, so that
// what is left of the small ones is all of the result.
func (d *draw) straddle(f int) {
	lo, hi := d.products()
	if d.fs != nil {
		d.shift(d.between(-60, 60))
		lo, hi = d.products()
	}
	clo, chi := d.accumulators()
	big := 0
	anchorIsC := d.fc != nil && (d.oneIn(3) || hi-lo < f && d.coin())
	cancelled := d.coin()
	if anchorIsC {
		big = d.between(max(clo, lo+f-4), min(chi, hi+f+4))
		if cancelled { // by a product of the same exponent, if there is one
			big = min(max(big, lo), hi)
		}
		d.accumulator(big, d.coin())
	} else {
		big = d.product(d.place(), d.between(min(lo+f-4, hi), hi), d.coin())
	}
	if cancelled {
		d.cancelBig(anchorIsC, big)
	}
	n := 1
	if d.K > 2 {
		n = d.between(1, min(d.K-2, 6))
	}
	same, neg := d.coin(), d.coin()
	for range n {
		if !same {
			neg = d.coin()
		}
		e := big - f + d.between(-4, 4)
		switch {
		case !anchorIsC && d.fc != nil && (e < lo || d.oneIn(6)):
			d.accumulator(e, neg)
		case d.coin():
			d.power(d.place(), e, neg)
		default:
			d.product(d.place(), e, neg)
		}
	}
}

// cancelBig adds minus the large term, or nearly.
func (d *draw) cancelBig(isC bool, big int) {
	k := d.place()
	if !isC {
		for j := range d.K {
			if d.dot.A[j]|d.dot.B[j] != 0 && j != k {
				d.negate(k, j)
				break
			}
		}
		return
	}
	// c becomes minus the product, so that they cancel exactly.
	d.product(k, big, d.coin())
	d.minusProduct(k)
	if d.oneIn(4) {
		d.nudge(2)
	}
}

// minusProduct sets c to minus product k, rounded to C's format.
func (d *draw) minusProduct(k int) {
	if d.fc == nil {
		return
	}
	a, b := d.fa.Decode(d.dot.A[k]), d.fb.Decode(d.dot.B[k])
	if a.Class > fp.Finite || b.Class > fp.Finite {
		return
	}
	x := multiply(d.fa.Dyadic(a), d.fb.Dyadic(b))
	if d.fs != nil {
		s := k / int(d.Block)
		x = multiply(x, d.fs.Dyadic(d.fs.Decode(d.dot.SA[s])))
		x = multiply(x, d.fs.Dyadic(d.fs.Decode(d.dot.SB[s])))
	}
	x.Neg, x.Q = !x.Neg, x.Q-int32(d.Down)
	d.dot.C = d.fc.Encode(x, fp.RNE, fp.OverMax)
}
