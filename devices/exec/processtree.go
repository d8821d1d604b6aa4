package exec

import (
	"os"
	osexec "os/exec"
)

// processTree is a child with all that it has started, which end together: when the
// child ends, when it is killed, and when this program ends, however it does.
// Each system has its own means: see the files processtree_*.go.
//
//	newProcessTree(path, words)  prepares the program of a path, words[0] being its name
//	start                        starts it; the error says why it could not be
//	kill                         ends it all; may be called at any time, and again
//	wait                         waits until it has ended
//	failed                       after wait: why the program could not be started, if that came out later
//	ending                       after wait: how the child ended
type processTree struct {
	cmd *osexec.Cmd
	systemTree
}

// endingOf describes how a process ended.
func endingOf(s *os.ProcessState) string {
	if s.Exited() {
		return "ended with " + s.String()
	}
	return "ended: " + s.String()
}
