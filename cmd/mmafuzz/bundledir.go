package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

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
	if below, _ := bundle.Below(dir); !bundle.Is(dir) && len(below) > 0 {
		return nil, hinted("for example "+below[0]+"; mmafuzz triage looks at all of them", "bundle %s: it is not a bundle, but has %s below it", dir, readable.Plural(len(below), "bundle"))
	}
	if made := bundle.MadeByOther(dir); made != "" {
		return nil, withHint(err, "it was made by %s; use that program, or make the bundle again with mmafuzz run", made)
	}
	return nil, withHint(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
}

// placeForBundle says why a bundle cannot be written to a place: only another
// bundle is replaced, or an empty directory.
func placeForBundle(dir string) error {
	const hint = "name a new directory with --out, or a bundle to be replaced"
	if parent := filepath.Dir(filepath.Clean(dir)); bundle.Is(parent) {
		return hinted(hint, "--out %s is inside the bundle %s", dir, parent)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return hinted(hint, "--out %s: %w", dir, bare(err))
	case len(entries) > 0 && !bundle.Is(dir):
		return hinted(hint, "--out %s: the directory has other files in it", dir)
	}
	if name, err := bundle.Stranger(dir); err != nil || name != "" {
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

// directories completes an argument with directories.
func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
