//go:build !unix

package exec

import (
	"os"
	osexec "os/exec"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*osexec.Cmd) {}

// killGroup kills the process alone.
func killGroup(p *os.Process) { _ = p.Kill() }

// waiting returns nothing: it cannot look without waiting.
func waiting(*os.File, []byte) []byte { return nil }
