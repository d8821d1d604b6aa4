package gen

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// below is none of a campaign's generators: it is for the question whether a larger c may give a
// smaller result.
var below = Generator{Name: "below", Version: 1, M: 1, N: 1, Aims: cutAims, dot: belowDot}

// BelowPower returns n inputs in which the next larger c has another exponent, with products about
// as small as the last bit that a sum keeps beside it.
func BelowPower(sp Spec, seed uint64, n int, ps ...*mma.Params) []*mma.Dot {
	if sp.C == fp.None || sp.D.Integer() {
		return nil
	}
	return Independent(sp, below.Aimed(sp, ps...), seed, 0, n)
}

func belowDot(d *draw) {
	lo, hi := d.products()
	clo, chi := d.accumulators()
	f, neg := d.aim(5, 40), d.coin()
	small := -f // below a c of 1, where products go so far down
	if small < lo || d.oneIn(4) {
		small = d.between(lo, hi)
	}
	exp := min(max(small+f, clo+1), chi)
	small = exp - f - d.intn(3)
	for k := range d.K {
		switch d.intn(8) {
		case 0:
		case 1, 2, 3:
			d.product(k, small+1, neg)
		default:
			d.power(k, small, neg)
		}
	}
	if neg {
		d.dot.C = code(d.fc, true, exp, 0)
	} else {
		d.dot.C = code(d.fc, false, exp-1, 1<<d.fc.FracBits-1)
	}
}
