package oracle

import (
	"math"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// native converts the codes of one format to and from float64. Every number of
// every format is a float64. A code is read by shifting it so that its fraction
// field is in float64's place; its exponent field then only has another bias.
type native struct {
	codes  *[256]float64 // of a format of one byte: all its numbers
	shift  uint8         // of the fraction to float64's place
	sign   uint8         // of the sign to float64's place
	mask   uint64        // the exponent and fraction fields, shifted
	inf    uint64        // the magnitude of an infinity, shifted
	normal uint64        // shifted magnitudes of normal numbers are in 1<<52 .. 1<<52+normal-1; 0 if there is a table
	rebias uint64        // what to add to the exponent field
	unit   float64       // what 1 is worth in the shifted fraction of a subnormal
	emin   int
	frac   int
}

// natives is indexed by format.
var natives = sync.OnceValue(newNatives)

func newNatives() []native {
	all := make([]native, fp.One+1)
	for _, id := range append(fp.All(), fp.One) {
		all[id] = newNative(id.Get())
	}
	return all
}

func newNative(f *fp.Format) native {
	n := native{
		shift:  52 - f.FracBits - f.Low,
		sign:   63 - f.ExpBits - f.FracBits - f.Low,
		mask:   (1<<(f.ExpBits+f.FracBits) - 1) << (52 - f.FracBits),
		inf:    (1<<f.ExpBits - 1) << 52,
		rebias: uint64(1023-int(f.Bias)) << 52,
		unit:   math.Ldexp(1, int(f.Emin())-52),
		emin:   int(f.Emin()),
		frac:   int(f.FracBits),
	}
	if f.Width == 1 {
		n.codes = newCodes(f.ID)
	} else {
		n.normal = n.inf - 1<<52
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
			codes[c] = float(t.m.toBig(), t.q)
		}
	}
	return &codes
}

// read returns the number of a code.
func (n *native) read(code uint64) float64 {
	bits := code << (n.shift & 63) & n.mask
	if bits-1<<52 >= n.normal {
		return n.readRare(code)
	}
	return math.Float64frombits(bits + n.rebias | code<<(n.sign&63)&(1<<63))
}

// readRare reads zeros, subnormals, infinities and NaNs, and all codes of a
// format of one byte.
func (n *native) readRare(code uint64) float64 {
	if n.codes != nil {
		return n.codes[code&0xFF]
	}
	v := math.Inf(1)
	switch bits := code << n.shift & n.mask; {
	case bits < 1<<52:
		v = float64(bits) * n.unit
	case bits > n.inf:
		v = math.NaN()
	}
	if code<<n.sign>>63 != 0 {
		v = -v
	}
	return v
}

// write returns the code of the number nearest to v (ties to even) in an IEEE format
// without unused low bits; a NaN is positive and quiet.
func (n *native) write(v float64) uint64 {
	inf := n.inf >> n.shift
	if v != v {
		return inf | 1<<(n.frac-1)
	}
	sign := math.Float64bits(v) >> 63 << (63 - n.sign)
	v = math.Abs(v)
	switch {
	case v == 0:
		return sign
	case v > math.MaxFloat64:
		return sign | inf
	}
	_, e := math.Frexp(v) // v < 2^e
	e = max(e-1, n.emin)
	units := math.RoundToEven(math.Ldexp(v, n.frac-e))
	return sign | min(uint64(e-n.emin)<<n.frac+uint64(units), inf)
}
