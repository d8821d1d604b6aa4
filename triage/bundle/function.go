package bundle

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit may be a function of a Go program (devices.Func, package fuzztest). Its target has no
// kind, and no other program can open it: its bundle can be shown, but not run again by
// mmafuzz.

// functionOf returns the name of the side that is such a function, "" if none is.
func functionOf(m *corpus.Mismatch) string {
	for _, target := range []string{m.A.Target, m.B.Target} {
		if isFunction(target) {
			return target
		}
	}
	return ""
}

func isFunction(target string) bool {
	_, isArch := mma.FindArch(target)
	return target != "" && !strings.Contains(target, ":") && !isArch
}

// testName matches names that go test -run finds.
var testName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Test|Fuzz)\w*$`) })

// Rerun returns the words of the command that runs the case of a bundle again, ready for a
// shell; nil if no command does.
func Rerun(m *corpus.Mismatch, dir string) []string { return RerunBy("mmafuzz", m, dir) }

// RerunBy is Rerun for somebody who calls mmafuzz by a certain command. It has no --allow-exec:
// the bundle may be a stranger's, and without that mmafuzz shows the bundle's command and asks.
func RerunBy(mmafuzz string, m *corpus.Mismatch, dir string) []string {
	if functionOf(m) == "" {
		return []string{mmafuzz, "replay", readable.ShellPath(dir)}
	}
	return goTest(m)
}

// goTest returns the words of the command that runs the test that found a mismatch, which may be called as
// the function; nil: it is not known.
func goTest(m *corpus.Mismatch) []string {
	for _, name := range []string{m.Test, functionOf(m)} {
		if testName().MatchString(name) {
			return []string{"go", "test", "-run", "'^" + name + "$'"}
		}
	}
	return nil
}

// functionError says how a function is run; nil if no side is one.
func functionError(m *corpus.Mismatch) error {
	name, where := functionOf(m), "run that program, or its test by go test -run NAME, again"
	if name == "" {
		return nil
	}
	if words := goTest(m); words != nil {
		where = strings.Join(words, " ") + " in its package"
	}
	return fmt.Errorf("%s is a Go function, which only its own program can run: %s", printable.Line(name), where)
}
