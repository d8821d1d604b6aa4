package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// say writes a message to stderr, as all commands write theirs.
func (a *app) say(format string, args ...any) { say(a.stderr, format, args...) }

// say writes a message. Names come from files of strangers, so nothing in the arguments can
// begin a line that looks like another message: line ends in strings and in names of files
// are shown, and further lines of an error, such as the output of a compiler, are indented.
func say(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = printable.Line(arg)
		case error:
			args[i] = printable.Error(arg)
		}
	}
	fmt.Fprintf(w, "mmafuzz: %s\n", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  "))
}
