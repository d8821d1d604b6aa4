// Package measure times work on machines that others use too, and has the work
// that benchmarks of models agree on. It is used by go test -bench ./sim and mmafuzz
// bench, and by the tests of package selfcheck.
//
// Computations are timed by the processor time of their thread (Thread), if the system
// measures it, so that waiting for other programs does not count. Other programs still slow
// a computation down through caches and through the other hardware thread of a core: the
// median of several runs is taken, and shown with the quartiles.
//
// The API of this package is not promised: it may change in any version.
package measure

import (
	"runtime"
	"slices"
	"time"
)

// Clock returns the time since some fixed point.
type Clock func() time.Duration

var start = time.Now()

// Wall returns the wall time.
func Wall() time.Duration { return time.Since(start) }

// Series is the times of several runs of the same work, in nanoseconds for a unit of work,
// or several values of any other measurement.
type Series []float64

// Median returns the median, 0 if the series is empty.
func (s Series) Median() float64 { return s.quantile(0.5) }

// Min returns the smallest value, 0 if the series is empty.
func (s Series) Min() float64 { return s.quantile(0) }

// Quartiles returns the values that a quarter and three quarters of the runs do not
// exceed.
func (s Series) Quartiles() (low, high float64) { return s.quantile(0.25), s.quantile(0.75) }

// Spread returns half of the distance between the quartiles, as a part of the median.
func (s Series) Spread() float64 {
	low, high := s.Quartiles()
	if m := s.Median(); m > 0 {
		return (high - low) / 2 / m
	}
	return 0
}

// quantile interpolates between neighbours.
func (s Series) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	i := min(int(at), max(len(sorted)-2, 0))
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Scaled returns the series times x.
func (s Series) Scaled(x float64) Series {
	t := slices.Clone(s)
	for i := range t {
		t[i] *= x
	}
	return t
}

// Timing describes how work is timed.
type Timing struct {
	Clock Clock
	Runs  int           // number of runs, the length of a series
	Each  time.Duration // how long a run takes at least
}

// Of returns the time of a call of f in each run, in nanoseconds. The first calls, which find
// out how many a run needs, do not count. It ends at the first error.
func (t Timing) Of(f func() error) (Series, error) {
	calls, err := t.calls(f)
	if err != nil {
		return nil, err
	}
	var s Series
	for range max(1, t.Runs) {
		began := t.Clock()
		for range calls {
			if err := f(); err != nil {
				return nil, err
			}
		}
		s = append(s, float64(t.Clock()-began)/float64(calls))
	}
	return s, nil
}

// calls returns how many calls take Each.
func (t Timing) calls(f func() error) (int, error) {
	const most = 1 << 30
	if err := f(); err != nil { // not timed: it fills caches and allocates buffers
		return 0, err
	}
	for n := 1; ; {
		began := t.Clock()
		for range n {
			if err := f(); err != nil {
				return 0, err
			}
		}
		took := t.Clock() - began
		if took >= t.Each || n >= most {
			return n, nil
		}
		grow := 8.0
		if took > 0 {
			grow = min(grow, 1.1*float64(t.Each)/float64(took))
		}
		n = max(n+1, int(grow*float64(n)))
	}
}

// Cycle returns the length of a clock cycle in nanoseconds. It times a chain of dependent
// operations, each of which takes one cycle, and takes the shortest of several runs.
func Cycle() float64 {
	defer Lock()()
	const rounds = 1 << 18
	t := Timing{Clock: Thread, Runs: 9, Each: time.Millisecond}
	s, _ := t.Of(func() error { runtime.KeepAlive(chain(rounds)); return nil }) // chain does not fail
	return s.Min() / (8 * rounds)
}

//go:noinline
func chain(n int) uint64 {
	x := uint64(1)
	for range n {
		x += x
		x ^= 5
		x += x
		x ^= 3
		x += x
		x ^= 5
		x += x
		x ^= 3
	}
	return x
}
