package fuzz

import (
	"errors"
	"io/fs"
	"os"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// While a campaign is not complete, a file beside its journal says so: the journal alone looks
// the same after a kill between two epochs as at the end. The file is there before the first
// epoch begins and is removed at the end, so that a kill at any time leaves it behind.

// incompleteSuffix is added to the journal's name.
const incompleteSuffix = ".incomplete"

const incompleteText = "This campaign is not complete. The command that began it goes on with it.\n"

// markIncomplete notes beside the journal that the campaign is not complete.
func (c *Campaign) markIncomplete() error {
	if c.jour == nil || c.marked {
		return nil
	}
	c.marked = true
	return corpus.ReplaceFile(c.cfg.Journal+incompleteSuffix, []byte(incompleteText))
}

// markComplete removes that note.
func (c *Campaign) markComplete() error {
	if c.jour == nil {
		return nil
	}
	err := os.Remove(c.cfg.Journal + incompleteSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// isIncomplete reports whether something beside a journal says that the campaign is not
// complete: the note, or the checkpoint of an epoch in progress, which is all that a program
// without the note leaves behind.
func isIncomplete(journal string) bool {
	for _, suffix := range []string{incompleteSuffix, checkpointSuffix} {
		if _, err := os.Stat(journal + suffix); err == nil {
			return true
		}
	}
	return false
}
