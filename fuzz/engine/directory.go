package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// HoldCampaignOf locks the journal of the campaign that a bundle belongs to, if there is one
// two directories above it, so that no run writes the bundle meanwhile. ErrInUse: one is at
// work.
func HoldCampaignOf(dir string) (release func() error, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "..", "..", JournalFile)
	release, err = journal.Hold(file)
	if errors.Is(err, corpus.ErrInUse) {
		err = fmt.Errorf("%s: %w", file, ErrInUse)
	}
	return release, err
}

// RemoveDir removes the directory of a campaign. It is an error, and nothing is removed, if
// something is there that no campaign has written.
func RemoveDir(dir string) error {
	err := bundle.Removable(dir, JournalFile, CheckpointFile, JournalFile+incompleteSuffix)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries { // the journal last: as long as it is there, this is the campaign's
		if !e.IsDir() {
			continue
		}
		if err := corpus.RemoveTree(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
