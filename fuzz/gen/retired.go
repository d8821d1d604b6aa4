package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The functions of earlier versions of generators that design dot products: see retired.

// integerDot1 always has zeros.
func integerDot1(d *draw) { d.integers(true) }

// cutDot2 has no sums that fill an adder, and none that carry of up to four products.
func cutDot2(d *draw) {
	f := d.aim(5, 40)
	if d.K > 4 && d.oneIn(8) {
		d.carry(f)
		return
	}
	d.straddle(f)
}

// pattern1 has its products in the first two lanes until all cases have been there, then in the
// next two.
func pattern1(d *draw) {
	a, b, c := d.patterns()
	k := int(d.index/(uint64(len(a))*uint64(len(b))*uint64(len(c))*patternCompany)) % d.K
	d.patternIn(k, (k+1)%d.K)
}

// tieAims1 are the widths to which an arithmetic rounds.
func tieAims1(sp Spec, p *mma.Params) []int {
	var fs []int
	for _, f := range []mma.Frac{
		p.Prod.Round.Frac, p.Stage0.Round.Frac, p.Stage1.Round.Frac,
		p.Join.Post.Frac, p.Acc.Frac, p.Late.Frac, p.Out.Frac,
	} {
		if f != 0 {
			fs = append(fs, int(f))
		}
	}
	return fs
}

// tieDot1 adds to a large term of at most p fraction bits half a unit of its last
// place, exactly or with a little more or less far below. A large term that is a
// power of two may be reduced into the next binade, where the unit is half as
// large.
func tieDot1(d *draw) {
	p := d.aim(int(d.D.Get().FracBits), int(d.D.Get().FracBits))
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
	if d.fc != nil && !d.oneIn(3) {
		big = d.between(max(clo, lo+p+1), min(chi, hi+p+1))
		n := int(d.fc.FracBits)
		low := max(n-p, 0) // bits of c below the p-th
		d.dot.C = code(d.fc, neg, big, d.frac(n)>>low<<low)
		if power {
			d.dot.C = code(d.fc, neg, big, 0)
		}
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
	if d.K > 2 && d.coin() { // the large term may lie in the next binade
		d.power(d.place(), half+d.between(0, 2), d.coin())
	}
	for range d.between(0, min(d.K-3, 2)) {
		d.power(d.place(), half-d.between(1, 30), d.coin())
	}
}

// floorDot1 adds a term near the lowest bit that a floor of the exponent retains
// to one near the lowest bit of D, with c = 0 or tiny: whether the first is
// retained then decides the result.
func floorDot1(d *draw) {
	df := d.D.Get()
	unit := int(df.Emin()) - int(df.FracBits)
	low := d.aim(unit-30, unit-1)
	if len(d.scale) == 1 && low < unit && d.coin() {
		floorOfMany1(d, unit, low)
		return
	}
	lo, hi := d.products()
	if d.fs != nil {
		// The two terms may be in different blocks: give each its own scales.
		for i := range d.scale {
			d.scaleBy(i, d.between(low-4, unit+2)-d.between(lo, hi))
		}
	}
	signs := d.coin()
	d.power(d.place(), unit+d.between(-2, 2), signs)
	n := 1
	if d.K > 2 {
		n = d.between(1, 2)
	}
	for range n {
		k := d.place()
		if d.coin() {
			d.power(k, low+d.between(-2, 2), signs != (d.oneIn(4)))
		} else {
			d.product(k, low+d.between(-2, 3), signs == d.oneIn(4))
		}
	}
	if d.fc != nil && d.oneIn(4) {
		d.dot.C = uint64(d.intn(4))
		if d.coin() {
			d.dot.C |= d.fc.SignBit()
		}
	}
}

// floorOfMany1 makes all products multiples of a bit near the lowest one retained,
// with one scale, and their sum the smallest result or nearly: few of them are
// too small for that.
func floorOfMany1(d *draw, unit, low int) {
	low -= d.between(-1, 2)
	d.scaleBy(0, low-d.lowestBit())
	_, hi := d.products()
	neg := d.coin()
	rest := d.between(1, 2)<<(unit-low) + d.between(-1, 1)
	for k := 0; k < d.K && rest > 0; k++ {
		j := max(0, min(bits.Len(uint(rest))-1, hi-low))
		if k < 4 {
			j = min(j, d.intn(4))
		}
		d.power(d.place(), low+j, neg)
		rest -= 1 << j
	}
}
