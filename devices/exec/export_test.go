package exec

import (
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// SplitQuoted cuts a command into words.
var SplitQuoted = splitQuoted

// SetHelloTime changes the time that a child has for its header until the test
// ends.
func SetHelloTime(t interface{ Cleanup(func()) }, d time.Duration) {
	old := helloTime
	helloTime = d
	t.Cleanup(func() { helloTime = old })
}

// Hurry gives children less time to end by themselves, but those with the race detector, which
// waits a second at the end of a program.
func Hurry() {
	if endTime = 300 * time.Millisecond; tier.Race {
		endTime = 3 * time.Second
	}
}

// LifeOf returns how many answers children give that have ended so: answers, and for how many more
// they were asked.
func LifeOf(ends [][2]int) int {
	var l life
	for _, e := range ends {
		l.add(e[0], e[1])
	}
	return l.known()
}

// IdleChildren returns how many children wait for a request of a unit's target.
func IdleChildren(u devices.Unit) int {
	l := u.(*unit).pool
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.idle)
}
