// Package hint has errors that come with a remedy: what the user can do about them. The
// command line prints it below the error.
//
// The API of this package is not promised: it may change in any version.
package hint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hinted is an error with a remedy.
type hinted struct {
	error
	remedy string
}

func (e *hinted) Unwrap() error { return e.error }

// Add adds a hint to an error; a nil error stays nil. An error that has a hint keeps it.
func Add(err error, format string, args ...any) error {
	remedy := fmt.Sprintf(format, args...)
	if err == nil || remedy == "" || Of(err) != "" {
		return err
	}
	return &hinted{err, remedy}
}

// New is a new error with a remedy.
func New(remedy, format string, args ...any) error {
	return &hinted{fmt.Errorf(format, args...), remedy}
}

// Of returns the hint of an error, "" if it has none.
func Of(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.remedy
	}
	return ""
}

// Bare is a file system error without the name of the call and the file.
func Bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// DidYouMean begins a hint with names that may have been meant.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "? "
}

// Nearest returns at most three names that a word may have been meant for: those that begin
// with it, and those within one or two typing errors.
func Nearest(word string, names []string) []string {
	const most = 3
	slips := min(2, len(word)/2)
	var near []string
	for _, n := range names {
		if word != "" && strings.HasPrefix(n, word) || mma.Distance(n, word) <= slips {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(x, y string) int {
		return cmp.Compare(mma.Distance(x, word), mma.Distance(y, word))
	})
	return near[:min(len(near), most)]
}
