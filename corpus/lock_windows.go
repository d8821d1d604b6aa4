package corpus

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// systemLock locks f until it is closed or the process ends; ErrInUse if another process
// holds it. Any other error is that of a file system without locks: errNoLocks.
func systemLock(f *os.File) error {
	// A byte far beyond the end: what is locked cannot be read by others here.
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrInUse
	}
	return errNoLocks
}
