package open

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

// NotInput returns an error if writing the file out would destroy what the command reads: a
// file, by whatever name or link, a file in a directory, or the file of a target. No
// command reads pages for a browser, so these may be replaced.
func NotInput(out string, inputs ...string) error {
	written, err := os.Stat(out)
	if err != nil || !written.Mode().IsRegular() || isPage(out) {
		return nil // there is nothing to lose
	}
	for _, in := range inputs {
		if ByPath(in) {
			_, in, _ = strings.Cut(in, ":")
		}
		read, err := os.Stat(in)
		if err != nil {
			continue // the command says so itself
		}
		if os.SameFile(written, read) || read.IsDir() && isBelow(written, in) {
			return hint.New("name another file", "%s would be overwritten: this command reads %s", out, in)
		}
	}
	return nil
}

// isBelow reports whether a file is in a directory.
func isBelow(file fs.FileInfo, dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // what cannot be read cannot be an input
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(file, info) {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// isPage reports whether a file is a page for a browser.
func isPage(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	const doctype = "<!doctype html"
	head := make([]byte, len(doctype))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.EqualFold(head, []byte(doctype))
}
