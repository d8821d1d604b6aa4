package compare

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

// KnownFile is the file of a list of known differences that is to be written. It is held from
// the start, so that nobody else writes it at the same time. A nil file is none.
type KnownFile struct {
	file *corpus.Replacement
	kept *corpus.Known // what it has already; nil: nothing
}

// HoldKnown opens and locks a file and reads the entries that it has already.
func HoldKnown(name string) (*KnownFile, error) {
	file, err := corpus.Replace(name)
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return nil, hint.Add(err, "wait for the other mmafuzz, or name another file with --known")
	case err != nil:
		return nil, hint.Add(err, "name a file with --known that can be made or written")
	}
	f := &KnownFile{file: file}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return f, nil // nothing is there to be kept
	}
	f.kept, err = corpus.OpenKnown(name)
	return f, hint.Add(err, "its entries are kept, so it has to be a list of known differences: name another file with --known")
}

// Save writes the list: what the file has already, as it is, and entries for the differences that
// are news and that it does not cover on the day of k. It returns how many entries it has then.
func (f *KnownFile) Save(k *Known, ds []Difference, reason string) (int, error) {
	list := k.accept(ds, reason, f.kept)
	body, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return 0, err
	}
	return len(list.Entries), f.file.Save(append(body, '\n'))
}

// Discard leaves the file as it was, unless it was written.
func (f *KnownFile) Discard() error {
	if f == nil {
		return nil
	}
	return f.file.Discard()
}
