package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// exitIncomplete is the exit status of a command that did not do all that it was asked
// to do, whatever it found: EX_TEMPFAIL of sysexits(3), on which schedulers requeue.
const exitIncomplete = 75

// incompleteError is returned by a command that did not do all of its work: it was
// interrupted, or its target has stopped answering. The same command goes on.
type incompleteError struct{ error }

func (e *incompleteError) Unwrap() error { return e.error }

// incomplete marks an error as one of work that is left; nil stays nil.
func incomplete(err error) error {
	if err == nil {
		return nil
	}
	return &incompleteError{err}
}

// isIncomplete reports whether an error is one of work that is left.
func isIncomplete(err error) bool {
	return errors.As(err, new(*incompleteError)) || errors.As(err, new(*fuzz.GoneError)) || errors.Is(err, context.Canceled)
}

// writeUnfinished says what was not compared or not examined, and how to go on.
func (u *runUI) writeUnfinished(s *fuzz.State) {
	lines := []string{}
	unexamined := uint64(0)
	for _, st := range s.Pairs {
		unexamined += st.Unexamined
	}
	if u.left != nil {
		lines = append(lines, u.left.String())
	}
	if unexamined > 0 {
		lines = append(lines, readable.Thousands(unexamined)+" of the mismatches are in no bucket yet: what they have in common was not looked for")
	}
	if lines != nil && (u.left == nil || u.left.Why != fuzz.NothingCompared) {
		lines = append(lines, fmt.Sprintf("to go on: the same command with --out %s", readable.ShellPath(u.dir)))
	}
	if u.left != nil && u.left.Why == fuzz.NothingCompared {
		lines = append(lines, "to go on: give more --time or --count, other generators, or a recording that has inputs")
	}
	if unexamined == 0 && u.left == nil {
		return
	}
	for _, text := range lines {
		fmt.Fprint(u.stdout, readable.Hanging(text, u.width))
	}
}
