package gen

// orderDot puts a large U and -U among small terms, as FPRev does: small terms
// that meet the large ones before these cancel are lost, the others survive.
// Several such pairs of different sizes may be nested; c may be any of them.
func orderDot(d *draw) {
	if d.fs != nil {
		d.shift(d.between(-60, 60))
	}
	lo, hi := d.products()
	span := d.between(8, 48)
	top := d.between(min(lo+span, hi), hi)
	if hi-lo < span && d.fc != nil && d.coin() {
		top = d.between(hi, hi+span) // only c can be that large
	}
	small := top - span
	d.fillSmall(small, lo)
	for range d.between(1, 2) {
		i := d.intn(d.K)
		useC := d.fc != nil && (top > hi || d.oneIn(3))
		neg := d.coin()
		d.dot.A[i], d.dot.B[i] = 0, 0
		e := d.product(i, top, neg)
		if useC {
			d.minusProduct(i)
			if top > hi {
				d.accumulator(top, neg)
			}
		} else if d.K > 1 {
			j := (i + 1 + d.intn(d.K-1)) % d.K
			d.negate(j, i)
		}
		top = max(e-d.between(0, 12), small)
	}
}

// fillSmall sets every product, or some, to about exponent e, and c too.
func (d *draw) fillSmall(e, lo int) {
	every := d.coin()
	equal := d.coin()
	neg := d.coin()
	for k := range d.K {
		if !every && d.coin() {
			continue
		}
		if !equal {
			neg = d.coin()
		}
		if equal {
			d.power(k, max(e, lo), neg)
		} else {
			d.product(k, max(e+d.between(-2, 2), lo), neg)
		}
	}
	if d.fc != nil && d.coin() {
		d.accumulator(e, neg)
	}
}
