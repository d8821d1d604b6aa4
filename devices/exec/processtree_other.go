//go:build !unix && !windows

package exec

import (
	"os"
	osexec "os/exec"
)

// systemTree is nothing here: a child that is killed leaves behind what it has started.
type systemTree struct{}

func newProcessTree(path string, words []string) (*processTree, error) {
	return &processTree{cmd: &osexec.Cmd{Path: path, Args: words}}, nil
}

func (f *processTree) start() error   { return f.cmd.Start() }
func (f *processTree) kill()          { _ = f.cmd.Process.Kill() }
func (f *processTree) wait()          { _ = f.cmd.Wait() }
func (f *processTree) failed() error  { return nil }
func (f *processTree) ending() string { return endingOf(f.cmd.ProcessState) }

// waiting returns nothing: it cannot look without waiting.
func waiting(*os.File, []byte) []byte { return nil }
