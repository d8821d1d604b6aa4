package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// floorAims are the lowest bits that the floors of an arithmetic retain.
func floorAims(sp Spec, p *mma.Params) []int {
	var low []int
	for _, a := range []mma.Align{p.Stage0.Align, p.Stage1.Align, p.Join.Align} {
		if a.Floor == 0 {
			continue
		}
		f := int(a.F)
		if f == 0 {
			f = int(p.Join.CF)
		}
		low = append(low, int(a.Floor)-f)
	}
	return low
}

// floorDot adds a term near the lowest bit that a floor of the exponent retains
// to one near the lowest bit of D, with c = 0 or tiny: whether the first is
// retained then decides the result.
func floorDot(d *draw, dot *mma.Dot) {
	df := d.D.Get()
	unit := int(df.Emin()) - int(df.FracBits)
	low := d.aim(unit-30, unit-1)
	if len(d.scale) == 1 && low < unit && d.coin() {
		floorOfMany(d, unit, low)
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

// floorOfMany makes all products multiples of a bit near the lowest one retained,
// with one scale, and their sum the smallest result or nearly: a few of them would be
// too small to reach it.
func floorOfMany(d *draw, unit, low int) {
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
