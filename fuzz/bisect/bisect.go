// Package bisect finds the first of several versions that has changed.
//
// The API of this package is not promised: it may change in any version.
package bisect

// Verdict is what became of a version.
type Verdict int

const (
	Old     Verdict = iota // as before
	New                    // as after
	Skipped                // it cannot be tested
)

// Range is where the change is: the version Old is the last one as before, New the first one
// as after. If versions between them cannot be tested, any of these may have it.
type Range struct{ Old, New int }

// Exact reports whether one version alone may have the change.
func (r Range) Exact() bool { return r.New-r.Old == 1 }

// Search looks for the change among the versions 0..n-1, of which the last is as after.
// What comes before the first one, -1, is as before. A version that cannot be tested is
// passed over: the nearest one to the middle that can be is taken. Each version is tested
// once.
func Search(n int, test func(version int) (Verdict, error)) (Range, error) {
	r := Range{-1, n - 1}
	skipped := map[int]bool{}
	for {
		v := middle(r, skipped)
		if v < 0 {
			return r, nil
		}
		verdict, err := test(v)
		switch {
		case err != nil:
			return r, err
		case verdict == Skipped:
			skipped[v] = true
		case verdict == Old:
			r.Old = v
		default:
			r.New = v
		}
	}
}

// middle returns the version nearest to the middle of a range that was not skipped, -1 if
// there is none.
func middle(r Range, skipped map[int]bool) int {
	best, least := -1, 0
	for v := r.Old + 1; v < r.New; v++ {
		distance := max(2*v-r.Old-r.New, r.Old+r.New-2*v)
		if !skipped[v] && (best < 0 || distance < least) {
			best, least = v, distance
		}
	}
	return best
}
