package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// exactInts are exact sums of products whose operands have few binary places: all operands of a
// side are integers of that many bits times one power of two.
type exactInts struct {
	fit    bool  // they have few places
	single bool  // so few that a block of products fits 64 bits
	low    int32 // exponent of the lowest bit of a product
}

// intBlock is a number of products.
const intBlock = 64

// newExactInts returns the sums of products of operands of some binary places, and of a narrow
// accumulator.
func newExactInts(low, places int32, narrowC bool) exactInts {
	return exactInts{places <= 46 && narrowC, places <= 28, low} // the products of the longest vector have 92+31 bits
}

// integers makes integers of factors. The lowest bit of a factor at 0 is at low.
func integers(to []int64, from []wordFactor, low int32) []int64 {
	to = resize(to, len(from))
	for i := range from {
		f := &from[i]
		to[i] = f.sig << (uint32(f.q-low) & 63)
	}
	return to
}

// sum returns the sum of the products of two vectors, and of c. If it has more bits than a term,
// the last one is sticky.
func (x *exactInts) sum(a, b []int64, c *term) term {
	var s acc128
	for at := 0; at < len(a); at += intBlock {
		end := min(at+intBlock, len(a))
		if x.single {
			s.addInt(intDot(a[at:end], b[at:end]))
		} else {
			s.addProducts(a[at:end], b[at:end])
		}
	}
	t := s.term(x.low)
	if c.IsZero() {
		return t
	}
	if t.IsZero() {
		return term{Dyadic: c.Dyadic}
	}
	return term{Dyadic: addFar(t.Dyadic, c.Dyadic)}
}

// intDot returns the sum of the products of two vectors.
func intDot(a, b []int64) (s int64) {
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// addInt adds v.
func (s *acc128) addInt(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi, _ = bits.Add64(s.hi, uint64(v>>63), carry)
}

// addProducts adds the products of two vectors.
func (s *acc128) addProducts(a, b []int64) {
	b = b[:len(a)]
	lo, hi := s.lo, s.hi
	for i, x := range a {
		y := b[i]
		h, l := bits.Mul64(uint64(x), uint64(y))
		h -= uint64(x>>63&y + y>>63&x) // the upper half of a product of two's complement numbers
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	s.lo, s.hi = lo, hi
}

// addFar adds two numbers that are not zero. If the sum does not fit 126 bits, a last bit stands
// for what is below those.
func addFar(x, y fp.Dyadic) fp.Dyadic {
	if x.Exponent() < y.Exponent() {
		x, y = y, x
	}
	q := max(min(x.Q, y.Q), x.Exponent()-124)
	var s acc128
	s.add(x, q)
	rest := y.Round(q, fp.RD)
	s.add(rest, q)
	t := s.term(q).Dyadic
	if y.Low() < q { // the sum lies between two numbers, of which t is the lower one
		t = t.Shl(1)
		if !t.Neg {
			t.Lo |= 1
			return t
		}
		var borrow uint64
		t.Lo, borrow = bits.Sub64(t.Lo, 1, 0)
		t.Hi -= borrow
	}
	return t
}
