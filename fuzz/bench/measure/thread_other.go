//go:build !linux

package measure

import "time"

// OfThread says whether Thread is the time of the thread alone.
const OfThread = false

// Thread returns the wall time: the time of a thread is not measured on this system.
func Thread() time.Duration { return Wall() }

// Lock does nothing.
func Lock() (unlock func()) { return func() {} }
