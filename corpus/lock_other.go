//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package corpus

import "os"

// systemLock does nothing: files are not locked on this system.
func systemLock(*os.File) error { return errNoLocks }
