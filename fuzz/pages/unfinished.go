package pages

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
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

// journalHead is what the first records of the journals of studies and inferences have.
type journalHead struct {
	study.Result        // as far as its heading has it
	Instruction  string `json:"instruction"` // of an inference
}

var unfinishedKinds = []unfinished{
	{
		name: "the directory of a campaign's shards, which are to be merged",
		is:   func(path string) bool { return has(path, "campaign.json") && !has(path, fuzz.JournalFile) },
		remedy: func(path string) string {
			return fmt.Sprintf("mmafuzz merge %s --out RESULT, then mmafuzz report RESULT", readable.ShellPath(path))
		},
	},
	{
		name: "a study that has not come to its end",
		is:   func(path string) bool { return !has(path, "result.json") && headOf(path).Study != "" },
		remedy: func(path string) string {
			h := headOf(path)
			return "run it again, to go on: " + h.Command(path)
		},
	},
	{
		name:   "an inference that has not come to its end",
		is:     func(path string) bool { return !has(path, infer.ReportFile) && headOf(path).Instruction != "" },
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

// headOf returns what the first record of the journal in a directory says, as far as it can be
// read.
func headOf(dir string) (head journalHead) {
	if json.Unmarshal(corpus.FirstRecord(filepath.Join(dir, fuzz.JournalFile)), &head) != nil {
		return journalHead{}
	}
	return head
}
