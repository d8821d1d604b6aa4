package exec

import "time"

// SplitQuoted cuts a command into words.
var SplitQuoted = splitQuoted

// SetHelloTime changes the time that a child has for its header until the test
// ends.
func SetHelloTime(t interface{ Cleanup(func()) }, d time.Duration) {
	old := helloTime
	helloTime = d
	t.Cleanup(func() { helloTime = old })
}

// Hurry gives children less time to end by themselves.
func Hurry() { endTime = 300 * time.Millisecond }
