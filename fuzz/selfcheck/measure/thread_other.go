//go:build !linux

package measure

import "time"

// OfThread reports whether Thread is the time of the thread alone.
const OfThread = false

// Thread is the time on the wall, where that of a thread is not to be had.
func Thread() time.Duration { return Wall() }

// Lock has nothing to do.
func Lock() (unlock func()) { return func() {} }
