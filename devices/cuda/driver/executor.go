package driver

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// executor calls the driver, one call at a time, on a thread of its own.
type executor struct {
	jobs  chan func()
	stuck atomic.Pointer[HungError]
}

// newExecutor starts an executor. Its goroutine never ends: a thread that has used
// the driver must not.
func newExecutor() *executor {
	x := &executor{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for job := range x.jobs {
			job()
		}
	}()
	return x
}

// HungError says that a call of the driver does not return.
type HungError struct {
	Call  string
	Limit time.Duration
}

func (e *HungError) Error() string {
	return fmt.Sprintf("%s has not returned within %s: the driver hangs; look at the kernel's log (dmesg) for messages of NVRM, and reset the GPU or reboot if it stays so", e.Call, e.Limit)
}

// do has a call made and waits for it, but not longer than the limit. After a call
// that did not return there are no others.
func (x *executor) do(name string, limit time.Duration, f func() error) error {
	if h := x.stuck.Load(); h != nil {
		return h
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	done := make(chan error, 1)
	select {
	case x.jobs <- func() { done <- f() }:
	case <-timer.C:
		return x.hung(name, limit)
	}
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return x.hung(name, limit)
	}
}

func (x *executor) hung(name string, limit time.Duration) error {
	x.stuck.CompareAndSwap(nil, &HungError{name, limit})
	return x.stuck.Load()
}
