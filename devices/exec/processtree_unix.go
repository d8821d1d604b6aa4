//go:build unix

package exec

import (
	"encoding/binary"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"syscall"
)

// systemTree is what a processTree needs on Unix. Between this program and a child there is a
// supervisor: this program under another name (see supervise). The supervisor has the
// reading end of a pipe, the lifeline, whose other end is here and nowhere else: when that
// end is closed, by kill or because this program has ended, the supervisor kills the
// processTree. The child has the pipes of stdin, stdout and stderr itself: nothing passes
// through the supervisor.
type systemTree struct {
	lifeline *os.File
	report   *os.File // the supervisor's last word: see outcome
	theirs   []*os.File
	outcome  *outcome
	words    int // at the end of the supervisor's command: the child's path and words
}

// outcome is what a supervisor reports.
type outcome struct {
	Errno  uint32 // why the program could not be started; 0: it was started
	Status uint32 // how it ended: a syscall.WaitStatus
}

const outcomeSize = 8

func newProcessTree(path string, words []string) (*processTree, error) {
	f := &processTree{cmd: &osexec.Cmd{Path: path, Args: words, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}}
	program, before, err := supervisorCommand()
	if err != nil {
		return f, nil // without a supervisor: see start
	}
	var pipes [4]*os.File
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeAll(pipes[:])
			return nil, err
		}
	}
	f.lifeline, f.report, f.theirs = pipes[1], pipes[2], []*os.File{pipes[0], pipes[3]}
	f.cmd.Path, f.cmd.Args = program, slices.Concat(before, []string{path}, words)
	f.words = 1 + len(words)
	f.cmd.ExtraFiles = f.theirs
	return f, nil
}

// start starts the supervisor. Where that is impossible, as for a program that runs
// under an emulator, it starts the child itself as the leader of a process group. The
// group also keeps Ctrl-C at the terminal from the child: this program ends its children
// in order.
func (f *processTree) start() error {
	err := f.cmd.Start()
	closeAll(f.theirs)
	if err != nil && f.lifeline != nil {
		closeAll([]*os.File{f.lifeline, f.report})
		old, child := f.cmd, f.cmd.Args[len(f.cmd.Args)-f.words:]
		f.systemTree = systemTree{}
		f.cmd = &osexec.Cmd{Path: child[0], Args: child[1:], Stdin: old.Stdin, Stdout: old.Stdout, Stderr: old.Stderr, SysProcAttr: old.SysProcAttr}
		err = f.cmd.Start()
	}
	return err
}

func (f *processTree) kill() {
	if f.lifeline == nil {
		_ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) // members may have outlived the leader
		return
	}
	_ = f.lifeline.Close()
}

func (f *processTree) wait() {
	_ = f.cmd.Wait() // its outcome is in ProcessState
	f.kill()         // processes that it has left behind may hold its output open
	if f.report == nil {
		return
	}
	body, err := io.ReadAll(io.LimitReader(f.report, outcomeSize))
	_ = f.report.Close()
	if err == nil && len(body) == outcomeSize {
		f.outcome = &outcome{binary.NativeEndian.Uint32(body), binary.NativeEndian.Uint32(body[4:])}
	}
}

func (f *processTree) failed() error {
	if f.outcome == nil || f.outcome.Errno == 0 {
		return nil
	}
	return syscall.Errno(f.outcome.Errno)
}

func (f *processTree) ending() string {
	if f.outcome == nil {
		return endingOf(f.cmd.ProcessState) // of the supervisor, or of a child without one
	}
	return endingOfStatus(syscall.WaitStatus(f.outcome.Status))
}

// pendingOutput reads what has arrived already, without waiting for more.
func pendingOutput(f *os.File, buf []byte) []byte {
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
