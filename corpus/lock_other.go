//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package corpus

import "os"

// lockFile does nothing: files are not locked on this system.
func lockFile(*os.File) error { return nil }
