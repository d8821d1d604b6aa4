//go:build !purego && !linux

package cpu

// amx reports whether this process may use tiles: only Linux is known here.
func amx() bool { return false }
