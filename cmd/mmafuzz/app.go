package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// app is what all commands share: streams, global flags and what follows from
// them. Results go to stdout, everything else to stderr.
type app struct {
	stdin  io.Reader
	stdout *printable.Output
	stderr io.Writer

	json      bool
	colorFlag string
	logFormat string
	verbose   bool
	widthFlag int
	figures   string // directory of --figures; "": none

	color    bool // on stdout
	colorErr bool // on stderr
	width    int  // columns of stdout
	widthErr int  // columns of stderr
	tty      bool // stderr is a terminal: the status line is rewritten in place
	log      zerolog.Logger
}

// maxWidth is the largest --width: some output is padded to its width, which takes memory.
const maxWidth = 10_000

// setUp applies the global flags and the environment.
func (a *app) setUp() error {
	if err := cmp.Or(checkWord("color", a.colorFlag, colors...), checkWord("log-format", a.logFormat, logFormats...)); err != nil {
		return err
	}
	switch w := a.widthFlag; {
	case w != 0 && w < 40:
		return fmt.Errorf("--width is %d, at least 40 are needed", w)
	case w > maxWidth:
		return fmt.Errorf("--width is %d, at most %d are possible", w, maxWidth)
	}
	a.color, a.colorErr = a.useColor(a.stdout), a.useColor(a.stderr)
	a.tty = isTerminal(a.stderr) && os.Getenv("TERM") != "dumb"
	a.width, a.widthErr = a.widthFlag, terminalWidth(a.stderr)
	if a.width == 0 {
		a.width = terminalWidth(a.stdout)
	}
	level := zerolog.WarnLevel
	if a.verbose {
		level = zerolog.DebugLevel
	}
	// It quotes the values of fields itself where they need it.
	message := func(m any) string { return printable.Line(fmt.Sprint(m)) }
	zerolog.ErrorHandler = func(error) {} // it would write to standard error
	var out io.Writer = zerolog.ConsoleWriter{Out: printable.Raw(a.stderr), NoColor: !a.colorErr, TimeFormat: "15:04:05", FormatMessage: message}
	if a.logFormat == "json" {
		out = a.stderr
	}
	a.log = zerolog.New(out).
		Level(level).With().Timestamp().Logger()
	slog.SetDefault(slog.New(zerolog.NewSlogHandler(a.log))) // that of packages
	return nil
}

// useColor follows the flag, then NO_COLOR, CLICOLOR_FORCE, and the terminal.
func (a *app) useColor(w io.Writer) bool {
	switch {
	case a.colorFlag != "auto":
		return a.colorFlag == "always"
	case os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return isTerminal(w) && os.Getenv("TERM") != "dumb"
}

// isTerminal reports whether a stream, an output or an input, is one.
func isTerminal(stream any) bool {
	if w, ok := stream.(io.Writer); ok {
		stream = printable.Underneath(w)
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the columns of a terminal, 100 for anything else.
func terminalWidth(w io.Writer) int {
	if f, ok := printable.Underneath(w).(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n >= 40 {
			return n
		}
	}
	return 100
}

// command is how the user calls the program, for the commands that it suggests.
func command() string {
	const source = "./cmd/mmafuzz"
	self := os.Args[0]
	if !strings.ContainsRune(self, filepath.Separator) {
		return "mmafuzz"
	}
	if !strings.Contains(self, "go-build") {
		return readable.ShellPath(self)
	}
	if _, err := os.Stat(filepath.Join(source, "main.go")); err != nil {
		return "mmafuzz"
	}
	return "go run " + source
}
