package probe

// scale says which power of two stands for 1 in a test. Tests put small numbers
// beside 1, and in narrow formats those are no products unless 1 is larger.
type scale uint8

// The scales.
const (
	unscaled     scale = iota // 1 itself
	productScale              // large enough, and still a product
	cScale                    // large enough for c, which may be above all products
)

// at finds something with a scale.
func (p *Prober) at(s scale, find func(*Prober) finding) finding {
	defer func(old int) { p.shift = old }(p.shift)
	p.shift = p.shiftOf(s)
	return find(p)
}

// shiftOf returns the exponent of what stands for 1: 0 if products go down to an
// eighth of the last bit of 1, else as far up as needed, or as the formats allow.
func (p *Prober) shiftOf(s scale) int {
	most := int(p.d.Emax()) - 8
	switch {
	case s == unscaled:
		return 0
	case s == cScale && p.c != nil:
		most = min(most, int(p.c.Emax())-8)
	default:
		most = min(most, p.productEmax()-2)
	}
	return max(0, min(p.needed(), most))
}

// needed returns the exponent of the number of which an eighth of the last bit in d
// is the smallest product.
func (p *Prober) needed() int {
	return once(p, "needed", func() int {
		w, _ := p.weight()
		least := int(p.a.Emin()) + int(p.b.Emin()) + w
		if p.inputsKept().value == "yes" {
			least -= int(p.a.FracBits) + int(p.b.FracBits)
		}
		if p.productsExact().value == "no" { // they may be rounded to a narrower format, and small ones lost
			most := least
			for most < int(p.d.Emax()) && !p.arrives(times(3, most)) {
				most++
			}
			least = most
		}
		return least + int(p.d.FracBits) + 3
	})
}
