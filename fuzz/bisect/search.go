package bisect

// verdict is the outcome of testing a version.
type verdict int

const (
	asBefore verdict = iota // it behaves as before the change
	asAfter                 // it behaves as after the change
	untested                // it cannot be tested
)

// span is where the change is: old is the last version that behaves as before the change,
// new the first that behaves as after it. The change is in new, or in one of the versions
// between them, which cannot be tested.
type span struct{ old, new int }

// exact reports whether only one version can have the change.
func (r span) exact() bool { return r.new-r.old == 1 }

// search looks for the change among the versions 0..n-1. The last one is known to behave as
// after the change, and the one before the first, -1, as before it. If the version in the
// middle cannot be tested, the nearest one that can be tested takes its place. Each version
// is tested at most once.
func search(n int, test func(version int) (verdict, error)) (span, error) {
	r := span{-1, n - 1}
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
		case verdict == untested:
			skipped[v] = true
		case verdict == asBefore:
			r.old = v
		default:
			r.new = v
		}
	}
}

// middle returns the version nearest to the middle of a range that was not skipped, -1 if
// there is none.
func middle(r span, skipped map[int]bool) int {
	best, least := -1, 0
	for v := r.old + 1; v < r.new; v++ {
		distance := max(2*v-r.old-r.new, r.old+r.new-2*v)
		if !skipped[v] && (best < 0 || distance < least) {
			best, least = v, distance
		}
	}
	return best
}
