//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package corpus

import "os"

// lockFile does nothing: this system has no advisory locks.
func lockFile(*os.File) error { return nil }
