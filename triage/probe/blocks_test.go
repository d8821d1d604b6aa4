package probe_test

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// blocks adds blocks of products in fused sums that keep 30 bits, each with the sum so far, from c on, or each
// alone and then to the others.
func blocks(alone bool, sizes ...int) function {
	k := 0
	for _, n := range sizes {
		k += n
	}
	return function{k, fp.FP16, fp.FP16, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
		sum, at := c, 0
		for _, n := range sizes {
			var p []float64
			for ; len(p) < n; at++ {
				p = append(p, a[at]*b[at])
			}
			if alone {
				sum += round(fp.FP32, fused(p, 30), fp.RZ)
			} else {
				sum = fused(append(p, sum), 30)
			}
			sum = round(fp.FP32, sum, fp.RZ)
			if math.IsNaN(sum) {
				break
			}
		}
		return sum
	}}
}

// TestBlockWidth holds that a width is that of all blocks, or none is given.
func TestBlockWidth(t *testing.T) {
	for _, tc := range []struct {
		name       string
		unit       function
		width, why string
	}{
		{"even", blocks(false, 4, 4, 4), "4", ""},
		{"a shorter rest", blocks(false, 8, 4), "-", "sums have 8 or 4 products"},
		{"a shorter first", blocks(false, 4, 8), "-", "sums have 4 or 8 products"},
		{"in turn", blocks(false, 16, 8, 16, 8), "-", "sums have 16 or 8 products"},
		{"alone, even", blocks(true, 6, 6), "6", ""},
		{"alone, uneven", blocks(true, 10, 6), "-", "sums have 10 or 6 products"},
	} {
		p := probe.New(t.Context(), tc.unit)
		answers, err := p.Ask("fttn")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if a.ID == "T_blk_fma_width" && (a.Value != tc.width || tc.why != "" && a.Why != tc.why) {
				tree, _ := p.Tree()
				t.Errorf("%s: %s (%s), want %s (%s): %v", tc.name, a.Value, a.Why, tc.width, tc.why, tree)
			}
		}
	}
}
