package engine

import (
	"testing"
	"time"
)

// TestPace lets units with a fixed cost of a call and a cost of each dot product take their
// time, and counts the calls and the time for many dot products.
func TestPace(t *testing.T) {
	for _, tc := range []struct {
		name        string
		fixed, each time.Duration
		dots        int
		calls       int           // at most
		time        time.Duration // at most
		longest     time.Duration // of a call, at most
		largest     int           // dot products of the largest piece, at least
	}{
		{"slow", 0, 100 * time.Millisecond, 100, 30, 10 * time.Second, 600 * time.Millisecond, 4},
		{"very slow", 0, 2 * time.Second, 20, 20, 40 * time.Second, 4 * time.Second, 2},
		{"a minute for each", 0, time.Minute, 20, 20, 20 * time.Minute, 2 * time.Minute, 1},
		{"starts a simulator", 2 * time.Second, time.Millisecond, 20_000, 25, 70 * time.Second, 5 * time.Second, 1000},
		{"takes a minute to start", time.Minute, time.Millisecond, 20_000, 17, 18 * time.Minute, 70 * time.Second, 1000},
		{"fast", time.Millisecond, time.Microsecond, 1_000_000, 12, 2 * time.Second, time.Second, 100_000},
	} {
		var p pace
		calls, largest := 0, 0
		var spent, longest time.Duration
		for left := tc.dots; left > 0; calls++ {
			n := min(left, p.next())
			took := tc.fixed + time.Duration(n)*tc.each
			p.learn(n, took)
			left -= n
			spent, longest, largest = spent+took, max(longest, took), max(largest, n)
		}
		if calls > tc.calls || spent > tc.time || longest > tc.longest || largest < tc.largest {
			t.Errorf("%s: %d calls, %v, the longest %v, up to %d dot products", tc.name, calls, spent, longest, largest)
		}
	}
}

// TestPaceRecovers checks that a stall does not make pieces small for good.
func TestPaceRecovers(t *testing.T) {
	var p pace
	for _, took := range []time.Duration{time.Millisecond, time.Hour} {
		p.learn(p.next(), took)
	}
	if n := p.next(); n != 1 {
		t.Errorf("%d dot products after a stall", n)
	}
	p.learn(1, time.Millisecond)
	if n := p.next(); n < 64 {
		t.Errorf("%d dot products when it is over", n)
	}
}
