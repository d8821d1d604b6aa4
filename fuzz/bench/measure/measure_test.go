package measure

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		s                      Series
		median, low, high, min float64
	}{
		{nil, 0, 0, 0, 0},
		{Series{3}, 3, 3, 3, 3},
		{Series{4, 2}, 3, 2.5, 3.5, 2},
		{Series{9, 1, 5}, 5, 3, 7, 1},
		{Series{8, 2, 4, 6, 100}, 6, 4, 8, 2},
	} {
		low, high := c.s.Quartiles()
		if d := cmp.Diff([]float64{c.median, c.low, c.high, c.min}, []float64{c.s.Median(), low, high, c.s.Min()}); d != "" {
			t.Errorf("%v: %s", c.s, d)
		}
	}
	s := Series{8, 2, 4, 6, 100}
	if got, want := s.Spread(), 2.0/6; got != want {
		t.Errorf("spread %v, want %v", got, want)
	}
	if s[0] != 8 {
		t.Error("the series was sorted in place")
	}
	if d := cmp.Diff(Series{16, 4, 8, 12, 200}, s.Scaled(2)); d != "" {
		t.Error(d)
	}
}

// TestTiming has a clock that each call moves by 3 ns.
func TestTiming(t *testing.T) {
	now, calls := time.Duration(0), 0
	clock := func() time.Duration { return now }
	work := func() error { calls++; now += 3; return nil }
	s, err := Timing{clock, 4, 100}.Of(work)
	if err != nil || cmp.Diff(Series{3, 3, 3, 3}, s) != "" {
		t.Errorf("got %v, %v", s, err)
	}
	if calls < 4*34 {
		t.Errorf("%d calls are not four runs of 100 ns", calls)
	}
	broken := errors.New("broken")
	for after := range 12 {
		n := 0
		_, err := Timing{clock, 2, 20}.Of(func() error {
			now += 3
			if n++; n > after {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d calls: %v", after, err)
		}
	}
}

// TestThread checks that the clock of a thread runs while it computes.
func TestThread(t *testing.T) {
	defer Lock()()
	began := Thread()
	for i := 0; Thread() == began; i++ {
		runtime.KeepAlive(chain(1 << 10))
		if i == 1<<24 {
			t.Fatal("the clock stands still")
		}
	}
	if c := Cycle(); c <= 0 {
		t.Errorf("a cycle takes %v ns", c)
	}
}

// TestOperations checks the table and what batches are filled with.
func TestOperations(t *testing.T) {
	names := map[string]bool{}
	for _, op := range Operations {
		i, err := mma.Lookup(op.Arch, op.Inst)
		if err != nil {
			t.Fatal(err)
		}
		if i.Name != op.Inst || i.Refuse != "" || names[op.Name] {
			t.Errorf("%s: %s %s", op.Name, i.Name, i.Refuse)
		}
		names[op.Name] = true
		s := Shape(i, 2)
		if s.K < 16 || s.K%i.K != 0 {
			t.Errorf("%s: K is %d", op.Name, s.K)
		}
		b := Batch(i, s, 1, Finite)
		if d := cmp.Diff(b, Batch(i, s, 1, Finite)); d != "" {
			t.Errorf("%s: another batch: %s", op.Name, d)
		}
		f := i.A.Get()
		for n := range len(b.A) / int(f.Width) {
			if c := f.Decode(mma.Load(b.A, int(f.Width), n)).Class; c == fp.NaN || c == fp.Inf {
				t.Fatalf("%s: a[%d] is not finite", op.Name, n)
			}
		}
	}
}
