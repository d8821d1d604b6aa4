package infer

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Calls are the words in which a report says what its reader can do.
type Calls struct {
	Effort    string // the bound of the search, before its value
	NaN, Zero string // what compares NaNs, or the signs of zeros, by class; "": nothing does
	Reader    string // what reads an input as it is written
	Reference string // what compares the unit, TARGET, with a known arithmetic
	Again     string // what searches longer, and with what
}

// commands are the words of the command mmafuzz, Python those of the Python package.
var (
	commands = Calls{"--effort ", "--nan class", "--zero class", "eval", "mmafuzz run --a TARGET --b REFERENCE",
		"the same command with a larger limit searches longer, with the answers that it has"}
	Python = Calls{"effort=", "bits=False", "", "mmafuzz.minimize", "mmafuzz.compare(f, REFERENCE)",
		"the same call with a larger effort, or more seconds, searches longer"}
)

// calls are the words of a report, those of the command unless others are set.
func (t *Report) calls() *Calls {
	if t.Calls == nil {
		return &commands
	}
	return t.Calls
}

// against is what compares a target with a known arithmetic.
func (c *Calls) against(target string) string {
	return strings.Replace(c.Reference, "TARGET", readable.ShellWord(target), 1)
}
