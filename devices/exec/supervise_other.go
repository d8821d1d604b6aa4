//go:build unix && !linux

package exec

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans does nothing: these systems cannot do it, so that processes which have
// left the child's process group are not found.
func adoptOrphans() {}

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func dup(from, to int) error { return unix.Dup2(from, to) }

// killDescendants does nothing: the process group has been killed already.
func killDescendants() bool { return false }
