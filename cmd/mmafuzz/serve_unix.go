//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// answersOnly returns standard output for answers alone. What this process prints there
// otherwise goes to standard error, also what C libraries of drivers print.
func answersOnly() (io.Writer, error) {
	fd, err := unix.Dup(1)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.Dup2(2, 1); err != nil {
		return nil, os.NewSyscallError("dup2", err)
	}
	return os.NewFile(uintptr(fd), "stdout"), nil
}
