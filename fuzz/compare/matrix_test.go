package compare

import "testing"

// TestMatrixKey holds that the key explains what is there, and nothing else.
func TestMatrixKey(t *testing.T) {
	for _, c := range []struct{ cells, want string }{
		{"35.4%", "share of dot products that differ"},
		{"35.4%*-", "share of dot products that differ; - not compared, * something new"},
		{"=12%*", "share of dot products that differ; = no mismatch, * something new"},
	} {
		if got := matrixKey(c.cells); got != c.want {
			t.Errorf("%q: %q, want %q", c.cells, got, c.want)
		}
	}
}

// TestHasEarlier holds that nothing is marked as new where nothing was known before.
func TestHasEarlier(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Result
		want bool
	}{
		{"a first comparison", Result{Differences: []Difference{{State: StateNew}}}, false},
		{"one with a baseline", Result{Differences: []Difference{{State: StateNew}, {State: StateStill}}}, true},
		{"one of which all is gone", Result{Gone: []Gone{{}}}, true},
		{"one with a list", Result{Known: []KnownUse{{}}}, true},
	} {
		if got := c.r.hasEarlier(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
