package kernel

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
)

// The files of a result.
const (
	kernelFile = "kernel.json"
	pageFile   = "report.md"
	jsonFile   = "report.json"
)

// CheckDir returns a *corpus.ForeignError if a directory has files of a result's names that
// no inference of a kernel has written.
func CheckDir(dir string) error {
	ours := func() bool {
		var r Report
		data, err := os.ReadFile(filepath.Join(dir, jsonFile))
		return err == nil && json.Unmarshal(data, &r) == nil && r.Result != nil && r.Verdict != "" && r.Shape.M > 0
	}
	for _, name := range []string{kernelFile, pageFile, jsonFile} {
		if err := corpus.CheckForeign(filepath.Join(dir, name), "inference of a kernel", ours); err != nil {
			return err
		}
	}
	return nil
}

// Save writes the files of a result to a directory.
func (r *Report) Save(dir string) error {
	var kernel, page bytes.Buffer
	if r.Kernel != nil {
		if err := r.Kernel.Write(&kernel); err != nil {
			return err
		}
	}
	if err := r.Document().Write(&page, "markdown", document.Options{}); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, body := range map[string][]byte{kernelFile: kernel.Bytes(), pageFile: page.Bytes(), jsonFile: append(data, '\n')} {
		if err := corpus.ReplaceOrRemoveFile(filepath.Join(dir, name), body); err != nil {
			return err
		}
	}
	return nil
}
