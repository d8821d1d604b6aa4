package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// ResultFile is the file of a Directory that has the result.
const ResultFile = "compare.json"

// mark is a file beside the bundles. It shows that a comparison has made their directory.
const mark = ".compare"

// Directory is where the result of a comparison and the bundles are kept. It is held from
// the beginning of the comparison, so that no other comparison writes it at the same time.
type Directory struct {
	path string
	file *corpus.Replacement
	log  *journal.Journal[unit] // of a comparison that can be resumed; nil: none
}

// Begun reports whether a comparison has written bundles into a directory.
func Begun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, bundlesDir, mark))
	return err == nil
}

// Hold creates a directory, if it is missing, and holds it. The error is corpus.ErrInUse if
// another comparison holds it.
func Hold(path string) (*Directory, error) {
	if err := journal.CheckWriter(path, journal.ByCompare); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	d := &Directory{path: path}
	if err := corpus.CheckForeign(d.File(), "result of compare", func() bool { return isResult(d.File()) }); err != nil {
		return nil, err
	}
	var err error
	d.file, err = corpus.Replace(d.File())
	return d, err
}

// isResult reports whether a file is a result of compare, of this version or of another one.
func isResult(file string) bool {
	body, err := corpus.ReadFile(file, "result of compare", maxResult)
	if err != nil {
		return false
	}
	_, err = parse(body)
	return err == nil || errors.Is(err, errResultVersion)
}

// File returns the name of the file with the result.
func (d *Directory) File() string { return filepath.Join(d.path, ResultFile) }

// ForeignError reports that the directory for the bundles exists, but was not made by a
// comparison.
type ForeignError struct{ Dir string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s exists, but compare has not made it: it is not replaced", e.Dir)
}

// check returns an error if anything that no comparison has written would be removed. What lies
// in the directories to keep, of two machines each, stays.
func (d *Directory) check(keep map[string]bool) error {
	bundles := filepath.Join(d.path, bundlesDir)
	entries, err := os.ReadDir(bundles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 && !Begun(d.path) { // an empty one may be of a comparison that was killed
		return &ForeignError{bundles}
	}
	for _, e := range entries {
		if e.Name() == mark || keep[e.Name()] || corpus.IsLitter(e) {
			continue
		}
		if err := bundle.Removable(filepath.Join(bundles, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the bundles that an earlier comparison has left, which check has looked at. The mark
// stays: without it, what a killed comparison leaves would be nobody's.
func (d *Directory) clear() error {
	bundles := filepath.Join(d.path, bundlesDir)
	entries, err := os.ReadDir(bundles)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == mark {
			continue
		}
		if err := corpus.RemoveTree(filepath.Join(bundles, e.Name())); err != nil {
			return err
		}
	}
	return d.mark()
}

// mark makes the directory of bundles that of a comparison.
func (d *Directory) mark() error {
	bundles := filepath.Join(d.path, bundlesDir)
	if err := os.MkdirAll(bundles, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundles, mark), nil, 0o666)
}

// Save writes the result, as a whole or not at all, removes the log, and holds the directory
// no longer.
func (d *Directory) Save(r *Result) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := d.file.Save(append(body, '\n')); err != nil || d.log == nil {
		return err
	}
	err = d.log.Remove()
	d.log = nil
	return err
}

// Release holds the directory no longer. The result and the log that are there stay, but not a log
// without records: nothing has begun.
func (d *Directory) Release() error {
	if d == nil {
		return nil
	}
	var err error
	if d.log != nil {
		end := d.log.Close
		if !d.log.Begun() {
			end = d.log.Remove
		}
		err, d.log = end(), nil
	}
	return errors.Join(err, d.file.Discard())
}
