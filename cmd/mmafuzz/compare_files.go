package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// compareFiles are the files that a comparison ends with. They are held from its
// beginning, so that no other comparison writes them at the same time.
type compareFiles struct {
	result, known *corpus.Replacement // known: nil without --write-known
	kept          *corpus.Known       // what the file of --write-known has already; nil: nothing
}

// hold makes the directory and begins the files.
func (c *compareCmd) hold() (err error) {
	if err := os.MkdirAll(c.out, 0o777); err != nil {
		return noCompareDir(c.out, err)
	}
	c.files.result, err = corpus.Replace(c.resultFile())
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return withHint(err, "wait for the other mmafuzz compare, or name another directory with --out")
	case err != nil:
		return noCompareDir(c.out, err)
	}
	if c.writeKnown == "" {
		return nil
	}
	c.files.known, err = corpus.Replace(c.writeKnown)
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return withHint(err, "wait for the other mmafuzz compare, or name another file with --write-known")
	case err != nil:
		return withHint(err, "name a file with --write-known that can be made or written")
	}
	info, err := os.Stat(c.writeKnown)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing is there to be kept
	}
	c.files.kept, err = corpus.OpenKnown(c.writeKnown)
	return withHint(err, "its entries are kept, so it has to be a list of known differences: name another file with --write-known")
}

func noCompareDir(dir string, err error) error {
	return hinted("name a directory with --out that can be made or written", "cannot use the directory %s: %w", dir, bare(err))
}

// release leaves the files that were not saved as they were.
func (c *compareCmd) release() {
	for _, f := range []*corpus.Replacement{c.files.result, c.files.known} {
		if f == nil {
			continue
		}
		if err := f.Discard(); err != nil && !errors.Is(err, fs.ErrClosed) {
			c.log.Warn().Err(err).Msg("removing a file that was not written to its end")
		}
	}
}

// save writes compare.json, all of it or nothing, and the list of known differences
// that was asked for.
func (c *compareCmd) save() error {
	body, err := json.Marshal(&c.result)
	if err != nil {
		return err
	}
	if err := commit(&c.files.result, append(body, '\n')); err != nil {
		return err
	}
	if c.files.known == nil {
		return nil
	}
	body, err = json.MarshalIndent(c.knownOf(), "", "  ")
	if err != nil {
		return err
	}
	return commit(&c.files.known, append(body, '\n'))
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

// knownOf returns the list of known differences with all that are left: first what the
// file has already, as it is, then what --known has beside that.
func (c *compareCmd) knownOf() *corpus.Known {
	k := &corpus.Known{Version: corpus.KnownVersion, Entries: []corpus.KnownEntry{}}
	ids := map[string]bool{}
	for _, list := range []*corpus.Known{c.files.kept, c.knownList} {
		if list == nil {
			continue
		}
		for _, e := range list.Entries {
			if !ids[e.ID] {
				ids[e.ID] = true
				k.Entries = append(k.Entries, e)
			}
		}
	}
	groups, _ := c.result.inState(func(state string) bool { return state != stateKnown })
	for _, g := range groups {
		for _, e := range entriesOf(c.notKept(g), c.reason) {
			name := e.ID
			for n := 2; ids[e.ID]; n++ {
				e.ID = fmt.Sprintf("%s-%d", name, n)
			}
			ids[e.ID] = true
			k.Entries = append(k.Entries, e)
		}
	}
	return k
}

// notKept returns those of some differences that no entry of the file covers today.
func (c *compareCmd) notKept(g []*difference) []*difference {
	if c.files.kept == nil {
		return g
	}
	var left []*difference
	for _, d := range g {
		if slices.ContainsFunc(d.scopes(), func(s *corpus.Difference) bool { return !c.files.kept.Covers(s, c.day) }) {
			left = append(left, d)
		}
	}
	return left
}
