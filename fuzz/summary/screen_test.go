package summary

import "testing"

// TestFirstChanges holds that what is left out is counted once, over all pairs.
func TestFirstChanges(t *testing.T) {
	pairs := [][]string{{"F 13→32"}, {"c 13→24", "RZ→RD"}, {"F 25→32", "RZ→RD"}}
	for _, c := range []struct {
		n, each int
		want    string
	}{
		{3, 3, "F 13→32; c 13→24, RZ→RD; F 25→32, RZ→RD"},
		{3, 1, "F 13→32; c 13→24; F 25→32, and 1 more"},
		{2, 2, "F 13→32; c 13→24, RZ→RD, and 1 more"},
		{1, 3, "F 13→32, and 3 more"},
	} {
		if got := firstChanges(pairs, c.n, c.each); got != c.want {
			t.Errorf("%d pairs, %d of each: %q, want %q", c.n, c.each, got, c.want)
		}
	}
	if got := firstChanges([][]string{{"L 16→8", "x"}, {"L 16→8", "y"}}, 2, 1); got != "L 16→8, and 2 more" {
		t.Errorf("two pairs with the same first change: %q", got)
	}
}
