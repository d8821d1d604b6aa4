package measure

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// OfThread says whether Thread is the time of the thread alone.
const OfThread = true

// Thread returns the time that the calling thread has spent computing. The caller must be
// locked to its thread (Lock).
func Thread() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return Wall()
	}
	return time.Duration(t.Nano())
}

// Lock keeps the calling goroutine on its thread until the returned function is
// called.
func Lock() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
