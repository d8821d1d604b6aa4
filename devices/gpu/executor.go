package gpu

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// Executor makes calls of a driver, one at a time, on a thread of its own, because a
// driver keeps the current device or context for each thread. Waiting for a call has a
// limit, so that a driver that hangs is an error like others.
type Executor struct {
	jobs  chan func()
	stuck atomic.Pointer[HungError]
}

// NewExecutor starts an executor. Its goroutine never ends, because a thread that has used
// a driver must not end.
func NewExecutor() *Executor {
	x := &Executor{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for job := range x.jobs {
			job()
		}
	}()
	return x
}

// HungError reports that a call of a driver does not return.
type HungError struct {
	Call  string
	Limit time.Duration
}

func (e *HungError) Error() string {
	return fmt.Sprintf("%s has not returned within %s: the driver hangs; look at the kernel's log (dmesg), and reset the GPU or reboot if it stays so", e.Call, e.Limit)
}

// Do runs f, which calls the driver, on the executor's thread and waits for it, but not
// longer than the limit; call names it in errors. Once an f has not returned in time, Do
// runs no other.
func (x *Executor) Do(call string, limit time.Duration, f func() error) error {
	if h := x.stuck.Load(); h != nil {
		return h
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	done := make(chan error, 1)
	select {
	case x.jobs <- func() { done <- parallel.Guarded(f) }:
	case <-timer.C:
		return x.hung(call, limit)
	}
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return x.hung(call, limit)
	}
}

func (x *Executor) hung(call string, limit time.Duration) error {
	x.stuck.CompareAndSwap(nil, &HungError{call, limit})
	return x.stuck.Load()
}
