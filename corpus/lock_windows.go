package corpus

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile keeps a file for this process until it is closed, also by the end of the
// process; ErrInUse if another has it.
func lockFile(f *os.File) error {
	// A byte far behind the end: what is locked cannot be read by others here.
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrInUse
	}
	return nil
}
