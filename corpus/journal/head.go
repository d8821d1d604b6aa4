package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// Kind describes the journals of a command. O is the type of its options: all that decides how
// it goes on, except for the program.
type Kind[O any] struct {
	Of       string          // what is done, such as "campaign"
	Version  int             // of the records: raised when they change their meaning
	By       Writer          // the command
	Versions corpus.Versions // of this program; none: it goes on from what any program began

	// Differ describes how the options of a journal, have, differ from the expected ones, as the
	// error with which such a journal is refused. The two are not the same.
	Differ func(have, want O) error

	Forget func() error // takes back what replay did with all records; nil: none are ever compacted
}

// Head is the first record of a journal.
type Head[O any] struct {
	Of       string          `json:"journal"`
	Version  int             `json:"v"`
	By       Writer          `json:"by"`
	Versions corpus.Versions `json:"versions"`
	Options  O               `json:"options"`

	// Compacted is the number of records after this one that came of a compaction: their file
	// has appeared with all of them.
	Compacted int `json:"compacted,omitempty"`
}

// decode reads a head. Its options are not compared.
func (k *Kind[O]) decode(body []byte) (*Head[O], error) {
	var what struct {
		Of      string `json:"journal"`
		Version int    `json:"v"`
	}
	switch err := json.Unmarshal(body, &what); {
	case err != nil || what.Of != k.Of:
		err = fmt.Errorf("the first line is not that of %s %s: the file is damaged, or something else", article(k.Of), k.Of)
		if what.Of == "" {
			err = Damaged(err)
		}
		return nil, err
	case what.Version != k.Version:
		return nil, fmt.Errorf("%w: its journal is of version %d, this program's of version %d", corpus.ErrOtherVersion, what.Version, k.Version)
	}
	head := &Head[O]{}
	if err := strictjson.UnmarshalKnown(body, head, "value"); err != nil {
		return nil, err
	}
	if head.Compacted < 0 || !head.By.known() {
		return nil, fmt.Errorf("%q has written it, and compacted it to %d records", head.By, head.Compacted)
	}
	return head, nil
}

func article(word string) string {
	if strings.Contains("aeiou", word[:1]) {
		return "an"
	}
	return "a"
}

// check returns why a command with these options cannot go on from a journal with a head.
func (k *Kind[O]) check(have *Head[O], options O) error {
	if !k.Versions.IsZero() {
		if err := have.Versions.Check(k.Versions); err != nil {
			return err
		}
	}
	same, err := sameJSON(have.Options, options)
	switch {
	case err != nil:
		return err
	case !same:
		return k.Differ(have.Options, options)
	case have.By != k.By:
		return fmt.Errorf("%s has written it, not %s", have.By, k.By)
	}
	return nil
}

func sameJSON(a, b any) (bool, error) {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return string(x) == string(y), errors.Join(errA, errB)
}

// Differences lists the fields in which two options differ, which are structs of the same type,
// as "its seed is 1, not 2". A field is called by its tag is, such as `is:"seed"`; fields
// without one are left out.
func Differences(have, want any) []string {
	var d []string
	x, y := reflect.ValueOf(have), reflect.ValueOf(want)
	for i := range x.NumField() {
		is := x.Type().Field(i).Tag.Get("is")
		a, b := x.Field(i).Interface(), y.Field(i).Interface()
		if is != "" && !reflect.DeepEqual(a, b) {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", is, a, b))
		}
	}
	return d
}
