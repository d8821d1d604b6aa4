package change

import "github.com/mmafuzz/mmafuzz/sim/mma"

// MaxLanes is the number of lanes up to which a search looks, as the row of the parameter says.
var MaxLanes = func() int {
	f, _ := mma.FindField("lanes")
	_, hi, _ := f.Range(&mma.Params{}, mma.Formats{}, mma.MaxK)
	return hi
}()

// floorSpan is the range of the lower bounds of an alignment.
func (o *original) floorSpan() (lo, hi int) {
	f, _ := mma.FindField("join.align.floor")
	lo, hi, _ = f.Range(&o.p, o.Formats, o.K)
	return lo, hi
}

// exponents returns the smallest exponent of products, and that of results.
func (o *original) exponents() (products, results int) {
	return int(o.A.Get().Emin()+o.B.Get().Emin()) + o.p.Weight(o.Formats), int(o.D.Get().Emin())
}

// near proposes values at the given distances from one that is set, of the same sign.
func near(distances ...int) func(*original, mma.Field) []int {
	return func(o *original, f mma.Field) []int {
		v := f.Int(&o.p)
		if v == 0 || !f.Numeric() {
			return nil
		}
		var vals []int
		for _, d := range distances {
			if v+d != 0 && (v > 0) == (v+d > 0) {
				vals = append(vals, v+d)
			}
		}
		return vals
	}
}

// halfAndDouble proposes half and twice a value that is set.
func halfAndDouble(o *original, f mma.Field) []int {
	v := f.Int(&o.p)
	if v == 0 {
		return nil
	}
	return []int{v / 2, v * 2}
}

// mostValues is the size of the largest range of which all values are tried: that of exponents, not
// that of zero points of 16 bits.
const mostValues = 1 << 16

// allInRange proposes all values of a number's range that the program can use.
func allInRange(o *original, f mma.Field) []int {
	var vals []int
	lo, hi, _ := f.Range(&o.p, o.Formats, o.K)
	if hi-lo > mostValues {
		return nil
	}
	for ; lo <= hi; lo++ {
		if lo != 0 {
			vals = append(vals, lo)
		}
	}
	return vals
}

// fracs returns the widths in the range of a number.
func (o *original) fracs(path string) []mma.Frac {
	f, _ := mma.FindField(path)
	var all []mma.Frac
	for _, v := range allInRange(o, f) {
		all = append(all, mma.Frac(v))
	}
	return all
}

// allInRangeOrAbsent proposes all values of a number's range, and that there is none.
func allInRangeOrAbsent(o *original, f mma.Field) []int { return append([]int{0}, allInRange(o, f)...) }
