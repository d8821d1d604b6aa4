// Package bisect finds the first of several versions that behaves in a new way.
//
// The API of this package is not promised: it may change in any version.
package bisect

// Verdict is the outcome of testing a version.
type Verdict int

const (
	Old     Verdict = iota // it behaves as before the change
	New                    // it behaves as after the change
	Skipped                // it cannot be tested
)

// Range is where the change is: Old is the last version that behaves as before the change,
// New the first that behaves as after it. The change is in New, or in one of the versions
// between them, which cannot be tested.
type Range struct{ Old, New int }

// Exact reports whether only one version can have the change.
func (r Range) Exact() bool { return r.New-r.Old == 1 }

// Search looks for the change among the versions 0..n-1. The last one is known to behave as
// after the change, and the one before the first, -1, as before it. If the version in the
// middle cannot be tested, the nearest one that can be tested takes its place. Each version
// is tested at most once.
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
