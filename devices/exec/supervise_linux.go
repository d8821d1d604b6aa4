package exec

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes processes whose parent has ended children of this one, if they
// are below it.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// childAttributes has the child killed if even the supervisor is.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// killDescendants kills every process below this one. They are stopped first, from
// the top down, until there is no new one, so that none is started meanwhile. It
// reports whether some may be left that it can kill.
func killDescendants() bool {
	all := map[int]bool{}
	for more := true; more; {
		more = false
		for _, pid := range descendants(os.Getpid()) {
			if !all[pid] {
				all[pid], more = syscall.Kill(pid, syscall.SIGSTOP) != syscall.EPERM, true
			}
		}
	}
	some := len(all) == 0 // between two looks, or there is no /proc
	for pid, may := range all {
		if may {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			some = true
		}
	}
	return some
}

// descendants returns the processes below one, parents first.
func descendants(root int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	children := map[int][]int{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if parent := parentOf(name); parent > 0 {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all[1:]
}

// parentOf returns the parent of a process, 0 if it is gone. Its file is: number,
// name in parentheses, which may hold anything, state, parent.
func parentOf(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
