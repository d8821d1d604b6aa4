package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// anotherOut is the hint where something else is in the directory of --out.
const anotherOut = "name another directory with --out"

// outRoot is where a command without --out makes its output directory.
const outRoot = "mmafuzz-out"

// ownDir is a directory in outRoot that is named after what a command does: a prefix, and the
// hash of what describe writes.
func ownDir(prefix string, describe func(w io.Writer)) string {
	h := fnv.New32a()
	describe(h)
	return filepath.Join(outRoot, fmt.Sprintf("%s%08x", prefix, h.Sum32()))
}

// ownModule makes outRoot another Go module if dir is directly in it, so that go test
// ./... in a clone does not run the tests in bundles, which may come from somebody else. A
// directory that the user chose gets no go.mod: the tests in bundles have the build tag
// ignore.
func ownModule(dir string) error {
	if filepath.Dir(dir) != outRoot {
		return nil
	}
	if err := os.MkdirAll(outRoot, 0o777); err != nil {
		return err
	}
	file := filepath.Join(outRoot, "go.mod")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return corpus.ReplaceFile(file, []byte("// What is in this directory is no part of the module around it.\nmodule mmafuzz-out\n"))
}
