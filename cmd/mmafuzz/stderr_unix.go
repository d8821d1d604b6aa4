//go:build unix

package main

import (
	"os"
	"syscall"
)

// progressStream returns a file on which writing what nobody reads any more is an error like
// any other. On standard error itself it ends the program, and with it a campaign whose
// progress lines went to a pipe that was closed.
func progressStream() *os.File {
	fd, err := syscall.Dup(int(os.Stderr.Fd()))
	if err != nil {
		return os.Stderr
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), os.Stderr.Name())
}
