package infer

import (
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The kinds of mismatches: what is different about two results.
const (
	nanOrNone  = "only one of the two is a NaN"
	nanCodes   = "both are NaNs, with different codes"
	infOrNone  = "only one of the two is infinite"
	signs      = "only the sign differs"
	zeroSigns  = "both are zeros, with different signs"
	zeroOrNone = "only one of the two is zero"
	numbers    = "they are different numbers"
)

// mismatchKind returns the kind of two different results of a format.
func mismatchKind(f *fp.Format, x, y uint64) string {
	a, b := f.Decode(x), f.Decode(y)
	either := func(c fp.Class) bool { return a.Class == c || b.Class == c }
	switch {
	case a.Class == fp.NaN && b.Class == fp.NaN:
		return nanCodes
	case either(fp.NaN):
		return nanOrNone
	case a.Class == fp.Zero && b.Class == fp.Zero:
		return zeroSigns
	case x^y == f.SignBit():
		return signs
	case either(fp.Inf):
		return infOrNone
	case either(fp.Zero):
		return zeroOrNone
	}
	return numbers
}

// mismatch is a case of the evidence that the best program does not explain.
type mismatch struct {
	dot  *mma.Dot
	want uint64
	kind string
}

// mismatches returns the cases of the evidence that a model does not explain.
func (l *loop) mismatches(m *sim.Model) []mismatch {
	var all []mismatch
	for _, s := range l.Families {
		for i, d := range s.Dots {
			if got := m.Dot(d, nil); !l.Same(got, s.Want[i]) {
				all = append(all, mismatch{d, s.Want[i], mismatchKind(l.D.Get(), s.Want[i], got)})
			}
		}
	}
	return all
}

// telling returns the smallest mismatch of the most frequent kind, which says more about
// what is missing in a program than a smaller one of a rare kind, and the number of that
// kind; nil if there are none.
func telling(f mma.Formats, all []mismatch) (first *mismatch, count int) {
	counts := map[string]int{}
	for i := range all {
		counts[all[i].kind]++
	}
	for i := range all {
		x := &all[i]
		n := counts[x.kind]
		if n > count || n == count && first.kind == x.kind && minimize.Less(f, x.dot, first.dot) {
			first, count = x, n
		}
	}
	return first, count
}
