//go:build unix && !linux

package exec

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans does nothing: there is no such thing here, so what has left the
// child's process group is not found.
func adoptOrphans() {}

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func dup(from, to int) error { return unix.Dup2(from, to) }

// killDescendants does nothing, the group being killed already.
func killDescendants() bool { return false }
