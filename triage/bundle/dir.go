package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// Is reports whether a directory is meant to be a bundle. It does not check that the
// bundle is complete; corpus.ReadBundle does.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "MANIFEST"))
	return err == nil && info.Mode().IsRegular()
}

// Below returns the bundles in a directory and below it. It skips directories whose names
// begin with a dot: a killed program leaves unfinished bundles there.
func Below(root string) ([]string, error) { return below(root, Is) }

// Products returns the bundles of matrix products below a directory, as Below does.
func Products(root string) ([]string, error) {
	return below(root, func(dir string) bool { return kernel.Rerun(dir) != nil })
}

func below(root string, is func(dir string) bool) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case is(path):
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs, err
}

// tileFiles is the pattern of the names of recordings of whole tiles.
const tileFiles = "tile-[ab].rec"

// stranger returns the name of a file in a directory that does not belong in a bundle, ""
// if there is none. Litter does not count.
func stranger(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !corpus.IsBundleFile(e.Name()) && !corpus.IsLitter(e) {
			return e.Name(), nil
		}
	}
	return "", nil
}

// OccupiedError is returned where a bundle is to be written and something else is.
type OccupiedError struct{ Dir, Name string }

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("%s is where a bundle is to be written, and mmafuzz has not written %s", e.Dir, e.Name)
}

// Vacant returns an *OccupiedError if something is at the place of a new bundle that is
// neither an empty directory nor a bundle without anything that its reader has added: writing
// the bundle would remove it.
func Vacant(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return &OccupiedError{dir, filepath.Base(dir)}
	}
	name, err := stranger(dir)
	if err == nil && name == "" && !Is(dir) {
		name, err = firstIn(dir)
	}
	if err == nil && name != "" {
		err = &OccupiedError{dir, name}
	}
	return err
}

// firstIn returns the name of the first file in a directory that is not litter, "" if there
// is none.
func firstIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !corpus.IsLitter(e) {
			return e.Name(), err
		}
	}
	return "", err
}

// Complete reports whether a directory holds a complete bundle, whatever its reader has put
// beside it. If not, and err is nil, the bundle may be written: damage says what is wrong
// with the present one, nil if nothing is there. err is an *OccupiedError if something else
// is there.
func Complete(dir string) (ok bool, damage, err error) {
	if _, damage = corpus.ReadBundle(dir); damage == nil {
		return true, nil, nil
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	name := filepath.Base(dir)
	if err == nil && info.IsDir() {
		name, err = stranger(dir)
	}
	if err == nil && name != "" {
		err = &OccupiedError{dir, name}
	}
	return false, damage, err
}

// madeByOther returns the program that made a bundle of another format version, "" for one
// of this version.
func madeByOther(dir string) string {
	var m struct {
		V    int    `json:"v"`
		Made string `json:"made"`
	}
	body, err := corpus.ReadFile(filepath.Join(dir, "mismatch.json"), "file of a bundle", corpus.MaxMember)
	if err != nil || json.Unmarshal(body, &m) != nil || m.V == corpus.BundleVersion {
		return ""
	}
	if m.Made == "" {
		return fmt.Sprintf("a program for version %d", m.V)
	}
	return m.Made
}

// modelFile is the file of a bundle that holds the made-up unit of a side.
func modelFile(which string) string { return "model-" + which + ".json" }

// isModel reports whether a side is a made-up unit, which travels with its bundle.
func isModel(s *corpus.SideRecord) bool {
	return strings.HasPrefix(s.Target, "model:") && s.Params != nil
}

// Local returns a mismatch whose made-up units are those of its bundle's own files, in
// dir.
func Local(m *corpus.Mismatch, dir string) *corpus.Mismatch {
	local := *m
	if isModel(&local.A) {
		local.A.Target = "model:" + filepath.Join(dir, modelFile("a"))
	}
	if isModel(&local.B) {
		local.B.Target = "model:" + filepath.Join(dir, modelFile("b"))
	}
	return &local
}

// CheckPlace returns an error if a bundle cannot be written to a directory: it must not
// exist, or be empty or another bundle, which is replaced.
func CheckPlace(dir string) error {
	if parent := filepath.Dir(filepath.Clean(dir)); Is(parent) {
		return fmt.Errorf("%s is inside the bundle %s", dir, parent)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", dir, hint.Bare(err))
	case len(entries) > 0 && !Is(dir):
		return fmt.Errorf("%s: the directory has other files in it", dir)
	}
	if name, err := stranger(dir); err != nil || name != "" {
		return fmt.Errorf("%s: the directory has other files in it: %s", dir, name)
	}
	return nil
}
