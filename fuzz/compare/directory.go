package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// ResultFile is the file of a Directory that has the result.
const ResultFile = "compare.json"

// mark is a file beside the bundles: a comparison has made their directory.
const mark = ".compare"

// Directory is where the result of a comparison is kept, and the bundles. It is held from
// the beginning of the comparison, so that no other one writes it at the same time.
type Directory struct {
	path string
	file *corpus.Replacement
	log  *corpus.Log // of a comparison that goes on where it was interrupted; nil: none
}

// Hold makes a directory and holds it. corpus.ErrInUse: another comparison does.
func Hold(path string) (*Directory, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	d := &Directory{path: path}
	var err error
	d.file, err = corpus.Replace(d.File())
	return d, err
}

// File is the file of the result.
func (d *Directory) File() string { return filepath.Join(d.path, ResultFile) }

// ForeignError reports that a directory where bundles are to be written is none that a
// comparison has made.
type ForeignError struct{ Dir string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is there, but no compare has made it: it is not replaced", e.Dir)
}

// clear removes the bundles that an earlier comparison has left, and nothing else.
func (d *Directory) clear() error {
	bundles := filepath.Join(d.path, bundlesDir)
	marked := filepath.Join(bundles, mark)
	if _, err := os.Stat(bundles); err == nil {
		if _, err := os.Stat(marked); err != nil {
			return &ForeignError{bundles}
		}
		if err := os.RemoveAll(bundles); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(bundles, 0o777); err != nil {
		return err
	}
	return os.WriteFile(marked, nil, 0o666)
}

// Save writes the result, all of it or nothing, and holds the directory no longer.
func (d *Directory) Save(r *Result) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := d.file.Save(append(body, '\n')); err != nil || d.log == nil {
		return err
	}
	err = d.log.Close()
	d.log = nil
	return errors.Join(err, os.Remove(filepath.Join(d.path, logFile)))
}

// Release leaves the result that is there, unless Save has replaced it.
func (d *Directory) Release() error {
	if d == nil {
		return nil
	}
	var err error
	if d.log != nil {
		err = d.log.Close()
		d.log = nil
	}
	return errors.Join(err, d.file.Discard())
}
