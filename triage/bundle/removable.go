package bundle

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// LostError reports that something is in the way that mmafuzz has not written.
type LostError struct{ Path string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s would be removed, and mmafuzz has not written it", e.Path)
}

// Removable returns a *LostError if there is anything in a directory or below it besides
// bundles as they were written, litter, and files of given names, which are directly in it.
func Removable(root string, own ...string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && corpus.IsLitter(d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && Is(path):
			name, err := stranger(path)
			if err == nil && name != "" {
				err = &LostError{filepath.Join(path, name)}
			}
			if err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir(), filepath.Dir(path) == root && slices.Contains(own, d.Name()):
			return nil
		}
		return &LostError{path}
	})
}
