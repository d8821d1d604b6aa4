package fp_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// entry is one line of the sorted list of a format's magnitudes.
type entry struct {
	value float64
	code  uint64
	over  bool // not in the format: the number that would come next
}

// magnitudes returns the non-negative finite numbers in ascending order, and
// the number that would follow if the format went on with the same spacing.
func magnitudes(g *facts) []entry {
	var list []entry
	for v, code := range g.codes() {
		list = append(list, entry{value: v, code: code})
	}
	if g.frac == 0 { // whose smallest number stands in for zero
		list = append(list, entry{value: 0, code: 0})
	}
	slices.SortFunc(list, func(a, b entry) int {
		if a.value < b.value {
			return -1
		}
		return 1
	})
	last := list[len(list)-1]
	next := last.value + g.spacing()
	return append(list, entry{value: next, code: last.code + 1, over: true})
}

// spacing is the distance of numbers in the topmost binade.
func (g *facts) spacing() float64 { return math.Ldexp(1, g.emax-g.frac) }

// point is base + eps*d, d being smaller than any distance that matters.
type point struct {
	base float64
	eps  int
}

// cmp compares a point with a number.
func (p point) cmp(v float64) int {
	switch {
	case p.base < v:
		return -1
	case p.base > v:
		return 1
	}
	return p.eps
}

// dyadic is a point as the package takes it: base in units of 2^q, which it is
// a multiple of, with more bits appended.
func (p point) dyadic(q, more int) fp.Dyadic {
	return nudge(fp.Dyadic{Lo: uint64(math.Ldexp(p.base, -q)), Q: int32(q)}, p.eps, more)
}

// neighbours finds the two entries around a point, equal if it is an entry.
func neighbours(list []entry, p point) (below, above entry) {
	i, found := slices.BinarySearchFunc(list, p, func(e entry, p point) int { return -p.cmp(e.value) })
	switch {
	case found:
		return list[i], list[i]
	case i == len(list): // beyond: over is all that counts
		return list[i-1], list[i-1]
	}
	return list[i-1], list[i]
}

// choose is the definition of the rounding modes: it takes one of the two
// neighbours of a number.
func choose(g *facts, m fp.Mode, neg bool, p point, inner, outer entry) entry {
	low, high := inner, outer
	if neg {
		low, high = outer, inner
	}
	odd, even := inner, outer
	if inner.code%2 == 0 {
		odd, even = outer, inner
	}
	if g.frac == 0 { // one digit, which is a 1: IEEE 754 section 4.3.1
		odd, even = inner, outer
	}
	half := p.cmp(inner.value/2 + outer.value/2)
	switch {
	case inner == outer:
		return inner
	case m == fp.RZ:
		return inner
	case m == fp.RD:
		return low
	case m == fp.RU:
		return high
	case m == fp.RTO:
		return odd
	case half < 0:
		return inner
	case half > 0 || m == fp.RNA:
		return outer
	}
	return even
}

// checker tries points of one format.
type checker struct {
	g    *facts
	f    *fp.Format
	list []entry
}

// check encodes p and -p in every mode and under every overflow rule and reports
// whether all results are right.
func (c *checker) check(t *testing.T, p point, d fp.Dyadic) bool {
	t.Helper()
	below, above := neighbours(c.list, p)
	for _, neg := range []bool{false, true} {
		d.Neg = neg
		for _, m := range fp.Modes() {
			e := choose(c.g, m, neg && c.g.sign == 1, p, below, above)
			for _, over := range overflows {
				want := rounded{e.code, e.over}.code(c.g, neg, m, over)
				if got := c.f.Encode(d, m, over); got != want {
					t.Errorf("%+v (%+v), %v, overflow rule %d: %X, want %X", p, d, m, over, got, want)
					return false
				}
			}
		}
	}
	return true
}

// TestEncode tries, for any two neighbouring numbers of every small format, and for the
// largest number and the one that would follow it: both numbers, the middle between
// them, and what lies just beside these three.
func TestEncode(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		if !g.small() {
			t.Skip("too many numbers; see TestEncodeWide")
		}
		c := &checker{g, f, magnitudes(g)}
		for i := 1; i < len(c.list); i += stride(g, i, len(c.list)) {
			v, w := c.list[i-1].value, c.list[i].value
			_, e := math.Frexp((w - v) / 4)
			q := e - 1                           // v, w and their middle are multiples of 2^q
			more := []int{1, 2, 30, 64, 90}[i%5] // how far beside; 1 is half way to the next multiple
			mid := v + (w-v)/2
			for _, p := range []point{{v, 0}, {v, 1}, {mid, -1}, {mid, 0}, {mid, 1}, {w, -1}, {w, 0}} {
				if !c.check(t, p, p.dyadic(q, more)) {
					return
				}
			}
		}
	})
}

// stride is 1, or more for the inner numbers of a 16-bit format in short mode.
func stride(g *facts, i, n int) int {
	if testing.Short() && g.codeBits > 8 && i > 100 && i < n-200 {
		return 37
	}
	return 1
}

// TestEncodeBeyond tries what is larger than the largest number.
func TestEncodeBeyond(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		if !g.small() {
			t.Skip("see TestEncodeWide")
		}
		c := &checker{g, f, magnitudes(g)}
		next := c.list[len(c.list)-1].value
		bases := []float64{next, next + g.spacing()/2, next + g.spacing(), 2 * next}
		for e := g.emax + 1; e < 1000; e += 1 + e/8 {
			bases = append(bases, math.Ldexp(1, e), math.Ldexp(1.5, e))
		}
		for _, b := range bases {
			_, e := math.Frexp(b)
			for _, eps := range []int{-1, 0, 1} {
				p := point{b, eps}
				if !c.check(t, p, p.dyadic(e-20, 70)) {
					return
				}
			}
		}
	})
}

// TestEncodeZero: the sign of a zero stays where there is a -0.
func TestEncodeZero(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		for _, q := range []int32{-1 << 30, -200, 0, 200, 1 << 30} {
			for _, m := range fp.Modes() {
				checkCode(t, "+0", f.Encode(fp.Dyadic{Q: q}, m, fp.OverIEEE), 0)
				want := uint64(0)
				if g.negZero {
					want = g.signBit()
				}
				checkCode(t, "-0", f.Encode(fp.Dyadic{Q: q, Neg: true}, m, fp.OverIEEE), want)
			}
		}
	})
}
