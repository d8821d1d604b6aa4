package parallel

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

// mistaken is a function whose name a stack shows.
func mistaken() { panic("here") }

// TestGroup holds that all functions run to their end, and that a panic of one, with the stack of its
// own goroutine, is one of Wait, also through a group within a group.
func TestGroup(t *testing.T) {
	var done atomic.Int32
	err := Guarded(func() error {
		var outer Group
		outer.Go(func() {
			var inner Group
			inner.Go(mistaken)
			inner.Wait()
		})
		for range 8 {
			outer.Go(func() { done.Add(1) })
		}
		outer.Wait()
		return nil
	})
	var p *Panic
	if !errors.As(err, &p) || p.Value != "here" || !strings.Contains(string(p.Stack), "parallel.mistaken") {
		t.Errorf("the panic is %v", err)
	}
	if done.Load() != 8 {
		t.Errorf("%d functions of 8 have returned", done.Load())
	}
}

// TestNoPanic holds that without a panic nothing is added.
func TestNoPanic(t *testing.T) {
	want := errors.New("an error")
	err := Guarded(func() error {
		var g Group
		g.Go(func() {})
		g.Wait()
		return want
	})
	if err != want {
		t.Errorf("%v, want the function's error", err)
	}
}

// TestFor checks that every number comes once, whatever the number of goroutines, and that a panic of one
// is that of the caller.
func TestFor(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		for _, n := range []int{0, 1, 50} {
			calls := make([]atomic.Int32, n)
			For(workers, n, func(i int) { calls[i].Add(1) })
			for i := range calls {
				if c := calls[i].Load(); c != 1 {
					t.Errorf("%d workers: %d of %d is called %d times", workers, i, n, c)
				}
			}
		}
	}
	err := Guarded(func() error {
		For(2, 10, func(i int) {
			if i == 7 {
				mistaken()
			}
		})
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "here\n") {
		t.Errorf("%v", err)
	}
}
