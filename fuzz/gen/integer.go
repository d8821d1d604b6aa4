package gen

import "github.com/mmafuzz/mmafuzz/sim/fp"

// integerDot makes integers at the ends of their ranges and, where there is a c, a sum that is an
// end of its range or next to one.
func integerDot(d *draw) { d.integers(d.coin()) }

// integers is integerDot, where some products may be zeros: with all of them at an end of their range
// any group of them has its largest sum.
func (d *draw) integers(zeros bool) {
	sum := int64(0)
	sameA, sameB := d.coin(), d.coin()
	a, b := d.integer(d.fa), d.integer(d.fb)
	for k := range d.K {
		if !sameA {
			a = d.integer(d.fa)
		}
		if !sameB {
			b = d.integer(d.fb)
		}
		if zeros && d.oneIn(4) {
			a = 0
		}
		d.dot.A[k], d.dot.B[k] = a, b
		sum += d.fa.whole(a) * d.fb.whole(b)
	}
	if d.fc == nil {
		return
	}
	end := [...]int64{d.fc.whole(d.fc.SignBit()), d.fc.whole(d.fc.MaxFinite()), 0}[d.intn(3)] + int64(d.between(-2, 2))
	d.dot.C = d.fc.Encode(fp.Dyadic{Lo: uint64(max(end-sum, sum-end)), Neg: end < sum}, fp.RZ, fp.OverMax)
}

// integer returns the code of one of a format's extremes, of 0, 1 or -1, or random bits.
func (d *draw) integer(f *format) uint64 {
	x := d.next() & f.CodeMask()
	return [...]uint64{0, 1, f.CodeMask(), f.MaxFinite(), f.SignBit(), x, x, x}[d.intn(8)]
}

// whole returns the value of an integer's code.
func (f *format) whole(code uint64) int64 {
	n := f.Decode(code)
	if n.Neg {
		return -int64(n.Sig)
	}
	return int64(n.Sig)
}
