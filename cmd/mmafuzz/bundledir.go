package main

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

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// isBundle reports whether a directory is meant to be a bundle: whether it is whole, its
// reader says.
func isBundle(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "MANIFEST"))
	return err == nil && info.Mode().IsRegular()
}

// bundleFiles are patterns of the names of files that mmafuzz writes into bundles.
var bundleFiles = []string{"MANIFEST", "mismatch.json", "case.txt", "picture.txt", "README.md", "repro_test.go", "repro_[ab].*",
	"trace-[ab].json", "model-[ab].json", "tile-[ab].rec"}

func isBundleFile(name string) bool {
	return slices.ContainsFunc(bundleFiles, func(pattern string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok && err == nil
	})
}

// stranger returns a file in a directory that mmafuzz does not write into bundles, "" if
// there is none. Hidden files, which file managers leave behind, do not count.
func stranger(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if name := e.Name(); !isBundleFile(name) && !strings.HasPrefix(name, ".") {
			return name, nil
		}
	}
	return "", nil
}

// keepsBundle reports whether a campaign that is resumed leaves the bundle of a finding
// as it is: one that is whole, whatever its reader has put beside it. One that is missing
// or damaged is to be written again. What mmafuzz has not written is an error.
func (a *app) keepsBundle(dir string) (bool, error) {
	_, damage := corpus.ReadBundle(dir)
	var unlisted *corpus.UnlistedError
	switch {
	case damage == nil, errors.As(damage, &unlisted) && !isBundleFile(unlisted.Name):
		return true, nil
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	name := filepath.Base(dir)
	if err == nil && info.IsDir() {
		name, err = stranger(dir)
	}
	switch {
	case err != nil:
		return false, err
	case name != "":
		return false, hinted("move it away, or name another directory with --out", "%s is where a bundle is to be written, and mmafuzz has not written %s", dir, name)
	}
	a.log.Warn().Msgf("%v; it is written again", damage)
	return false, nil
}

// readBundle reads a bundle; what is wrong with a bad one comes with a remedy. A bundle
// carries its input, so that one of another version can be used, which is said.
func (a *app) readBundle(dir string) (*corpus.Bundle, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, hinted("mmafuzz run writes bundles and says where", "bundle %s: %w", dir, bare(err))
	case !info.IsDir():
		return nil, hinted("name the directory that mmafuzz run has written", "bundle %s: a bundle is a directory, not a file", dir)
	}
	b, err := corpus.ReadBundle(dir)
	if err == nil {
		a.noteVersions("bundle "+dir, b.Mismatch.Versions, "simulators may compute otherwise now")
		return b, nil
	}
	if below, _ := bundlesBelow(dir); !isBundle(dir) && len(below) > 0 {
		return nil, hinted("for example "+below[0]+"; mmafuzz triage looks at all of them", "bundle %s: it is not a bundle, but has %s below it", dir, readable.Plural(len(below), "bundle"))
	}
	if made := madeByOther(dir); made != "" {
		return nil, withHint(err, "it was made by %s; use that program, or make the bundle again with mmafuzz run", made)
	}
	return nil, withHint(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
}

// modelName is the file of a bundle that holds the made-up unit of a side.
func modelName(which string) string { return "model-" + which + ".json" }

// isModel says whether a side is a made-up unit, which travels with its bundle.
func isModel(s *corpus.SideRecord) bool {
	return strings.HasPrefix(s.Target, "model:") && s.Params != nil
}

// modelBody is the model file of a made-up unit.
func modelBody(m *corpus.Mismatch, s *corpus.SideRecord) ([]byte, error) {
	var b bytes.Buffer
	err := mma.WriteModel(&b, &mma.Instruction{Name: s.Instruction, Formats: m.Formats, K: s.K, Params: *s.Params})
	return b.Bytes(), err
}

// withModels returns a mismatch whose made-up units are those of its bundle's own
// files, wherever it is.
func withModels(m *corpus.Mismatch, dir string) *corpus.Mismatch {
	local := *m
	if isModel(&local.A) {
		local.A.Target = "model:" + filepath.Join(dir, modelName("a"))
	}
	if isModel(&local.B) {
		local.B.Target = "model:" + filepath.Join(dir, modelName("b"))
	}
	return &local
}

// madeByOther returns the program that made a bundle of another version, "" for
// one of this version.
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

// placeForBundle says why a bundle cannot be written to a place: only another
// bundle is replaced, or an empty directory.
func placeForBundle(dir string) error {
	const hint = "name a new directory with --out, or a bundle to be replaced"
	if parent := filepath.Dir(filepath.Clean(dir)); isBundle(parent) {
		return hinted(hint, "--out %s is inside the bundle %s", dir, parent)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return hinted(hint, "--out %s: %w", dir, bare(err))
	case len(entries) > 0 && !isBundle(dir):
		return hinted(hint, "--out %s: the directory has other files in it", dir)
	}
	if name, err := stranger(dir); err != nil || name != "" {
		return hinted(hint, "--out %s: the directory has other files in it: %s", dir, name)
	}
	return nil
}

// bare is a file system error without the name of the call and the file.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// bundlesBelow finds the bundles in a directory and below it. What a run that
// was killed has left unfinished begins with a dot.
func bundlesBelow(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case isBundle(path):
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs, err
}

// directories completes an argument with directories.
func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
