package main

import (
	"bytes"
	"embed"
	"io"
	"path"
	"slices"
	"strings"
)

// References are the documentation of formats and protocols, as the packages have it: help prints
// them for those who have only the binary. TestReferences writes them.
//
//go:embed guides/reference/*.txt
var referenceFiles embed.FS

// references returns their names, sorted.
func references() (names []string) {
	files, _ := referenceFiles.ReadDir("guides/reference")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), path.Ext(f.Name())))
	}
	return names
}

// writeReference writes a reference and reports whether there is one of that name.
func writeReference(w io.Writer, name string) (found bool, err error) {
	text, err := referenceFiles.ReadFile("guides/reference/" + name + ".txt")
	if err != nil {
		return false, nil
	}
	if bytes.Contains(text, []byte("go doc ")) {
		text = append(slices.Clip(text), "\nwhere go doc and the paths of files hold: in a clone of the repository, with Go\n"...)
	}
	_, err = w.Write(text)
	return true, err
}
