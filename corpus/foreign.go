package corpus

import (
	"fmt"
	"os"
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
