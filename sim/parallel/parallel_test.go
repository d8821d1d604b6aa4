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
