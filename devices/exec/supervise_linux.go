package exec

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the new parent of processes below it whose own parent
// ends.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// childAttributes has the child killed if the supervisor itself is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// killDescendants kills every process below this one. It stops them first, from the top
// down, until it finds no new one, so that none is started meanwhile. It reports whether
// processes that it can kill may be left.
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
	some := len(all) == 0 // one may be started just now, or there is no /proc
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

// parentOf returns the parent of a process, 0 if the process is gone. The file stat has
// the process's number, its name in parentheses (which may hold anything), its state and
// its parent.
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
