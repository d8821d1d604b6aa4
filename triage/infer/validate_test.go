package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// TestLanesOfPatterns asks for patterns as a validation does: products are in all lanes.
func TestLanesOfPatterns(t *testing.T) {
	g, err := gen.Find("pattern")
	if err != nil {
		t.Fatal(err)
	}
	const k, n = 16, DefaultChecks
	sp := gen.Spec{Formats: half, K: k}
	size, skip := batches(g.Size(sp), n, k)
	var inLane [k]int
	for at := 0; at < n; at += size {
		for _, d := range generate(sp, g, 1, uint64(at)/8*8+uint64(at/size)*skip/8*8, 64) {
			for lane := range d.A {
				if d.A[lane] != 0 && d.B[lane] != 0 {
					inLane[lane]++
				}
			}
		}
	}
	for lane, products := range inLane {
		if products < 32 {
			t.Errorf("%d products in lane %d", products, lane)
		}
	}
	for _, c := range []struct {
		of   uint64
		n, k int
		size int
		skip uint64
	}{
		{0, 100_000, 16, maxBatch, 0}, {5000, 5000, 16, maxBatch, 0}, {5000, 1000, 1, maxBatch, 0},
		{5000, 1000, 16, 1024, 5000}, {1 << 30, 1 << 20, 4, maxBatch, 1 << 30},
	} {
		if size, skip := batches(c.of, c.n, c.k); size != c.size || skip != c.skip {
			t.Errorf("%+v: %d, %d", c, size, skip)
		}
	}
}
