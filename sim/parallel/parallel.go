// Package parallel runs functions on goroutines so that a panic of one is a panic of whoever waits
// for it. A program ends with a panic on any goroutine, wherever else it recovers; the library for
// Python is in a program that is not ours, and makes an error of the panic (Guarded).
//
// The API of this package is not promised: it may change in any version.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Panic is what a goroutine has panicked with.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// recovered makes a Panic of what recover has returned. One that has come from another goroutine
// stays as it is.
func recovered(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{r, debug.Stack()}
}

// Group is a sync.WaitGroup whose Wait panics if a function did. The zero value is ready for use.
type Group struct {
	all   sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Go calls f on a goroutine of its own.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				g.keep(recovered(r))
			}
		}()
		f()
	})
}

func (g *Group) keep(p *Panic) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		g.first = p
	}
}

// Wait waits until all functions have returned. If some have panicked it panics with the *Panic of
// the first one.
func (g *Group) Wait() {
	g.all.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// For calls f for each of 0..n-1, on at most so many goroutines; 0: as many as there are processors.
func For(workers, n int, f func(i int)) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var all Group
	for range min(workers, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

// Guarded calls f. A panic is an error, which is a *Panic.
func Guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	return f()
}
