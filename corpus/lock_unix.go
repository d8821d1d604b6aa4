//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"os"
	"syscall"
)

// systemLock locks f until it is closed or the process ends; ErrInUse if another process
// holds it. Any other error is that of a file system without locks: errNoLocks.
func systemLock(f *os.File) error {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrInUse
	}
	return errNoLocks
}
