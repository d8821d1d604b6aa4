package gen

// spreadDot draws the exponents of all terms from a window of random width and
// place.
func spreadDot(d *draw) {
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
