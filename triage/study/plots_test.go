package study

import (
	"math"
	"strings"
	"testing"
)

// TestHistogram gives values outside: they count at the ends, and the axis says so.
func TestHistogram(t *testing.T) {
	p := histogram("h", "", "x", "", 0, 1, 2, "units", []float64{0, 0.4, 0.6, 1, 7, -3, math.Inf(1)})
	if y := p.Series[0].Y; y[0] != 3 || y[1] != 4 || !strings.HasSuffix(p.X, "; 3 of units outside 0 to 1 stand at the ends") {
		t.Errorf("%v, %q", y, p.X)
	}
	if p = histogram("h", "", "x", "", 0, 1, 2, "units", []float64{0, 1}); p.X != "x" {
		t.Errorf("%q, and nothing is outside", p.X)
	}
}
