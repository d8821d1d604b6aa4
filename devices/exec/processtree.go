package exec

import (
	"os"
	osexec "os/exec"
)

// processTree is a child with all processes that it has started. They end together: when
// the child ends, when it is killed, and when this program ends, however that happens.
// Each system has its own means: see the files processtree_*.go.
//
//	newProcessTree(path, words)  prepares the program of a path, words[0] being its name
//	start                        starts it; the error says why it could not be
//	kill                         ends all processes; may be called at any time, and again
//	wait                         waits until the child has ended
//	failed                       after wait: why the program could not be started, if start did not say so
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
