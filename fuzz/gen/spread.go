package gen

import "github.com/mmafuzz/mmafuzz/sim/mma"

// spreadDot draws the exponents of all terms from a window of random width and
// place.
func spreadDot(d *draw, dot *mma.Dot) {
	if d.fs != nil && d.coin() {
		for i := range d.scale {
			d.scaleBy(i, d.between(-30, 30))
		}
	}
	lo, hi := d.products()
	width := []int{2, 4, 8, 16, 32, 64, 600}[d.intn(7)]
	base := d.between(lo, max(hi-width, lo))
	for k := range d.K {
		if d.oneIn(8) {
			continue
		}
		d.product(k, d.between(base, base+width), d.coin())
	}
	if d.fc != nil && !d.oneIn(6) {
		clo, chi := d.accumulators()
		e := d.between(base-2, base+width+2)
		d.accumulator(min(max(e, clo), chi), d.coin())
	}
}

// subnormalDot gives many operands subnormal codes and their partners large
// exponents, so that the products are of ordinary size.
func subnormalDot(d *draw, dot *mma.Dot) {
	if d.fs != nil && d.coin() {
		d.shift(d.between(-8, 8))
	}
	width := d.between(1, 30)
	for k := range d.K {
		if d.oneIn(4) {
			continue
		}
		a := d.next() & (1<<d.fa.FracBits - 1) << d.fa.Low
		b := code(d.fb, false, int(d.fb.Emax())-d.intn(width), d.frac(int(d.fb.FracBits)))
		if d.coin() { // the other way round
			a = code(d.fa, false, int(d.fa.Emax())-d.intn(width), d.frac(int(d.fa.FracBits)))
			b = d.next() & (1<<d.fb.FracBits - 1) << d.fb.Low
		}
		if d.oneIn(4) { // of the same size, from normal operands
			lo, hi := d.products()
			d.product(k, min(max(lo+int(d.fa.Emax()-d.fa.Emin())-d.intn(width+4), lo), hi), d.coin())
			continue
		}
		if a != 0 && d.coin() {
			a |= d.fa.SignBit()
		}
		d.dot.A[k], d.dot.B[k] = a, b
	}
	switch {
	case d.fc == nil:
	case d.oneIn(3):
		d.dot.C = d.next() & (1<<d.fc.FracBits - 1)
	case d.coin():
		lo, hi := d.products()
		d.accumulator(d.between(lo, hi), d.coin())
	}
	if d.fc != nil && d.dot.C != 0 && d.coin() {
		d.dot.C |= d.fc.SignBit()
	}
}
