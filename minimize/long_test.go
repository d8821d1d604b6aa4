package minimize

import (
	"context"
	"errors"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// long is a dot product of n elements. With 6,000 of them, candidates for every one do not
// fit into memory, and with 2,100 not into an eighth of what may be used of it.
func long(n int) *mma.Dot {
	d := mma.NewDot(half, n)
	for k := range d.A {
		d.A[k], d.B[k] = 0x3c00+uint64(k)%0x4000, 0x4200
	}
	return d
}

// TestLong minimizes a long dot product: one that may shrink, and one that may not, which
// takes no more memory than there is.
func TestLong(t *testing.T) {
	start := long(tier.Of(300, 300, 6_000))
	any := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		buckets := make([]string, len(dots))
		for i, d := range dots {
			if Terms(half, d) > 0 {
				buckets[i] = "diff"
			}
		}
		return buckets, nil
	}
	if r := minimize(t, half, start, any, Options{}); Terms(half, r.Dot) != 1 || !r.Minimal {
		t.Errorf("%d terms, minimal %v", Terms(half, r.Dot), r.Minimal)
	}
	start = long(tier.Of(1_500, 1_500, 6_000))
	if !tier.Long() {
		maxBatchBytes, maxCacheBytes = maxBatchBytes/16, maxCacheBytes/16
		t.Cleanup(func() { maxBatchBytes, maxCacheBytes = 16*maxBatchBytes, 16*maxCacheBytes })
	}
	all := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		if n := len(dots) * 16 * len(start.A); n > maxBatchBytes {
			t.Errorf("a batch of %d bytes", n)
		}
		buckets := make([]string, len(dots))
		for i, d := range dots {
			if d.Equal(start) {
				buckets[i] = "diff"
			}
		}
		return buckets, nil
	}
	if r := minimize(t, half, start, all, Options{}); !r.Dot.Equal(start) || r.Minimal || r.Mask != nil || r.Queries > tier.Of(2_000, 2_000, 6_000) {
		t.Errorf("%d terms, minimal %v, %d queries", Terms(half, r.Dot), r.Minimal, r.Queries)
	}
}

// TestInterruptedPass ends while a pass looks for candidates: no test is asked any more.
func TestInterruptedPass(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Dot(ctx, half, long(6_000), func(context.Context, []*mma.Dot) ([]string, error) {
		t.Error("the test was asked")
		return nil, nil
	}, Options{Bucket: "diff"})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
