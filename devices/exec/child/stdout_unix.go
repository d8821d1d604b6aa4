//go:build unix

package child

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Stdout returns standard output for answers alone. What the program prints there
// otherwise goes to standard error, also what C libraries of drivers print.
func Stdout() (io.Writer, error) {
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
