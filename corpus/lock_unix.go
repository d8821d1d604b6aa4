//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"os"
	"syscall"
)

// lockFile keeps a file for this process until it is closed, also by the end of the
// process; ErrInUse if another has it. Where a file system knows no locks, there is
// none.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return nil
}
