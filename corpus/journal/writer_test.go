package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

// TestCheckWriter makes what each command writes, as far as it is looked at, and asks for every
// other one. That the commands write this is tested with the commands (writers.txtar).
func TestCheckWriter(t *testing.T) {
	journal := func(by Writer) map[string]string {
		return map[string]string{File: fmt.Sprintf(`{"journal":"test","v":1,"by":%q,"versions":{},"options":{}}`, by)}
	}
	written := map[Writer]map[string]string{
		ByRun:       journal(ByRun),
		ByShard:     {"campaign.json": "{}", "units/0000000": ""},
		ByMerge:     {File: journal(ByMerge)[File], "campaign.json": "{}", "units/merged.0": ""},
		ByInfer:     journal(ByInfer),
		ByStudy:     journal(ByStudy),
		ByChecklist: journal(ByChecklist),
		ByCompare:   {"compare.json": "{}", "bundles/.compare": ""},
		ByRecord:    {"": "mmafuzz recording 1\n"},
	}
	for by, files := range written {
		path := filepath.Join(t.TempDir(), "at")
		for name, body := range files {
			if name == File {
				line, err := Line(rawJSON(body))
				if err != nil {
					t.Fatal(err)
				}
				body = string(line)
			}
			file := filepath.Join(path, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(body), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		for me := range written {
			err := CheckWriter(path, me)
			fits := me == by || me == ByMerge && by == ByShard || me == ByShard && by == ByMerge
			var writer *WriterError
			if fits != (err == nil) || !fits && (!errors.As(err, &writer) || writer.By != by || hint.Of(err) == "") {
				t.Errorf("%s in %s: %v", me, by, err)
			}
		}
	}
}

// rawJSON is JSON that is written as it is.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// TestNoWriter looks at what no command has written, or not yet.
func TestNoWriter(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWriter(filepath.Join(dir, "nothing"), ByRun); err != nil {
		t.Error(err)
	}
	for name, body := range map[string]string{"journal": "a diary", "campaign.json": "{}", "compare.json": "{}", "notes": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(CheckWriter(dir, ByStudy), CheckWriter(filepath.Join(dir, name), ByStudy)); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
}
