package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// number is a numeric field of mma.Params: a count of bits or of terms, or a bound of
// exponents. The value 0 means absent.
type number struct {
	path string
	used func(o *original) bool         // it has a meaning in the program
	span func(o *original) (lo, hi int) // the values that make sense there beside 0
}

// numbers is the table of numeric fields, by path: those that stand for themselves, and
// those of every rounding and alignment.
var numbers = func() map[string]number {
	all := []number{
		{"l", always, func(o *original) (int, int) { return 1, o.K }},
		{"lanes", always, func(o *original) (int, int) { return 2, min(MaxLanes, o.K) }},
		{"stage0.group", alignments[0].used, groupSpan},
		{"stage1.group", alignments[1].used, groupSpan},
		{"special.ones", func(o *original) bool { return o.D.Get().HasInf() }, func(o *original) (int, int) { return 1, int(o.D.Get().FracBits) }},
		{"join.cf", always, fracSpan},
		{"join.cdrop", always, fracSpan},
		{"join.clost", always, func(o *original) (int, int) {
			lo, _ := o.exponents()
			return lo, int(o.A.Get().Emax()+o.B.Get().Emax()) + 1
		}},
		{"in.a.frac", always, func(o *original) (int, int) { return 1, int(o.read(o.A).FracBits) - 1 }},
		{"in.b.frac", always, func(o *original) (int, int) { return 1, int(o.read(o.B).FracBits) - 1 }},
		{"in.narrowc.frac", func(o *original) bool { return o.C != fp.None }, func(o *original) (int, int) { return 1, int(o.C.Get().FracBits) - 1 }},
	}
	for i := range alignments {
		a := &alignments[i]
		all = append(all, number{a.path + ".f", a.used, fracSpan}, number{a.path + ".floor", a.used, floorSpan},
			number{a.path + ".drop", a.used, fracSpan}, number{a.path + ".bits", a.used, func(o *original) (int, int) { return 1, mma.MaxBits }})
	}
	for i := range roundings {
		r := &roundings[i]
		all = append(all, number{r.path + ".frac", r.used, func(o *original) (int, int) { return 1, int(r.most(o)) }},
			number{r.path + ".emin", r.used, r.expSpan}, number{r.path + ".emax", r.used, r.expSpan})
	}
	byPath := map[string]number{}
	for _, n := range all {
		byPath[n.path] = n
	}
	return byPath
}()

// MaxLanes is the number of lanes up to which a search looks.
const MaxLanes = 8

func fracSpan(*original) (lo, hi int)    { return 1, mma.MaxFrac }
func groupSpan(o *original) (lo, hi int) { return 2, o.K - 1 }

// expSpan is the range of the bounds of a rounding: that of D's exponents if it makes
// numbers of D's format, else that of FP64.
func (r *rounding) expSpan(o *original) (lo, hi int) {
	f := fp.FP64.Get()
	if r.last && (r.path == "out" || o.p.Out == mma.Round{}) {
		f = o.D.Get()
	}
	return int(f.Emin()), int(f.Emax())
}

// floorSpan is the range of the lower bounds of an alignment: all exponents that could
// make a difference.
func floorSpan(o *original) (lo, hi int) {
	products, results := o.exponents()
	hi = int(o.A.Get().Emax() + o.B.Get().Emax())
	return min(products, results) - 30, min(max(hi, 0)+10, 40)
}

// exponents returns the smallest exponent of products, and that of results.
func (o *original) exponents() (products, results int) {
	return int(o.A.Get().Emin()+o.B.Get().Emin()) - int(o.Down), int(o.D.Get().Emin())
}

func isNumber(path string) bool {
	_, ok := numbers[path]
	return ok
}

// near proposes values at the given distances from one that is set, of the same sign.
func near(distances ...int) func(*original, mma.Field) []int {
	return func(o *original, f mma.Field) []int {
		v := f.Int(&o.p)
		if v == 0 {
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

// whole proposes all values of a number's range that the program can use.
func whole(o *original, f mma.Field) []int {
	n := numbers[f.Path]
	if !n.used(o) {
		return nil
	}
	var vals []int
	for lo, hi := n.span(o); lo <= hi; lo++ {
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
	for _, v := range whole(o, f) {
		all = append(all, mma.Frac(v))
	}
	return all
}

// wholeOrAbsent proposes all values of a number's range, and that there is none.
func wholeOrAbsent(o *original, f mma.Field) []int { return append([]int{0}, whole(o, f)...) }
