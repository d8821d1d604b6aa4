package exec

import (
	"errors"
	"fmt"
	"io/fs"
	osexec "os/exec"
	"path/filepath"
	"strings"
)

// split cuts a command into words at blanks, as this system's users quote them.
func split(command string) ([]string, error) {
	return splitQuoted(command, filepath.Separator == '\\')
}

// splitQuoted cuts a command into words as a POSIX shell does: single quotes, double quotes and
// backslashes hold a word together or make a character plain. Nothing else is special: no shell
// is involved. Where paths have backslashes, one is special only before a quote that is not
// inside quotes.
func splitQuoted(command string, paths bool) ([]string, error) {
	s := splitter{paths: paths}
	for command != "" {
		n, err := s.take(command)
		if err != nil {
			return nil, err
		}
		command = command[n:]
	}
	s.end()
	if len(s.words) == 0 || s.words[0] == "" {
		return nil, errors.New("the command is missing: exec:COMMAND [ARGS]")
	}
	return s.words, nil
}

// splitter collects the words of a command.
type splitter struct {
	paths  bool // backslashes are those of paths
	words  []string
	word   strings.Builder
	inWord bool // word has begun, if only with quotes that hold nothing
}

// end ends a word, if one has begun.
func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

// take reads what a command begins with and returns its length: a blank, something in quotes, or
// a character, byte by byte.
func (s *splitter) take(command string) (int, error) {
	if command[0] == ' ' || command[0] == '\t' {
		s.end()
		return 1, nil
	}
	s.inWord = true
	switch {
	case command[0] == '\'':
		return s.single(command)
	case command[0] == '"':
		return s.double(command)
	case s.paths && escapes(command, `'"`), !s.paths && escapes(command, ""):
		s.plain(command[1])
		return 2, nil
	}
	s.word.WriteByte(command[0])
	return 1, nil
}

// single reads what is in single quotes.
func (s *splitter) single(command string) (int, error) {
	inside, _, closed := strings.Cut(command[1:], "'")
	if !closed {
		return 0, errors.New("the quote ' is not closed")
	}
	s.word.WriteString(inside)
	return len(inside) + 2, nil
}

// double reads what is in double quotes.
func (s *splitter) double(command string) (int, error) {
	for i := 1; i < len(command); i++ {
		switch {
		case command[i] == '"':
			return i + 1, nil
		case !s.paths && escapes(command[i:], "$`\"\\\n"):
			i++
			s.plain(command[i])
		default:
			s.word.WriteByte(command[i])
		}
	}
	return 0, errors.New(`the quote " is not closed`)
}

// escapes reports whether a text begins with a backslash before one of some characters, or
// before any if none are given.
func escapes(text, characters string) bool {
	return len(text) > 1 && text[0] == '\\' && (characters == "" || strings.IndexByte(characters, text[1]) >= 0)
}

// plain adds a character that a backslash has made plain. With the end of a line it vanishes.
func (s *splitter) plain(c byte) {
	if c != '\n' {
		s.word.WriteByte(c)
	}
}

// startError explains why a program could not be started.
func startError(program string, err error) error {
	switch {
	case errors.Is(err, osexec.ErrDot):
		return fmt.Errorf("%q is in this directory, not on the path: write ./%s", program, program)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osexec.ErrNotFound):
		if filepath.IsAbs(program) {
			return fmt.Errorf("there is no program %q", program)
		}
		return fmt.Errorf("program %q is not found: name a file, as ./%s, or a program on the path (of a script: its interpreter too)", program, strings.TrimPrefix(program, "./"))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("program %q is not executable: chmod +x, or name its interpreter first", program)
	}
	return fmt.Errorf("program %q cannot be started: %w", program, err)
}
