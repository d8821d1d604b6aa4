package engine

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// While a campaign is not complete, a file beside its journal says so: the journal alone looks
// the same after a kill between two epochs as at the end. The file is there before the first
// epoch begins and is removed at the end, so that a kill at any time leaves it behind.

// incompleteSuffix is added to the journal's name.
const incompleteSuffix = ".incomplete"

// maxIncomplete is more bytes than such a file has.
const maxIncomplete = 1 << 20

// Unended is what Past.Incomplete says of a campaign that has not come to its end.
const Unended = "it was running, or it was interrupted"

// markIncomplete notes beside the journal that the campaign is not complete.
func (c *Campaign) markIncomplete() error {
	if c.jour == nil || c.marked {
		return nil
	}
	c.marked = true
	return corpus.ReplaceFile(c.cfg.Journal+incompleteSuffix, []byte(cmp.Or(c.cfg.Partial, Unended)+"\n"))
}

// markComplete removes that note, unless the campaign cannot be complete.
func (c *Campaign) markComplete() error {
	if c.jour == nil || c.cfg.Partial != "" {
		return nil
	}
	err := os.Remove(c.cfg.Journal + incompleteSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// incompleteText says why the campaign of a journal is not complete, "" if it is. Without a
// note, the checkpoint of an epoch in progress says so: it is all that a program without the
// note leaves behind.
func incompleteText(journal string) (string, error) {
	note, err := corpus.ReadFile(journal+incompleteSuffix, "note beside a journal", maxIncomplete)
	if err == nil {
		return cmp.Or(printable.Line(strings.TrimSpace(string(note))), Unended), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Stat(journal + checkpointSuffix); err == nil {
		return Unended, nil
	}
	return "", nil
}
