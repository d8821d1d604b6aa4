package main

import (
	"context"
	"errors"

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
