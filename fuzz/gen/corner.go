package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Corners enumerate the extremes of a sum by construction, where others come upon them by
// luck: an adder that lacks its top integer bit is right on nearly all inputs that are
// drawn. Every combination of these classes is one case. Indexes beyond the last case begin
// again, with the single terms in other lanes.

// cornerLanes are the lanes that have a product: lane k of n, with one that wanders.
var cornerLanes = []struct {
	name string
	has  func(k, n, one int) bool
}{
	{"all", func(k, n, one int) bool { return true }},
	{"the lower half", func(k, n, one int) bool { return 2*k < n }},
	{"the upper half", func(k, n, one int) bool { return 2*k >= n }},
	{"every other", func(k, n, one int) bool { return k%2 == one%2 }},
	{"one", func(k, n, one int) bool { return k == one }},
	{"all but one", func(k, n, one int) bool { return k != one || n == 1 }},
}

// cornerSignificands are those of A and B, in the i-th product of a case: all ones, or 1.
var cornerSignificands = []struct {
	name  string
	carry int // the products are nearly 2^carry times those of powers of two
	// fractions are right-aligned, and wider than any format has.
	fractions func(i int) (a, b uint64)
}{
	{"all ones", 2, func(i int) (a, b uint64) { return ones, ones }},
	{"all ones of A, 1 of B", 1, func(i int) (a, b uint64) { return ones, 0 }},
	{"1", 0, func(i int) (a, b uint64) { return 0, 0 }},
	{"all ones and 1 in turn", 2, func(i int) (a, b uint64) {
		if i%2 == 0 {
			return ones, ones
		}
		return 0, 0
	}},
}

const ones = ^uint64(0)

// cornerExponents are those of the i-th product below the largest one's.
var cornerExponents = []struct {
	name  string
	below func(i int) int
}{
	{"equal", func(i int) int { return 0 }},
	{"adjacent", func(i int) int { return i % 2 }},
	{"falling", func(i int) int { return i }},
}

// cornerSigns are those of the i-th of n products: whether it is negative.
var cornerSigns = []struct {
	name     string
	negative func(i, n int) bool
}{
	{"plus", func(i, n int) bool { return false }},
	{"minus", func(i, n int) bool { return true }},
	{"alternating", func(i, n int) bool { return i%2 == 1 }},
	{"the last opposed", func(i, n int) bool { return i == n-1 }},
	{"half opposed", func(i, n int) bool { return 2*i >= n }},
}

// cornerLevels are exponents of the largest product, given the number n of products and the
// carry of their significands.
var cornerLevels = []struct {
	name  string
	level func(d *draw, n, carry int) int
}{
	{"around 1", func(d *draw, n, carry int) int { return 0 }},
	{"the largest products", func(d *draw, n, carry int) int { return int(d.fa.Emax() + d.fb.Emax()) }},
	{"the smallest products", func(d *draw, n, carry int) int { return int(d.fa.Emin() + d.fb.Emin()) }},
	{"products of subnormals", func(d *draw, n, carry int) int { return int(d.fa.Emin()+d.fb.Emin()) - 1 }},
	{"sums just below overflow", func(d *draw, n, carry int) int { return int(d.D.Get().Emax()) + 1 - carry - bits.Len(uint(n-1)) }},
	{"sums just at overflow", func(d *draw, n, carry int) int { return int(d.D.Get().Emax()) + 2 - carry - bits.Len(uint(n-1)) }},
	{"products just below normal results", func(d *draw, n, carry int) int { return int(d.D.Get().Emin()) - carry }},
}

// cornerAccumulators are c, given level, the exponent of the largest product, which is the
// sum of its factors' exponents, and sum, that of a power of two above the sum of all.
var cornerAccumulators = []struct {
	name string
	c    func(f *format, level, sum int) uint64
}{
	{"0", func(f *format, level, sum int) uint64 { return 0 }},
	{"the largest", func(f *format, level, sum int) uint64 { return f.MaxFinite() }},
	{"the largest, opposed", func(f *format, level, sum int) uint64 { return f.MaxFinite() | f.SignBit() }},
	{"all ones at the products' exponent", func(f *format, level, sum int) uint64 { return code(f, false, level, ones) }},
	{"a power of two at the products' exponent, opposed", func(f *format, level, sum int) uint64 { return code(f, true, level, 0) }},
	{"a power of two above their sum, opposed", func(f *format, level, sum int) uint64 {
		return code(f, true, sum, 0)
	}},
	{"the smallest", func(f *format, level, sum int) uint64 { return 1 << f.Low }},
	{"the smallest, opposed", func(f *format, level, sum int) uint64 { return 1<<f.Low | f.SignBit() }},
}

// CornerKind is a property of corners with its classes.
type CornerKind struct {
	Name    string
	Classes []string
}

// cornerKinds are the properties that are combined, in the order of an index's digits.
var cornerKinds = [...]CornerKind{
	{"lanes with a product", classes(len(cornerLanes), func(i int) string { return cornerLanes[i].name })},
	{"significands", classes(len(cornerSignificands), func(i int) string { return cornerSignificands[i].name })},
	{"exponents", classes(len(cornerExponents), func(i int) string { return cornerExponents[i].name })},
	{"signs", classes(len(cornerSigns), func(i int) string { return cornerSigns[i].name })},
	{"level", classes(len(cornerLevels), func(i int) string { return cornerLevels[i].name })},
	{"c", classes(len(cornerAccumulators), func(i int) string { return cornerAccumulators[i].name })},
}

func classes(n int, name func(i int) string) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = name(i)
	}
	return s
}

// Corners returns what the generator corner combines for some formats. The result is
// shared: it must not be changed.
func Corners(f mma.Formats) []CornerKind {
	if f.C == fp.None {
		return cornerKinds[:len(cornerKinds)-1]
	}
	return cornerKinds[:]
}

// cornerAll is the number of cases of formats with C.
const cornerAll = 20160

func cornerSize(sp Spec) uint64 {
	n := uint64(1)
	for _, kind := range Corners(sp.Formats) {
		n *= uint64(len(kind.Classes))
	}
	return n
}

func cornerDot(d *draw) {
	size := cornerSize(d.Spec)
	index := scattered(d.index, size) // the first few hundred have all classes of everything
	var class [len(cornerKinds)]int
	for i, kind := range Corners(d.Formats) {
		class[i] = index.digit(len(kind.Classes))
	}
	lanes, sig, exponents := &cornerLanes[class[0]], &cornerSignificands[class[1]], &cornerExponents[class[2]]
	signs, levels, accumulators := &cornerSigns[class[3]], &cornerLevels[class[4]], &cornerAccumulators[class[5]]
	one, n := int(d.index/size)%d.K, 0
	for k := range d.K {
		if lanes.has(k, d.K, one) {
			n++
		}
	}
	level := levels.level(d, n, sig.carry)
	d.cornerScales(level)
	for k, i := 0, 0; k < d.K; k++ {
		if lanes.has(k, d.K, one) {
			a, b := sig.fractions(i)
			d.corner(k, level-exponents.below(i), signs.negative(i, n), a, b)
			i++
		}
	}
	if d.fc != nil {
		d.dot.C = accumulators.c(d.fc, level, level+sig.carry+bits.Len(uint(n-1)))
	}
}

// cornerScales gives all blocks the power of two that brings products nearest to an
// exponent which the operand formats do not reach.
func (d *draw) cornerScales(level int) {
	if d.fs == nil {
		return
	}
	lo, hi := d.products()
	x, y := d.splitScale(level-min(max(level, lo), hi), 0)
	for i := range d.scale {
		d.dot.SA[i], d.dot.SB[i] = d.scaleCode(x, 0), d.scaleCode(y, 0)
		d.scale[i] = x + y
	}
}

// corner sets product k to the exponent e, or the nearest that the formats reach, one
// exponent below the normal ones included, with these fractions.
func (d *draw) corner(k, e int, neg bool, fracA, fracB uint64) {
	la, ha, lb, hb := int(d.fa.Emin())-1, int(d.fa.Emax()), int(d.fb.Emin()), int(d.fb.Emax())
	e = min(max(e-d.block(k), la+lb), ha+hb)
	ea := min(max(e/2, la, e-hb), ha, e-lb)
	d.dot.A[k] = code(d.fa, neg, ea, fracA)
	d.dot.B[k] = code(d.fb, false, e-ea, fracB)
}
