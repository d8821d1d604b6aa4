//go:build unix

package exec

// The supervisor of a child: what runs in its process. See processtree_unix.go.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// supervisorName is the name (argument 0) under which this program is started as a
// supervisor. No file has it.
const supervisorName = "mmafuzz: supervisor of"

// init turns any program that imports this package into a supervisor if it is started
// under that name. Programs need to do nothing for it, so that commands, tests and other
// people's programs can all be supervisors.
func init() {
	if len(os.Args) > 2 && os.Args[0] == supervisorName {
		Supervise(os.Args[1], os.Args[2:])
	}
}

// Supervisor, if it is not nil, is the command that runs Supervise of the words that follow it.
// A library needs one, whose program is somebody else's; an empty one does without supervisors.
var Supervisor []string

// Supervise runs the program of a path, with words, and then ends this process: it is the
// process that Supervisor starts.
func Supervise(path string, words []string) {
	supervise(path, words)
	syscall.Exit(0) // not os.Exit, which waits a second in a program with the race detector
}

// supervisorCommand returns the program of a supervisor, and its words before the child's.
func supervisorCommand() (program string, words []string, err error) {
	switch {
	case len(Supervisor) > 0:
		return Supervisor[0], Supervisor, nil
	case Supervisor != nil:
		return "", nil, errors.New("this program is no supervisor")
	}
	if program, err = os.Executable(); strings.HasSuffix(program, " (deleted)") { // as Linux says when the file was replaced
		program = "/proc/self/exe"
	}
	return program, []string{supervisorName}, err
}

// The files of a supervisor besides the child's stdin, stdout and stderr.
const (
	lifelineFile = 3
	reportFile   = 4
)

// supervise runs a program, and ends all that it has started when it ends, or when
// the lifeline ends. On Linux that includes what has left the process group: it
// becomes a child of the supervisor when its parent ends.
func supervise(path string, words []string) {
	runtime.LockOSThread() // Pdeathsig sends its signal at the end of the parent's thread
	for _, f := range []int{lifelineFile, reportFile} {
		syscall.CloseOnExec(f)
	}
	adoptOrphans()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	child, err := os.StartProcess(path, words, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: childAttributes()})
	if err != nil {
		report(outcome{Errno: errno(err)})
		return
	}
	letGo()
	cut := make(chan struct{})
	go func() {
		_, _ = os.NewFile(lifelineFile, "lifeline").Read(make([]byte, 1))
		close(cut)
	}()
	deaths := make(chan death)
	go reap(deaths)
	for ended := false; !ended; {
		select {
		case d := <-deaths:
			if ended = d.pid == child.Pid; ended {
				report(outcome{Status: uint32(d.status)})
			}
		case <-cut:
			ended = true
		case <-stop:
			ended = true
		}
	}
	endFamily(child.Pid, deaths)
}

// letGo closes the supervisor's own stdin, stdout and stderr, so that the child alone
// holds its pipes open.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = dup(int(null.Fd()), fd)
	}
}

// report writes what became of the child.
func report(o outcome) {
	b := binary.NativeEndian.AppendUint32(nil, o.Errno)
	b = binary.NativeEndian.AppendUint32(b, o.Status)
	_, _ = syscall.Write(reportFile, b)
}

// errno returns the number of a system error.
func errno(err error) uint32 {
	n := syscall.EINVAL
	errors.As(err, &n)
	return uint32(n)
}

// death is the end of a process below the supervisor.
type death struct {
	pid    int
	status syscall.WaitStatus
}

// reap waits for all children, own and adopted, and closes the channel when none is left.
func reap(deaths chan<- death) {
	defer close(deaths)
	for {
		var d death
		var err error
		if d.pid, err = syscall.Wait4(-1, &d.status, 0, nil); err == syscall.EINTR {
			continue
		} else if err != nil {
			return
		}
		deaths <- d
	}
}

// endFamily kills processes until none is left below the supervisor except those that
// the system does not let it kill. leader leads the child's process group.
func endFamily(leader int, deaths <-chan death) {
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		_ = syscall.Kill(-leader, syscall.SIGKILL)
		if !killDescendants() {
			return
		}
		for again := time.After(pause); ; {
			select {
			case _, more := <-deaths:
				if !more {
					return
				}
				continue
			case <-again:
			}
			break
		}
	}
}

// endingOfStatus describes how a child ended.
func endingOfStatus(s syscall.WaitStatus) string {
	switch {
	case s.Exited():
		return fmt.Sprintf("ended with exit status %d", s.ExitStatus())
	case s.CoreDump():
		return fmt.Sprintf("ended: signal: %v (core dumped)", s.Signal())
	}
	return fmt.Sprintf("ended: signal: %v", s.Signal())
}
