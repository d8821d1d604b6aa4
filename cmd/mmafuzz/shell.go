package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// shellWord writes a word as a POSIX shell reads it, in characters that can be seen,
// for commands that people copy. Line ends at the end of a word stay what they are: no
// shell has another way to write them.
func shellWord(word string) string {
	ends := len(word) - len(strings.TrimRight(word, "\n"))
	visible := word[:len(word)-ends]
	switch {
	case word == "":
		return "''"
	case ends > 0:
		return shellWord(visible) + "'" + word[len(visible):] + "'"
	case printable.Line(word) != word:
		return `"$(printf '` + octal(word) + `')"`
	case strings.ContainsFunc(word, special):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// special reports whether a shell may see more in a character than itself.
func special(r rune) bool {
	switch {
	case r >= utf8.RuneSelf, 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	case r == filepath.Separator: // a backslash, on Windows
		return false
	}
	return !strings.ContainsRune("/._-+=:,@%", r)
}

// octal writes a word as a format of printf(1).
func octal(word string) string {
	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; {
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '-' && i == 0: // not an option
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// shellPath writes the name of a file as an argument, which no flag is.
func shellPath(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "." + string(filepath.Separator) + name
	}
	return shellWord(name)
}

// shellCommand writes a command as a shell reads it.
func shellCommand(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return strings.Join(quoted, " ")
}
