package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// maxBytes is more bytes than any journal has.
const maxBytes = 1 << 40

// Read reads the complete records of a journal, which anybody may have made and which a process may
// have open. It calls head with the first record, which may be of other options and of another
// program than k says, then replay with each of the others.
func Read[O, R any](path string, k Kind[O], head func(*Head[O]) error, replay func(*R) error) error {
	f, err := corpus.Open(path, "journal", maxBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, _, err := read(f, &k, head, replay); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read reads a journal, and returns as size how many bytes its records take, and as base how many of
// these Journal.Long does not count: those of the first record and of the compaction. base is 0 if the
// first record is not right. size is 0 if records of the compaction are damaged or missing.
func read[O, R any](in io.Reader, k *Kind[O], head func(*Head[O]) error, replay func(*R) error) (size, base int64, err error) {
	left := 0 // records to come of a compaction
	size, err = scan(in, func(n int, body []byte) error {
		length := int64(len("01234567 ") + len(body) + len("\n"))
		if n == 0 {
			h, err := k.decode(body)
			if err != nil {
				return err
			}
			if err := head(h); err != nil {
				return err
			}
			base, left = length, h.Compacted
			return nil
		}
		r := new(R)
		err := strictjson.UnmarshalKnown(body, r, "value")
		if err == nil {
			err = replay(r)
		}
		if err == nil && left > 0 {
			base, left = base+length, left-1
		}
		return err
	})
	if err == nil && left > 0 {
		err = Damaged(fmt.Errorf("%d records are missing at its end", left))
	}
	if left > 0 {
		size = 0
	}
	return size, base, err
}

// HeadOf returns the first record of a journal of any kind, which anybody may have made and which
// a process may have open. The zero Head: it is no journal, or has no records.
func HeadOf(path string) (head Head[json.RawMessage]) {
	f, err := corpus.Open(path, "journal", maxBytes)
	if err != nil {
		return head
	}
	defer f.Close()
	enough := errors.New("one record is enough")
	_, _ = scan(f, func(_ int, body []byte) error {
		if json.Unmarshal(bytes.Clone(body), &head) != nil || !head.By.known() {
			head = Head[json.RawMessage]{}
		}
		return enough
	})
	return head
}

// HasRecords reports whether a journal has any records, or had some until it was set aside.
func HasRecords(path string) bool {
	return slices.ContainsFunc([]string{path, path + DamagedSuffix}, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Size() > 0
	})
}
