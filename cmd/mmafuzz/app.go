package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// app is what all commands share: streams, global flags and what follows from
// them. Results go to stdout, everything else to stderr.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	json      bool
	colorFlag string
	verbose   bool
	widthFlag int

	color bool // colour on stdout
	width int
	tty   bool // stderr is a terminal: the status line is rewritten in place
	log   zerolog.Logger
}

// setUp settles what the global flags and the environment say together.
func (a *app) setUp() error {
	switch a.colorFlag {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("--color is %q, not auto, always or never", a.colorFlag)
	}
	if a.widthFlag != 0 && a.widthFlag < 40 {
		return fmt.Errorf("--width is %d, at least 40 are needed", a.widthFlag)
	}
	a.color = a.useColor()
	a.tty = isTerminal(a.stderr) && os.Getenv("TERM") != "dumb"
	a.width = a.widthFlag
	if a.width == 0 {
		a.width = terminalWidth(a.stdout)
	}
	level := zerolog.WarnLevel
	if a.verbose {
		level = zerolog.DebugLevel
	}
	a.log = zerolog.New(zerolog.ConsoleWriter{Out: a.stderr, NoColor: !a.color, TimeFormat: "15:04:05"}).
		Level(level).With().Timestamp().Logger()
	return nil
}

// useColor follows the flag, then NO_COLOR, CLICOLOR_FORCE, and the terminal.
func (a *app) useColor() bool {
	switch {
	case a.colorFlag != "auto":
		return a.colorFlag == "always"
	case os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return isTerminal(a.stdout) && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the columns of a terminal, 100 for anything else.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n >= 40 {
			return n
		}
	}
	return 100
}

// version describes the program: its module version, or devel.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// environment describes the machine, for bundles.
func environment() map[string]string {
	return map[string]string{
		"mmafuzz": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
	}
}
