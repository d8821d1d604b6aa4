package infer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// JournalFile is the journal of an inference in its directory.
const JournalFile = "journal"

// resultFiles are the files of a result, beside the journal.
var resultFiles = [...]string{"model.json", "best.json", "report.md", "report.json", "tree.dot", "tree.svg"}

// CheckDir returns an error if the files of a result cannot be written to a directory, so
// that this is known before the targets are asked anything: if one of these files exists and is
// a directory, or belongs to a target, or there is no journal of the inference that wrote it.
func CheckDir(dir string, targets ...string) error {
	if err := journal.CheckWriter(dir, journal.ByInfer); err != nil {
		return err
	}
	log := filepath.Join(dir, JournalFile)
	begun := journal.HasRecords(log)
	for _, name := range resultFiles {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case info.IsDir():
			return fmt.Errorf("%s is a directory, where a file of that name is to be written", path)
		}
		for _, t := range targets {
			if computesBy(t, info) {
				return fmt.Errorf("%s belongs to the target %s and would be overwritten", path, t)
			}
		}
		if !begun {
			return fmt.Errorf("%s would be overwritten or removed, and there is no journal of the inference that wrote it", path)
		}
	}
	return nil
}

// computesBy reports whether a target's name has a file in it: that of a model, or of a
// command.
func computesBy(target string, file os.FileInfo) bool {
	_, rest, _ := strings.Cut(target, ":")
	return slices.ContainsFunc(append(strings.Fields(rest), rest), func(word string) bool {
		info, err := os.Stat(word)
		return err == nil && os.SameFile(info, file)
	})
}

// outcome is what matters of a result that is there already.
type outcome struct {
	Verdict Verdict `json:"verdict"`
	Stats   struct {
		Queries int `json:"queries"`
	} `json:"stats"`
}

// maxInferenceReport is a size in bytes above that of the report of any inference.
const maxInferenceReport = 64 << 20

// earlier returns the outcome of an earlier run of an inference; the zero outcome if that
// has left no report that can be read, and no model, which is written first.
func earlier(dir string) outcome {
	var o outcome
	body, err := corpus.ReadFile(filepath.Join(dir, "report.json"), "report of an inference", maxInferenceReport)
	if err == nil && json.Unmarshal(body, &o) == nil {
		return o
	}
	if _, err := os.Stat(filepath.Join(dir, "model.json")); err == nil {
		return outcome{Verdict: Found}
	}
	return outcome{}
}

// beats reports whether an earlier outcome is to stay: a run of the same inference that
// was cut short by its limits knows less than one that ended, or that went further.
func (o *outcome) beats(r *Report) bool {
	return r.Verdict == Exhausted && o.Verdict != "" &&
		(o.Verdict != Exhausted || o.Stats.Queries > r.Stats.Queries)
}

// Save writes the files of a result and its report to the directory of the inference, and
// removes those that an earlier run of it with another result has left. If this run was cut
// short by its limits and an earlier one knew more, the earlier files stay: then Save
// returns their verdict, else "".
func (r *Result) Save(dir string, t *Report) (stays Verdict, err error) {
	if old := earlier(dir); old.beats(t) {
		return old.Verdict, nil
	}
	return "", r.Write(dir, t)
}

// Write writes the files whatever the outcome of an earlier run.
func (r *Result) Write(dir string, t *Report) error {
	var program, text bytes.Buffer
	if err := mma.WriteModel(&program, r.Model(t.Instruction)); err != nil {
		return err
	}
	if err := t.Document().Write(&text, "markdown", document.Options{}); err != nil {
		return err
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	model, best := program.Bytes(), []byte(nil)
	if r.Verdict != Found {
		model, best = nil, model
	}
	if r.Params == (mma.Params{}) {
		best = nil // it ended before there was one
	}
	dot, svg := t.picture()
	bodies := [...][]byte{model, best, text.Bytes(), append(data, '\n'), []byte(dot), []byte(svg)}
	for i, body := range bodies {
		if err := corpus.ReplaceOrRemoveFile(filepath.Join(dir, resultFiles[i]), body); err != nil {
			return err
		}
	}
	return nil
}
