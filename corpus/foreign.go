package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ForeignError reports that a file that a command is to write exists, and that the command
// cannot have written it.
type ForeignError struct{ Path, Why string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s would be overwritten, and %s", e.Path, e.Why)
}

// CheckForeign returns a *ForeignError if a file exists and ours, which looks at its contents,
// says that no command has written it.
func CheckForeign(path, what string, ours func() bool) error {
	if _, err := os.Lstat(path); err != nil || ours() {
		return nil
	}
	return &ForeignError{path, "it is no " + what}
}

// HasRecords reports whether a log has any records.
func HasRecords(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// CheckUnlogged returns a *ForeignError if a directory has no log, which shows who has written
// it, but files that match one of some patterns.
func CheckUnlogged(dir, log, of string, patterns ...string) error {
	if HasRecords(filepath.Join(dir, log)) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, pattern := range patterns {
			if ok, _ := filepath.Match(pattern, e.Name()); ok {
				return &ForeignError{filepath.Join(dir, e.Name()), "there is no journal of the " + of + " that wrote it"}
			}
		}
	}
	return nil
}
