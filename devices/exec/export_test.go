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

// LifeOf returns how many answers children give that have ended so: answers, and for how many more
// they were asked.
func LifeOf(ends [][2]int) int {
	var l life
	for _, e := range ends {
		l.add(e[0], e[1])
	}
	return l.known()
}
