//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks f until it is closed or the process ends; ErrInUse if another process
// holds it. Any other error, such as that of a file system without locks, is ignored: the
// file is then not locked.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return nil
}
