package sat

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes a solver end when this program ends, and keeps Ctrl-C from it, since its
// context ends it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limitMemory limits the address space of a process.
func limitMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
