package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// The files that a comparison ends with, its result and the list of --write-known, are
// held from its beginning, so that no other comparison writes them at the same time.

// hold makes the directory and begins the files.
func (c *compareCmd) hold() (err error) {
	if err := os.MkdirAll(c.out, 0o777); err != nil {
		return noCompareDir(c.out, err)
	}
	c.file, err = corpus.Replace(c.resultFile())
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return withHint(err, "wait for the other mmafuzz compare, or name another directory with --out")
	case err != nil:
		return noCompareDir(c.out, err)
	}
	return c.knownFlags.hold()
}

func noCompareDir(dir string, err error) error {
	return hinted("name a directory with --out that can be made or written", "cannot use the directory %s: %w", dir, bare(err))
}

// release leaves the files that were not saved as they were.
func (c *compareCmd) release() {
	c.discard(c.file)
	c.discard(c.knownFlags.file)
}

// discard leaves a file as it was, unless nil.
func (a *app) discard(f *corpus.Replacement) {
	if f == nil {
		return
	}
	if err := f.Discard(); err != nil && !errors.Is(err, fs.ErrClosed) {
		a.log.Warn().Err(err).Msg("removing a file that was not written to its end")
	}
}

// save writes compare.json, all of it or nothing, and the list of known differences
// that was asked for.
func (c *compareCmd) save() error {
	body, err := json.Marshal(&c.result)
	if err != nil {
		return err
	}
	if err := commit(&c.file, append(body, '\n')); err != nil {
		return err
	}
	return c.knownFlags.write(&c.result)
}

// commit ends a file with its contents; it is nil then.
func commit(f **corpus.Replacement, body []byte) error {
	if _, err := (*f).Write(body); err != nil {
		return err
	}
	err := (*f).Commit()
	*f = nil
	return err
}

func (c *compareCmd) resultFile() string { return filepath.Join(c.out, compareFile) }
