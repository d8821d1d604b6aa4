package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// File is the name of the journal in the directory of a command.
const File = "journal"

// Writer is a command that goes on from what it has written. Where it writes belongs to it:
// no other command writes there (CheckWriter).
type Writer string

// The writers.
const (
	ByRun       Writer = "mmafuzz run"
	ByShard     Writer = "mmafuzz run --campaign"
	ByMerge     Writer = "mmafuzz merge"
	ByInfer     Writer = "mmafuzz infer"
	ByStudy     Writer = "mmafuzz study"
	ByChecklist Writer = "mmafuzz doctor --checklist"
	ByCompare   Writer = "mmafuzz compare"
	ByRecord    Writer = "mmafuzz record"
)

// known reports whether there is such a command.
func (w Writer) known() bool {
	return slices.Contains([]Writer{ByRun, ByShard, ByMerge, ByInfer, ByStudy, ByChecklist, ByCompare, ByRecord}, w)
}

// flag is the flag that says where a command writes.
func (w Writer) flag() string {
	if w == ByChecklist {
		return "--checklist"
	}
	return "--out"
}

// takes reports whether a command may write where another one has written: merge may bring
// the units of all shards together in the directory of one.
func (w Writer) takes(other Writer) bool {
	return w == other || w == ByMerge && other == ByShard
}

// WriterError reports that another command has written what is at a path.
type WriterError struct {
	Path string
	By   Writer
	dir  bool
}

func (e *WriterError) Error() string {
	what := "file"
	if e.dir {
		what = "directory"
	}
	return fmt.Sprintf("%s is a %s that %s has written", e.Path, what, e.By)
}

// CheckWriter returns a *WriterError, with a hint, if other commands have written what is at
// the path where a command is to write, and it has not.
func CheckWriter(path string, me Writer) error {
	by, dir := writersOf(path)
	if len(by) == 0 || slices.ContainsFunc(by, me.takes) {
		return nil
	}
	return hint.Add(&WriterError{path, by[0], dir}, "name another one with %s, or move %s away", me.flag(), readable.ShellPath(path))
}

// writersOf returns the commands that have written what is at a path, most of which are known
// by what they go on from.
func writersOf(path string) (by []Writer, dir bool) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false
	}
	if !info.IsDir() {
		if corpus.IsRecording(path) {
			by = append(by, ByRecord)
		}
		return by, false
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, err := os.Lstat(filepath.Join(path, name))
			return err == nil
		})
	}
	if w := HeadOf(filepath.Join(path, File)).By; w != "" {
		by = append(by, w)
	}
	if has("campaign.json") && has("units") {
		by = append(by, ByShard)
	}
	if has(".compare.log", filepath.Join("bundles", ".compare")) {
		by = append(by, ByCompare)
	}
	return by, true
}

// CheckUnlogged returns a *corpus.ForeignError if a directory has no log, which shows who has written
// it, but files that match one of some patterns.
func CheckUnlogged(dir, log, of string, patterns ...string) error {
	if HasRecords(filepath.Join(dir, log)) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, pattern := range patterns {
			if ok, _ := filepath.Match(pattern, e.Name()); ok {
				return &corpus.ForeignError{Path: filepath.Join(dir, e.Name()), Why: "there is no journal of the " + of + " that wrote it"}
			}
		}
	}
	return nil
}
