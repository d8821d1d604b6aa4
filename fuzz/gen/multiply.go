package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// multiply returns the product of two numbers, each of which is first rounded to odd at 64
// bits if it has more.
func multiply(x, y fp.Dyadic) fp.Dyadic {
	x, y = short(x), short(y)
	hi, lo := bits.Mul64(x.Lo, y.Lo)
	return fp.Dyadic{Hi: hi, Lo: lo, Q: x.Q + y.Q, Neg: x.Neg != y.Neg}
}

// short returns x rounded to odd at 64 bits.
func short(x fp.Dyadic) fp.Dyadic {
	if x.Hi == 0 {
		return x
	}
	return x.Round(x.Exponent()-63, fp.RTO)
}
