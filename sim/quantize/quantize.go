package quantize

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Block is a block of numbers, quantized.
type Block struct {
	Most   float32 `json:"-"`      // the largest magnitude; NaN if a number is a NaN or infinite
	Tensor float32 `json:"tensor"` // the scale of the tensor; 1 without one
	Scale  uint64  `json:"scale"`  // code
	// Factor is the value of the scale, times Tensor. What is divided by it, is what Elements
	// are rounded from: exact for powers of two, else rounded to FP32.
	Factor   float64   `json:"-"`
	Quotient []float64 `json:"-"`
	Codes    []uint64  `json:"codes"`
	Values   []float64 `json:"-"` // of the codes, times Factor
}

// largest returns the largest element, its exponent and the fraction bits of elements.
func (s *Scheme) largest() (most float64, emax, frac int) {
	if s.Element == fp.None {
		frac = s.Bits - 2
		return 2 - math.Ldexp(1, -frac), 0, frac
	}
	f := s.Element.Get()
	return f.Float64(f.MaxFinite()), int(f.Emax()), int(f.FracBits)
}

// tensorScale returns the scale of a tensor of the given largest magnitude: 1 for a scheme without
// one, and for zero.
func (s *Scheme) tensorScale(amax float32) float32 {
	if t := s.tensorRatio(amax); s.Tensor && t > 0 {
		return t
	}
	return 1
}

func (s *Scheme) tensorRatio(amax float32) float32 {
	most, _, _ := s.largest()
	f := s.Scale.Get()
	return amax / float32(f.Float64(f.MaxFinite())*most)
}

// quantize quantizes a block. tensor is the scale of its tensor (tensorScale). A block with a NaN
// or an infinity has a NaN for its scale, and codes of 0.
func (s *Scheme) quantize(x []float32, tensor float32) *Block {
	b := &Block{Tensor: tensor, Quotient: make([]float64, len(x)), Codes: make([]uint64, len(x)), Values: make([]float64, len(x))}
	for _, v := range x {
		a := float32(math.Abs(float64(v)))
		if math.IsInf(float64(a), 0) || a != a {
			b.Most = float32(math.NaN())
			break
		}
		b.Most = max(b.Most, a)
	}
	f := s.Scale.Get()
	if b.Most != b.Most {
		b.Scale, b.Factor = f.QuietNaN(false), math.NaN()
		for i := range b.Values {
			b.Quotient[i], b.Values[i] = math.NaN(), math.NaN()
		}
		return b
	}
	b.Scale = s.scale(b.Most, tensor)
	b.Factor = f.Float64(b.Scale) * float64(tensor)
	for i, v := range x {
		b.Quotient[i] = s.quotient(v, b.Factor)
		b.Codes[i] = s.encode(b.Quotient[i])
		b.Values[i] = s.value(b.Codes[i]) * b.Factor
	}
	return b
}

// scale returns the code of the scale of a block.
func (s *Scheme) scale(amax, tensor float32) uint64 {
	f := s.Scale.Get()
	switch {
	case amax == 0 && s.Scale == fp.FP32:
		return f.FromFloat64(1)
	case amax == 0:
		return 0
	case s.Rule == Most:
		return max(s.roundedScale(amax, tensor), 1)
	}
	return f.FromFloat64(math.Ldexp(1, min(max(s.exponent(amax), -127), 127)))
}

// ratio is the scale of the rule Most before it is rounded to its format.
func (s *Scheme) ratio(amax, tensor float32) float32 {
	most, _, _ := s.largest()
	return amax / float32(most) / tensor
}

// roundedScale is the code of the scale of the rule Most; 0 if it is too small for the format.
func (s *Scheme) roundedScale(amax, tensor float32) uint64 {
	g := fp.FP32.Get()
	q := g.Decode(uint64(math.Float32bits(s.ratio(amax, tensor))))
	return s.Scale.Get().Encode(g.Dyadic(q), s.ScaleRounding, fp.OverMax)
}

// exponent is that of a scale that is a power of two, which may be beyond the range of its format.
func (s *Scheme) exponent(amax float32) int {
	most, emax, frac := s.largest()
	a, e := float64(amax), math.Ilogb(float64(amax))
	switch s.Rule {
	case Ceil:
		if a > math.Ldexp(1, e) {
			e++
		}
	case Even:
		e = math.Ilogb(math.RoundToEven(math.Ldexp(a, frac-e))) - frac + e
	case RCeil:
		if a > math.Ldexp(most, e-emax) {
			e++
		}
	}
	return e - emax
}

// quotient is what an element is rounded from. Zeros are zeros whatever the scale is, which may be 0.
func (s *Scheme) quotient(v float32, factor float64) float64 {
	switch {
	case v == 0:
		return float64(v)
	case s.Scale == fp.E8M0:
		return float64(v) / factor // exact
	case s.Reciprocal:
		return float64(v * (1 / float32(factor)))
	}
	return float64(v / float32(factor))
}

// encode rounds a number to an element.
func (s *Scheme) encode(q float64) uint64 {
	if s.Element != fp.None {
		f := fp.FP64.Get()
		n := f.Decode(math.Float64bits(q))
		if n.Class >= fp.Inf {
			n = f.Decode(math.Float64bits(math.Copysign(math.MaxFloat64, q)))
		}
		return s.Element.Get().Encode(f.Dyadic(n), s.Rounding, s.Over)
	}
	units := min(s.units(q), 1<<(s.Bits-1)-1)
	switch {
	case !math.Signbit(q):
		return uint64(units)
	case s.Magnitude:
		return uint64(units) | 1<<(s.Bits-1)
	}
	return uint64(-units) & (1<<s.Bits - 1)
}

// units is the magnitude of a number as an integer element, at most one beyond the largest.
func (s *Scheme) units(q float64) int {
	if math.Abs(q) >= 2 {
		return 1 << (s.Bits - 1)
	}
	f, frac := fp.FP64.Get(), int32(s.Bits-2)
	d := f.Dyadic(f.Decode(math.Float64bits(q))).Round(-frac, s.Rounding)
	return int(d.Lo << (d.Q + frac))
}

// value returns the number of an element.
func (s *Scheme) value(code uint64) float64 {
	if s.Element != fp.None {
		return s.Element.Get().Float64(code)
	}
	sign := uint64(1) << (s.Bits - 1)
	units := float64(code &^ sign)
	switch {
	case code&sign == 0:
	case s.Magnitude:
		units = -units
	default:
		units -= float64(sign)
	}
	return math.Ldexp(units, 2-s.Bits)
}
