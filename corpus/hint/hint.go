// Package hint has errors that come with a hint: what the user can do about them. The
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
	"syscall"
)

// hinted is an error with a hint.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// Add adds a hint, made from format and args, to an error; a nil error stays nil. An error that
// has a hint keeps it.
func Add(err error, format string, args ...any) error {
	hint := fmt.Sprintf(format, args...)
	if err == nil || hint == "" || Of(err) != "" {
		return err
	}
	return &hinted{err, hint}
}

// New returns an error with a hint. The error is made from format and args; the hint is used as it
// is.
func New(hint, format string, args ...any) error {
	return &hinted{fmt.Errorf(format, args...), hint}
}

// Of returns the hint of an error, "" if it has none. What to do about a full disk comes before
// what else may be done.
func Of(err error) string {
	var h *hinted
	switch {
	case !errors.As(err, &h):
		return ""
	case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT):
		return h.hint
	case strings.HasPrefix(h.hint, "name "):
		return "make room on the disk, or " + h.hint
	}
	return "make room on the disk; " + h.hint
}

// Bare returns a file system error without the name of the call and the file.
func Bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// DidYouMean returns the beginning of a hint, with names that may have been meant.
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
		if word != "" && strings.HasPrefix(n, word) || Distance(n, word) <= slips {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(x, y string) int {
		return cmp.Compare(Distance(x, word), Distance(y, word))
	})
	return near[:min(len(near), most)]
}

// Distance returns how many slips turn one name into another: a character too many, one
// too few, a wrong one, or two neighbours swapped.
func Distance(a, b string) int {
	var before []int // the row for a without its last two characters
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
