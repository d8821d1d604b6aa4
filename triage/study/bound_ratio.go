package study

import (
	"math"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// measured returns the error of a result, in units of 2^base; ok is false if the result
// is no number.
func (b *bound) measured(d fp.ID, code uint64) (err *big.Int, ok bool) {
	f := d.Get()
	n := f.Decode(code)
	if n.Class == fp.Inf || n.Class == fp.NaN {
		return nil, false
	}
	v := new(big.Int)
	if n.Class == fp.Finite {
		v.Lsh(new(big.Int).SetUint64(n.Sig), uint(int(n.Exp)-int(f.FracBits)-b.base))
	}
	if n.Neg {
		v.Neg(v)
	}
	return v.Sub(v, b.exact), true
}

// ratio is a measured error as a part of the bound: 0 where both are 0.
func (b *bound) ratio(measured *big.Int) float64 {
	m := new(big.Int).Abs(measured)
	switch {
	case m.Sign() == 0:
		return 0
	case b.err.Sign() == 0:
		return math.Inf(1)
	}
	q, _ := new(big.Rat).SetFrac(m, b.err).Float64()
	if q <= 1 && m.Cmp(b.err) > 0 {
		return math.Nextafter(1, 2) // exceeded by less than a float64 shows
	}
	return q
}

// ulps returns an error in units in the last place of the exact value in a format, as
// oracle.Exact.Ulps does.
func (b *bound) ulps(d fp.ID, err *big.Int) float64 {
	f := d.Get()
	e := int(f.Emin())
	if b.exact.Sign() != 0 {
		e = max(e, b.base+new(big.Int).Abs(b.exact).BitLen()-1)
	}
	v, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(err), b.base-(e-int(f.FracBits))).Float64()
	return math.Abs(v)
}
