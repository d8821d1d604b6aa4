//go:build !race

package tier

// Race reports whether the race detector is on.
const Race = false
