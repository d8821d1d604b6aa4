package defect

import (
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// What may be wrong where a sum is rounded, or with the rounding. Bits are counted from the last place
// of the result.

// brokenCarry names an operation on a sum: the carry of its rounding to nearest does not go beyond the
// low n bits of the significand. These become zeros, and the bits above them stay.
const brokenCarry = "carry"

// withoutCarry returns a sum as brokenCarry leaves it: if rounding it to a format would carry out of
// the low n bits of its significand, these and all bits below them are zeros, so that nothing is left
// to round. Any other sum stays as it is.
func withoutCarry(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic {
	q := max(v.Exponent(), f.Emin()) - int32(f.FracBits)
	floor, near := v.Round(q, fp.RZ), v.Round(q, fp.RNE)
	if floor.IsZero() || compare(near, floor) == 0 || near.Low() < q+int32(n) { // the low n bits of floor are not all ones
		return v
	}
	rest := v.Round(q+int32(n), fp.RZ)
	rest.Neg = v.Neg
	return rest
}

// lastUnit names an operation on a sum: its magnitude is too large by n units in the last place of the
// result.
const lastUnit = "ulp"

// addUnits adds so many units in the last place of a format to the magnitude of a number other than zero.
func addUnits(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic {
	const most = 126
	q := max(v.Exponent(), f.Emin()) - int32(f.FracBits)
	v = v.Round(v.Low(), fp.RZ) // without zeros at its end
	if v.Q > q {
		v = v.Shl(v.Q - q)
	}
	if v.Len() > most {
		return v
	}
	unit := fp.Dyadic{Lo: 1}
	switch d := q - v.Q; {
	case d >= most:
		return v
	case d > 0:
		unit = unit.Shl(d)
	}
	var carry uint64
	if n > 0 {
		v.Lo, carry = bits.Add64(v.Lo, unit.Lo, 0)
		v.Hi += unit.Hi + carry
	} else if v.Hi > unit.Hi || v.Hi == unit.Hi && v.Lo > unit.Lo {
		v.Lo, carry = bits.Sub64(v.Lo, unit.Lo, 0)
		v.Hi -= unit.Hi + carry
	}
	return v
}

// shortSticky names an operation on a sum: its rounding does not see the bits that are more than n
// places below the last place of the result.
const shortSticky = "sticky"

// These name operations on a sum, too. A normaliser that shifts by one place too little leaves a zero in the
// place of the leading bit, which a format hides; one that shifts by one place too far loses that bit.
const (
	normalisedLate  = "late"
	normalisedEarly = "early"
	// coarse: the rounding keeps n bits fewer than the result has.
	coarse = "coarse"
	// twice: it is rounded to n bits more than the result has, and then again. twiceSubnormal: where the
	// result is subnormal, the first of the two roundings leaves as many bits as a normal number has.
	twice          = "rounded-twice"
	twiceSubnormal = "rounded-first"
	// tieBit: a tie is not rounded to the neighbour whose last bit is zero. Bit n decides instead: the tie
	// goes away from zero where that is one, and toward zero where it is not.
	tieBit = "tie-bit"
)

// onPlaces are the operations on a sum that count from the last place of the result.
var onPlaces = map[string]func(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic{
	lastUnit: addUnits, brokenCarry: withoutCarry,
	shortSticky: func(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic {
		if rest := v.Round(lastPlace(f, v)-int32(n), fp.RZ); !rest.IsZero() {
			return rest
		}
		return v
	},
	normalisedLate: func(f *fp.Format, v fp.Dyadic, _ int64) fp.Dyadic {
		return withBit(v, v.Exponent()+1, func(x, bit uint64) uint64 { return x | bit })
	},
	normalisedEarly: func(f *fp.Format, v fp.Dyadic, _ int64) fp.Dyadic {
		top := v.Exponent()
		v = withBit(v, top-1, func(x, bit uint64) uint64 { return x | bit })
		return withBit(v, top, func(x, bit uint64) uint64 { return x &^ bit })
	},
	twice: func(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic {
		return v.Round(lastPlace(f, v)-int32(n), fp.RNE)
	},
	twiceSubnormal: func(f *fp.Format, v fp.Dyadic, _ int64) fp.Dyadic {
		return v.Round(v.Exponent()-int32(f.FracBits), fp.RNE)
	},
	tieBit: func(f *fp.Format, v fp.Dyadic, n int64) fp.Dyadic {
		q := lastPlace(f, v)
		if v.Low() != q-1 {
			return v
		}
		floor, away := v.Round(q, fp.RZ), v.Round(q, fp.RNA)
		if bitOf(floor, q+int32(n)) {
			return away
		}
		return floor
	},
}

// lastPlace is the exponent of the last place of a number in a format.
func lastPlace(f *fp.Format, v fp.Dyadic) int32 {
	return max(v.Exponent(), f.Emin()) - int32(f.FracBits)
}

// bitOf is the bit of weight 2^w of a magnitude.
func bitOf(v fp.Dyadic, w int32) bool {
	switch n := w - v.Q; {
	case v.IsZero() || n < 0 || n >= 128:
		return false
	case n < 64:
		return v.Lo>>n&1 == 1
	default:
		return v.Hi>>(n-64)&1 == 1
	}
}

// placeNumbers returns the n to try with each of these operations.
func (s *search) placeNumbers() map[string][]int64 {
	frac := int64(s.f.D.Get().FracBits)
	ns := map[string][]int64{lastUnit: {1, -1}, normalisedLate: {0}, normalisedEarly: {0}, coarse: {1, 2, 3}, twiceSubnormal: {0}, tieBit: {1, 2}}
	for n := int64(1); n < frac; n++ { // a carry that is lost altogether is an effect on the result
		ns[brokenCarry] = append(ns[brokenCarry], n)
	}
	for n := int64(lastAdderBit); n > 0; n-- { // largest first: with a smaller n, the same sums change and more
		ns[shortSticky] = append(ns[shortSticky], n)
	}
	for n := range int64(4) {
		ns[twice] = append(ns[twice], n+1)
	}
	ns[twice] = append(ns[twice], 13, 16, 29) // by how many fraction bits FP32 exceeds FP16 and BF16, and FP64 exceeds FP32
	return ns
}

// placeEffects are the effects on sums that count from the last place of the result.
func (s *search) placeEffects() (all []Effect) {
	ns := s.placeNumbers()
	for _, do := range []string{lastUnit, normalisedLate, normalisedEarly, coarse, twice, twiceSubnormal, tieBit, brokenCarry, shortSticky} {
		for _, n := range ns[do] {
			all = append(all, Effect{On: OnSum, Do: do, N: n})
		}
	}
	return all
}

// hasPlace reports whether the effect is a valid one of these.
func (e *Effect) hasPlace() bool {
	switch {
	case e.Do == lastUnit:
		return e.N == 1 || e.N == -1
	case e.Do == normalisedLate || e.Do == normalisedEarly || e.Do == twiceSubnormal:
		return e.N == 0
	}
	return (onPlaces[e.Do] != nil || e.Do == coarse) && e.N > 0 && e.N < 64
}

// placeText says what is wrong with a sum.
func (e *Effect) placeText(noun string) string {
	more := "bits"
	if e.N == 1 {
		more = "bit"
	}
	switch e.Do {
	case brokenCarry:
		return fmt.Sprintf("the carry of rounding %s does not go beyond the low %d bits of the significand, which become zeros", noun, e.N)
	case shortSticky:
		return fmt.Sprintf("rounding %s does not see the bits more than %d below the last place", noun, e.N)
	case normalisedLate:
		return noun + " is normalised by one place too little, and what is then in the place of its leading bit is taken for 1"
	case normalisedEarly:
		return noun + " is normalised by one place too far: its leading bit is lost, and the next one is taken for 1"
	case coarse:
		return fmt.Sprintf("%s is rounded to %d %s fewer than the result has", noun, e.N, more)
	case twice:
		return fmt.Sprintf("%s is rounded twice, first to %d %s more than the result has", noun, e.N, more)
	case twiceSubnormal:
		return noun + " is rounded twice where it is subnormal, first to as many bits as a normal number has"
	case tieBit:
		return fmt.Sprintf("where %s is a tie, bit %d of the result decides in place of bit 0", noun, e.N)
	}
	return noun + " is " + (&Effect{Do: "add", N: e.N}).number() + " in magnitude"
}
