package main

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// The exit codes. The first three are those of diff(1). exitIncomplete is that of a command
// that did not do all that it was asked to do, whatever it found: EX_TEMPFAIL of
// sysexits(3), on which schedulers requeue.
const (
	exitAgree      = 0
	exitMismatch   = 1
	exitTrouble    = 2
	exitIncomplete = 75
)

// errMismatch is returned by a command that did its work and found differences.
var errMismatch = errors.New("mismatches found")

// incompleteError is returned by a command that did not do all of its work: it was
// interrupted, or its target has stopped answering. Running the same command again resumes
// it.
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
	return errors.As(err, new(*incompleteError)) || errors.As(err, new(*fuzz.GoneError)) || errors.Is(err, context.Canceled) || errors.Is(err, corpus.ErrNotBegun)
}
