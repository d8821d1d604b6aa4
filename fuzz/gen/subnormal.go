package gen

// subnormalDot gives factors subnormal codes. The exponent field of such a factor is larger
// than the exponent of its value, and units differ in which of the two aligns a sum. Every
// other dot product is made of many such products, the others of one whose alignment shows.
func subnormalDot(d *draw) {
	if d.coin() {
		d.manySubnormals()
	} else {
		d.subnormalCut()
	}
}

// subnormalCut cancels a product that has a subnormal factor, and adds terms whose bits lie
// between the cuts that the exponent of its fields and that of its value lead to.
func (d *draw) subnormalCut() {
	f := d.aim(5, 40)
	if d.fs != nil {
		d.shift(d.between(-30, 30))
	}
	fx, fy, x, y := d.fa, d.fb, d.dot.A, d.dot.B
	if d.coin() {
		fx, fy, x, y = fy, fx, y, x
	}
	n := int(fx.FracBits)
	if n == 0 || fx.NoZero {
		return
	}
	k := d.place()
	zeros := d.between(1, n) // above the first bit of the significand
	// The lowest bit that a term and the result can have limits the other factor.
	low, useC := d.lowestBit()+d.block(k)+int(d.Down), false
	if d.fc != nil {
		lowC := int(d.fc.Emin()) - int(d.fc.FracBits)
		if useC = low > lowC && d.coin() || d.K < 3; useC {
			low = lowC
		}
	}
	low = max(low, int(d.D.Get().Emin())-int(d.D.Get().FracBits)-1)
	field := int(fx.Emin()) + d.block(k) // the exponent of the product without the other factor's
	other := d.between(max(int(fy.Emin()), low+f+1-field), int(fy.Emax()))
	other = min(other, int(fy.Emax()))
	neg, power := d.coin(), d.coin()
	x[k], y[k] = code(fx, neg, int(fx.Emin())-zeros, 0), code(fy, false, other, 0)
	if !power {
		x[k] |= d.frac(n) >> zeros << fx.Low
		y[k] |= d.frac(int(fy.FracBits)) << fy.Low
	}
	field += other
	switch j := d.place(); {
	case d.fc != nil && !useC && d.oneIn(3):
		d.minusProduct(k)
	case power && !d.oneIn(4):
		d.power(j, field-zeros, !neg)
	default:
		d.negate(j, k)
	}
	at := field - f - d.between(1, zeros)
	if d.oneIn(4) {
		at += d.between(-1, 2)
	}
	neg = d.coin()
	if useC {
		up := 0
		if d.coin() {
			up = d.between(0, int(d.fc.FracBits))
		}
		d.accumulator(at+up, neg)
		return
	}
	for range d.between(1, max(1, min(3, d.K-2))) {
		if d.oneIn(3) {
			d.product(d.place(), at+d.between(0, 3), neg)
		} else {
			d.power(d.place(), at+d.between(0, 2), neg)
		}
	}
}

// manySubnormals gives many operands subnormal codes and their partners large
// exponents, so that the products are of ordinary size.
func (d *draw) manySubnormals() {
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
