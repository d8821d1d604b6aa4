package finding

import (
	"testing"
	"time"
)

// TestWithinTime: the effort of an inference depends on the time limit of a campaign, and not on
// how much of it is left.
func TestWithinTime(t *testing.T) {
	for _, tc := range []struct {
		limit        time.Duration
		effort, want int
	}{
		{0, inferEffort, inferEffort},
		{30 * time.Second, inferEffort, inferEffort},
		{4 * time.Second, inferEffort, 5},
		{4 * time.Second, inferQuickly, inferQuickly},
		{time.Millisecond, inferEffort, 1},
	} {
		o := Options{Time: tc.limit}
		if got := o.withinTime(tc.effort); got != tc.want {
			t.Errorf("%v, %d: %d, want %d", tc.limit, tc.effort, got, tc.want)
		}
	}
}
