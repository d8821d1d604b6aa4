//go:build !unix && !windows

package exec

import (
	"os"
	osexec "os/exec"
)

// systemTree is empty on these systems: when a child is killed, the processes that it has
// started go on.
type systemTree struct{}

func newProcessTree(path string, words []string) (*processTree, error) {
	return &processTree{cmd: &osexec.Cmd{Path: path, Args: words}}, nil
}

func (f *processTree) start() error   { return f.cmd.Start() }
func (f *processTree) kill()          { _ = f.cmd.Process.Kill() }
func (f *processTree) wait()          { _ = f.cmd.Wait() }
func (f *processTree) failed() error  { return nil }
func (f *processTree) ending() string { return endingOf(f.cmd.ProcessState) }

// pendingOutput returns nil: these systems have no read that does not block.
func pendingOutput(*os.File, []byte) []byte { return nil }
