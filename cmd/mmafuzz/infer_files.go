package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// inferenceFiles are the files of a result, beside the journal.
var inferenceFiles = [...]string{"model.json", "best.json", "report.md", "report.json", "tree.dot", "tree.svg"}

// checkPlace says, before anything is asked, why a directory cannot get the files of
// a result of the given targets: one of them is a directory, or what a target
// computes by, or nobody's: there is no journal of the inference that it would be of.
func checkPlace(dir string, targets ...string) error {
	const elsewhere = "name another directory with --out"
	journal, err := os.Stat(filepath.Join(dir, "journal"))
	begun := err == nil && journal.Size() > 0
	for _, name := range inferenceFiles {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return withHint(err, elsewhere)
		case info.IsDir():
			return hinted(elsewhere, "%s is a directory, and a file of that name is to be written", path)
		}
		for _, t := range targets {
			if computesBy(t, info) {
				return hinted(elsewhere, "%s is what %s computes by, and a file of that name is to be written", path, t)
			}
		}
		if !begun {
			return hinted(elsewhere, "there is a %s, but no journal of an inference that it is of: it would be overwritten or removed", path)
		}
	}
	return nil
}

// computesBy says whether a target's name has a file in it: that of a model, or of a
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
	Verdict infer.Verdict `json:"verdict"`
	Stats   struct {
		Queries int `json:"queries"`
	} `json:"stats"`
}

// maxInferenceReport is more bytes than the report of any inference takes.
const maxInferenceReport = 64 << 20

// earlier returns what an earlier run of an inference came to: nothing, if it has left
// no report that can be read, and no model, which it writes first.
func earlier(dir string) outcome {
	var o outcome
	body, err := corpus.ReadFile(filepath.Join(dir, "report.json"), "report of an inference", maxInferenceReport)
	if err == nil && json.Unmarshal(body, &o) == nil {
		return o
	}
	if _, err := os.Stat(filepath.Join(dir, "model.json")); err == nil {
		return outcome{Verdict: infer.Found}
	}
	return outcome{}
}

// beats says whether an earlier outcome is to stay: a run of the same inference that
// was cut short by its limits knows less than one that ended, or that went further.
func (o *outcome) beats(r *infer.Report) bool {
	return r.Verdict == infer.Exhausted && o.Verdict != "" &&
		(o.Verdict != infer.Exhausted || o.Stats.Queries > r.Stats.Queries)
}

// errAsked says that a recording was given to a command that asks a target.
func errAsked(t devices.Target) error {
	return hinted("compare it: mmafuzz compare, or mmafuzz run --a "+t.Name()+" --b TARGET",
		"%s is a recording: it answers what was recorded, and nothing that is asked", t.Name())
}

// writeInference writes the files of a result, and removes those that an earlier part
// of the inference, which came to another one, has left.
func writeInference(dir string, r *infer.Result, t *infer.Report) error {
	var program, text bytes.Buffer
	if err := mma.WriteModel(&program, r.Model(t.Instruction)); err != nil {
		return err
	}
	if err := t.Markdown(&text); err != nil {
		return err
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	model, best := program.Bytes(), []byte(nil)
	if r.Verdict != infer.Found {
		model, best = nil, model
	}
	if r.Params == (mma.Params{}) {
		best = nil // it ended before there was one
	}
	dot, svg := t.Picture()
	bodies := [...][]byte{model, best, text.Bytes(), append(data, '\n'), []byte(dot), []byte(svg)}
	for i, body := range bodies {
		name := filepath.Join(dir, inferenceFiles[i])
		if len(body) > 0 {
			err = corpus.ReplaceFile(name, body)
		} else if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
