//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package corpus

import "os"

// Lock does nothing: this system has no advisory locks.
func Lock(*os.File) error { return nil }
