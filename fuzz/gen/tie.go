package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// tieAims are the widths to which an arithmetic rounds, and those at which it cuts.
func tieAims(sp Spec, p *mma.Params) []int {
	fs := cutAims(sp, p)
	for _, f := range []mma.Frac{p.Late.Frac, p.Out.Frac} {
		if f != 0 {
			fs = append(fs, int(f))
		}
	}
	return fs
}

// tieDot makes a large term and adds half a unit in the last place of a result with p
// fraction bits, exactly or with a little more or less far below, often in the last bits that
// an alignment keeps. A large term that is a power of two may be pulled into the binade below,
// where the unit is half as large.
func tieDot(d *draw) {
	p := int(d.D.Get().FracBits)
	if d.coin() {
		p = d.aim(p, p)
	}
	lo, hi := d.products()
	if d.fs != nil {
		d.shift(d.between(-40, 40))
		lo, hi = d.products()
	}
	if unit := d.lowestBit(); d.fs == nil && d.fc != nil && hi < unit+p+1 && unit+p+1 < hi+bits.Len(uint(d.K)) && d.coin() {
		tieOfMany(d, unit, hi)
		return
	}
	clo, chi := d.accumulators()
	var big int
	neg := d.coin()
	power := d.oneIn(3)
	cFree := d.fc != nil
	if d.fc != nil && !d.oneIn(3) {
		big = d.between(max(clo, lo+p+1), min(chi, hi+p+1))
		n := int(d.fc.FracBits)
		low := max(n-p, 0) // bits of c below the p-th
		d.dot.C = code(d.fc, neg, big, d.frac(n)>>low<<low)
		if power {
			d.dot.C = code(d.fc, neg, big, 0)
		}
		cFree = false
	} else {
		big = d.between(min(lo+p+1, hi), hi)
		if power {
			d.power(d.place(), big, neg)
		} else {
			d.product(d.place(), big, neg)
		}
	}
	half := big - p - 1
	if power && d.coin() {
		d.power(d.place(), half-1, !neg)
	} else {
		d.power(d.place(), half, d.coin())
	}
	if d.K > 2 && d.oneIn(3) { // the large term may lie in the next binade
		d.power(d.place(), half+d.between(0, 2), d.coin())
	}
	for range d.between(0, min(d.K-2, 2)) {
		e := half - d.between(1, 30)
		if w := d.aim(0, 0); w > p && d.coin() {
			e = big - w + d.between(-1, 1)
		}
		if cFree && (d.oneIn(3) || e < d.lowestBit()+d.block(0)+int(d.Down)) {
			d.accumulator(e, d.coin())
			cFree = false
		} else {
			d.power(d.place(), e, d.coin())
		}
	}
}

// tieOfMany is for formats whose smallest product exceeds half a unit in the last place of the
// largest: many large products of one sign make a sum of which the smallest is half a unit.
// c is a little more or less, far below.
func tieOfMany(d *draw, unit, hi int) {
	neg := d.coin()
	for k := range d.K {
		if d.oneIn(8) {
			d.power(k, d.between(unit, hi), d.coin())
		} else {
			d.product(k, hi, neg)
		}
	}
	d.accumulator(unit-d.between(1, 30), d.coin())
}
