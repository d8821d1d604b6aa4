//go:build !linux

package sim_test

import "time"

// cpuTime is the clock on the wall, where the time of a thread is not to be had.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

func lockThread() func() { return func() {} }
