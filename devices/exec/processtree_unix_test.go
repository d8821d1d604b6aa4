//go:build unix

package exec_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	greetings["processTree"] = func() { processTree(os.Args[2], os.Args[3]) }
	greetings["orphan"] = func() { orphan(os.Args[2], os.Args[3]) }
	greetings["busy"] = func() { busy(os.Args[2]) }
	greetings["parent"] = func() { parent(os.Args[2], os.Args[3]) }
}

// processTree is a good child with a busy grandchild, and one whose parent has ended.
// All of them, and the supervisor above them, write their numbers to a directory. In
// sessions of their own, "setsid", they have left the child's process group.
func processTree(how, dir string) {
	note(dir, "child")
	os.WriteFile(filepath.Join(dir, "supervisor"), fmt.Append(nil, os.Getppid()), 0o666)
	begin(how, "@busy", filepath.Join(dir, "grandchild"))
	begin(how, "@orphan", how, dir)
	child.Main(child.Options{}, good("ampere", inst, nil))
}

// orphan starts a busy process and ends.
func orphan(how, dir string) {
	begin(how, "@busy", filepath.Join(dir, "orphan"))
}

func begin(how string, args ...string) {
	cmd := osexec.Command(os.Args[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: how == "setsid"}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// busy writes its number to a file and computes for ever.
func busy(file string) {
	note(filepath.Dir(file), filepath.Base(file))
	for n := uint32(1); ; n = n*1664525 + 1013904223 {
		if n == 0 {
			runtime.Gosched()
		}
	}
}

// note writes the number of this process, whole.
func note(dir, name string) {
	tmp := filepath.Join(dir, "."+name)
	os.WriteFile(tmp, fmt.Append(nil, os.Getpid()), 0o666)
	os.Rename(tmp, filepath.Join(dir, name))
}

// parent is a program with the processTree as a target, which computes until it is killed.
func parent(how, dir string) {
	target, err := devices.Open(command("processTree", how, dir))
	if err != nil {
		panic(err)
	}
	u, err := target.Open(&target.Instructions()[0])
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 64})
	for out := make([]byte, 4*64); ; {
		if err := u.Run(context.Background(), in, out); err != nil {
			panic(err)
		}
	}
}

// relatives are the processes of a processTree.
var relatives = []string{"supervisor", "child", "grandchild", "orphan"}

// hows are how a processTree's processes are started. What leaves the process group is
// only found on Linux.
func hows() []string {
	if runtime.GOOS == "linux" {
		return []string{"group", "setsid"}
	}
	return []string{"group"}
}

// gathered returns the numbers of a processTree's processes when all of them run.
func gathered(t *testing.T, dir string) map[string]int {
	t.Helper()
	pids := map[string]int{}
	for _, name := range relatives {
		patiently(t, name+" has not begun", func() bool {
			body, err := os.ReadFile(filepath.Join(dir, name))
			pids[name], _ = strconv.Atoi(string(body))
			return err == nil && pids[name] > 0
		})
	}
	return pids
}

// patiently waits for something to be so, for long enough on any machine.
func patiently(t *testing.T, otherwise string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

func gone(t *testing.T, pids map[string]int) {
	t.Helper()
	for name, pid := range pids {
		patiently(t, fmt.Sprintf("%s, process %d, is still there", name, pid), func() bool { return ended(pid) })
	}
}

// ended reports whether a process has ended. A zombie has, whoever is to wait for it.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestKilled kills this program, in the way that it cannot notice, while a child
// computes that has started busy processes: none of them outlives it.
func TestKilled(t *testing.T) {
	for _, how := range hows() {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			cmd := osexec.Command(os.Args[0], "@parent", how, dir)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			pids := gathered(t, dir)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			gone(t, pids)
		})
	}
}

// TestSupervisorKilled kills the supervisor: on Linux the child goes with it.
func TestSupervisorKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no signal at a parent's end here")
	}
	dir := t.TempDir()
	u := openUnit(t, open(t, command("processTree", "group", dir)))
	pids := gathered(t, dir)
	if err := syscall.Kill(pids["supervisor"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, map[string]int{"supervisor": pids["supervisor"], "child": pids["child"]})
	for _, name := range []string{"grandchild", "orphan"} { // nobody is left who would do that
		_ = syscall.Kill(pids[name], syscall.SIGKILL)
	}
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 1})
	if err := u.Run(t.Context(), in, make([]byte, 4)); err != nil {
		t.Errorf("a new child does not answer: %v", err)
	}
}

// TestFamilyEnds closes a target in order: what its child has started ends too.
func TestFamilyEnds(t *testing.T) {
	for _, how := range hows() {
		dir := t.TempDir()
		target := open(t, command("processTree", how, dir))
		pids := gathered(t, dir)
		if err := target.Close(); err != nil {
			t.Fatal(err)
		}
		gone(t, pids)
	}
}
