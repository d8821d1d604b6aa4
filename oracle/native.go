package oracle

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// native converts the codes of one format to and from float64. Every number of
// every format is a float64.
type native struct {
	low    uint8
	mask   uint64 // the exponent and fraction fields, after low bits are dropped
	inf    uint64 // the least magnitude that is not a number (IEEE formats)
	normal uint64 // the least normal magnitude
	unit   float64
	shift  uint8  // from this fraction to float64's
	rebias uint64 // from this exponent field to float64's, in place
	sign   uint8  // shift of the sign to float64's
	codes  *[256]float64
	emin   int
	frac   int
}

// natives is indexed by format.
var natives = newNatives()

func newNatives() []native {
	all := make([]native, len(fp.All())+1)
	for _, id := range fp.All() {
		all[id] = newNative(id.Get())
	}
	return all
}

func newNative(f *fp.Format) native {
	n := native{
		low:    f.Low,
		mask:   1<<(f.ExpBits+f.FracBits) - 1,
		inf:    (1<<f.ExpBits - 1) << f.FracBits,
		normal: 1 << f.FracBits,
		unit:   math.Ldexp(1, int(f.Emin())-int(f.FracBits)),
		shift:  52 - f.FracBits,
		rebias: uint64(1023-int(f.Bias)) << 52,
		sign:   63 - (f.ExpBits + f.FracBits),
		emin:   int(f.Emin()),
		frac:   int(f.FracBits),
	}
	if f.Width == 1 {
		n.codes = newCodes(f.ID)
	}
	return n
}

// newCodes is a table of all codes of a format of one byte, among which are all
// formats that are not like IEEE's.
func newCodes(id fp.ID) *[256]float64 {
	var codes [256]float64
	for c := range codes {
		t := decode(id, uint64(c))
		switch {
		case t.kind == NotANumber:
			codes[c] = math.NaN()
		case t.kind == Infinite:
			codes[c] = infinity(t.neg)
		case t.isZero() && t.neg:
			codes[c] = math.Copysign(0, -1)
		default:
			codes[c] = float(t.mant(), t.q)
		}
	}
	return &codes
}

// read returns the number of a code.
func (n *native) read(code uint64) float64 {
	if n.codes != nil {
		return n.codes[code&0xFF]
	}
	code >>= n.low
	mag := code & n.mask
	bits := mag<<n.shift + n.rebias
	switch {
	case mag < n.normal:
		bits = math.Float64bits(float64(int64(mag)) * n.unit)
	case mag > n.inf:
		return math.NaN()
	case mag == n.inf:
		bits = math.Float64bits(math.Inf(1))
	}
	return math.Float64frombits(bits | code>>(63-n.sign)<<63)
}

// write returns the code of the number nearest to v (ties to even) in an IEEE
// format; a NaN is positive and quiet.
func (n *native) write(v float64) uint64 {
	if v != v {
		return n.inf | n.normal>>1
	}
	code := math.Float64bits(v) >> 63 << (63 - n.sign)
	v = math.Abs(v)
	switch {
	case v == 0:
		return code
	case v > math.MaxFloat64:
		return code | n.inf
	}
	_, e := math.Frexp(v) // v < 2^e
	e = max(e-1, n.emin)
	units := math.RoundToEven(math.Ldexp(v, n.frac-e))
	return code | min(uint64(e-n.emin)<<n.frac+uint64(units), n.inf)
}
