//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fuzz

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes from a journal until the file is closed, also by
// the end of the process. Where a file system knows no locks, there is none.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), ErrInUse)
	}
	return nil
}
