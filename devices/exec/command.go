package exec

import (
	"errors"
	"fmt"
	"io/fs"
	osexec "os/exec"
	"strings"
)

// split cuts a command into words at blanks. Quotes, single or double, hold a
// word together; nothing else is special, no shell is involved.
func split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the command is missing: exec:COMMAND [ARGS]")
	}
	return words, nil
}

// startError explains why a program could not be started.
func startError(program string, err error) error {
	switch {
	case errors.Is(err, osexec.ErrDot):
		return fmt.Errorf("%q is in this directory, not on the path: write ./%s", program, program)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osexec.ErrNotFound):
		return fmt.Errorf("program %q is not found: name a file, as ./%s, or a program on the path (of a script: its interpreter too)", program, strings.TrimPrefix(program, "./"))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("program %q is not executable: chmod +x, or name its interpreter first", program)
	}
	return fmt.Errorf("program %q cannot be started: %w", program, err)
}
