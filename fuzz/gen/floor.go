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

// floorDot makes a sum near the smallest results of D, on half a unit of these or on a
// whole one, and adds terms near the lowest bit that a floor of the exponent retains:
// whether they are retained decides the result. No exponent field may be above the
// floor, so factors are normal as far as possible and c is mostly 0.
func floorDot(d *draw) {
	df := d.D.Get()
	unit := int(df.Emin()) - int(df.FracBits)
	low := d.aim(unit-30, unit-1)
	reach := int(d.fa.Emax()+d.fb.Emax()) - int(d.Down) - d.lowestBit() + bits.Len(uint(d.K)) - 1 // of sums of powers, in bits
	if d.fs != nil && low < unit && unit-low <= reach && !d.oneIn(4) {
		d.floorOfMany(unit, low)
		return
	}
	d.spanBlocks(low, unit)
	neg := d.coin()
	d.powerNear(unit+d.between(-1, 1), neg)
	if d.K > 3 && d.coin() {
		d.powerNear(unit+d.between(-1, 2), neg)
	}
	n := 1
	if d.K > 4 {
		n = d.between(1, 2)
	}
	for range n {
		if d.oneIn(4) {
			d.product(d.place(), low+d.between(-2, 3), d.coin())
		} else {
			d.powerNear(low+[4]int{-2, -1, 0, 1}[d.intn(4)], d.coin())
		}
	}
	if d.fc != nil && d.oneIn(8) {
		d.dot.C = uint64(d.intn(4))
		if d.coin() {
			d.dot.C |= d.fc.SignBit()
		}
	}
}

// spanBlocks gives every block scales such that products reach one of two exponents: each
// is reached by some block if there are several.
func (d *draw) spanBlocks(x, y int) {
	if d.fs == nil {
		return
	}
	lo, hi := d.lowestBit(), int(d.fa.Emax()+d.fb.Emax())-int(d.Down)
	if d.coin() {
		x, y = y, x
	}
	for i := range d.scale {
		d.scaleBy(i, x-d.between(lo+1, hi-1))
		x, y = y, x
	}
}

// powerNear is tightPower in a place where the scales allow it, if one is found soon.
func (d *draw) powerNear(e int, neg bool) {
	lo, hi := d.lowestBit()+int(d.Down), int(d.fa.Emax()+d.fb.Emax())
	k := d.place()
	for range 4 {
		if at := e - d.block(k); at >= lo && at <= hi {
			break
		}
		k = d.place()
	}
	d.tightPower(k, e, neg)
}

// floorOfMany makes all products powers of two near the lowest bit that is retained, with
// equal scales, and their sum the smallest result or nearly: a few of them would be too small
// to reach it. Some lie in the lowest bits, so that it shows where they are cut.
func (d *draw) floorOfMany(unit, low int) {
	low -= d.between(-1, 2)
	for i := range d.scale {
		d.scaleBy(i, low-d.lowestBit())
	}
	_, hi := d.products()
	neg := d.coin()
	rest := d.between(1, 2)<<(unit-low) + d.between(-1, 1)
	for k := 0; k < d.K && rest > 0; k++ {
		j := max(0, min(bits.Len(uint(rest))-1, hi-low))
		if k < 4 {
			j = min(j, d.intn(4))
		}
		d.tightPower(d.place(), low+j, neg)
		rest -= 1 << j
	}
}
