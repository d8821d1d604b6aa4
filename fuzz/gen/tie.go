package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
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

// tieDot adds to a large term of at most p fraction bits half a unit of its last
// place, exactly or with a little more or less far below, often in the last bits that an
// alignment retains. A large term that is a power of two may be reduced into the next
// binade, where the unit is half as large.
func tieDot(d *draw, dot *mma.Dot) {
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

// tieOfMany makes a tie where no product is as small as half a unit in the last place of
// another: most products are large and of one sign, so that some are that small beside
// their sum, and c is a little more or less far below.
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

// multiply returns the product of two numbers, each of which is first rounded to odd at 64
// bits if it has more.
func multiply(x, y fp.Dyadic) fp.Dyadic {
	x, y = short(x), short(y)
	hi, lo := bits.Mul64(x.Lo, y.Lo)
	return fp.Dyadic{Hi: hi, Lo: lo, Q: x.Q + y.Q, Neg: x.Neg != y.Neg}
}

// short returns x rounded to odd at 64 bits.
func short(x fp.Dyadic) fp.Dyadic {
	if x.Hi == 0 {
		return x
	}
	return x.Round(x.Exponent()-63, fp.RTO)
}
