//go:build unix

package exec

import (
	"os"
	osexec "os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a process group, so that what it starts
// itself dies with it, and so that Ctrl-C at the terminal reaches only mmafuzz,
// which ends its children in order.
func ownGroup(cmd *osexec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills a process and all of its group. Members may have outlived the
// leader.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// waiting reads what has arrived already, without waiting for more.
func waiting(f *os.File, buf []byte) []byte {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	n := 0
	_ = conn.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), buf) // our ends of pipes do not block
		return true
	})
	return buf[:max(n, 0)]
}
