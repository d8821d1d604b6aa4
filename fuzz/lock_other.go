//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fuzz

import "os"

// lock does nothing: this system has no advisory locks.
func lock(*os.File) error { return nil }
