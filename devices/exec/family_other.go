//go:build !unix && !windows

package exec

import (
	"os"
	osexec "os/exec"
)

// kin is nothing here: a child that is killed leaves behind what it has started.
type kin struct{}

func newFamily(path string, words []string) (*family, error) {
	return &family{cmd: &osexec.Cmd{Path: path, Args: words}}, nil
}

func (f *family) start() error   { return f.cmd.Start() }
func (f *family) kill()          { _ = f.cmd.Process.Kill() }
func (f *family) wait()          { _ = f.cmd.Wait() }
func (f *family) failed() error  { return nil }
func (f *family) ending() string { return endingOf(f.cmd.ProcessState) }

// waiting returns nothing: it cannot look without waiting.
func waiting(*os.File, []byte) []byte { return nil }
