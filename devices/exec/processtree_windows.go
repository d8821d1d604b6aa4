package exec

import (
	"os"
	osexec "os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// systemTree is what a processTree needs on Windows: a job object, whose processes the system
// ends when its last handle is closed. This program has the only one, so that it is
// closed even if the program is killed. Processes that a child starts in the moments
// before it is put into the job are not in it.
type systemTree struct {
	mu  sync.Mutex
	job windows.Handle // 0: it is closed
}

func newProcessTree(path string, words []string) (*processTree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &processTree{cmd: &osexec.Cmd{Path: path, Args: words}, systemTree: systemTree{job: job}}, nil
}

func (f *processTree) start() error {
	err := f.cmd.Start()
	if err == nil {
		err = f.join()
	}
	if err != nil {
		_ = windows.CloseHandle(f.job)
	}
	return err
}

// join puts the child into the job; one that has ended already needs none.
func (f *processTree) join() error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(f.cmd.Process.Pid))
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(p)
	if err := windows.AssignProcessToJobObject(f.job, p); err != nil && f.cmd.Process.Kill() == nil {
		_ = f.cmd.Wait()
		return err
	}
	return nil
}

func (f *processTree) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job != 0 {
		_ = windows.TerminateJobObject(f.job, 1)
	}
}

func (f *processTree) wait() {
	_ = f.cmd.Wait() // its outcome is in ProcessState
	f.kill()         // processes that it has left behind may hold its output open
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = windows.CloseHandle(f.job)
	f.job = 0
}

func (f *processTree) failed() error  { return nil }
func (f *processTree) ending() string { return endingOf(f.cmd.ProcessState) }

// pendingOutput returns nil: there is no read here that does not block.
func pendingOutput(*os.File, []byte) []byte { return nil }
