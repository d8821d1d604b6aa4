package pages

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// unfinished is a kind of directory that a command has written and that has no page before
// another command has been run.
type unfinished struct {
	name   string // of what it is
	is     func(path string) bool
	remedy func(path string) string
}

// begunBy reports whether the journal in a directory is that of a command.
func begunBy(path string, by journal.Writer) bool {
	return journal.HeadOf(filepath.Join(path, journal.File)).By == by
}

var unfinishedKinds = []unfinished{
	{
		name: "a study that has not come to its end",
		is:   func(path string) bool { return !has(path, "result.json") && begunBy(path, journal.ByStudy) },
		remedy: func(path string) string {
			h := study.Result{} // as far as the options have it
			_ = json.Unmarshal(journal.HeadOf(filepath.Join(path, journal.File)).Options, &h)
			return "run it again, to go on: " + h.Command(path)
		},
	},
	{
		name:   "an inference that has not come to its end",
		is:     func(path string) bool { return !has(path, infer.ReportFile) && begunBy(path, journal.ByInfer) },
		remedy: sameCommand("infer"),
	},
	{
		name:   "a comparison that has not come to its end",
		is:     func(path string) bool { return !has(path, compare.ResultFile) && compare.Begun(path) },
		remedy: sameCommand("compare"),
	},
}

func has(path, name string) bool { return holds(name)(path, true) }

func sameCommand(name string) func(path string) string {
	return func(path string) string {
		return fmt.Sprintf("run the same mmafuzz %s with --out %s again, to go on", name, readable.ShellPath(path))
	}
}
