package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
)

// knownFlags are the flags of run and compare about lists of known differences.
type knownFlags struct {
	known, date, reason string
	update              bool

	compare.Known // the list of --known, and the day of --date, on which its entries hold or have expired

	file *compare.KnownFile // of --update-known, held from the start; nil: none
}

func (k *knownFlags) add(f *pflag.FlagSet) {
	f.StringVar(&k.known, "known", "", "`file` with a list of known differences (mmafuzz help known)")
	f.StringVar(&k.date, "date", "", "`date` for expiry, YYYY-MM-DD (default: today, UTC)")
	f.BoolVar(&k.update, "update-known", false, "make the list of --known, or add to it the differences that are new or have expired")
	f.StringVar(&k.reason, "reason", "", "with --update-known, `text`: why these are accepted (default: accepted on DATE)")
}

func (k *knownFlags) check() (err error) {
	switch {
	case k.update && k.known == "":
		return hint.New("add --known FILE", "--update-known is given without --known")
	case !k.update && k.reason != "":
		return hint.New("add --update-known", "--reason is given without --update-known")
	}
	if k.Day, err = parseDate("date", k.date); k.date == "" {
		k.Day = time.Now()
	}
	if k.reason == "" {
		k.reason = "accepted on " + k.Day.UTC().Format(corpus.DateLayout)
	}
	return err
}

// open reads the list of --known.
func (k *knownFlags) open() (err error) {
	if k.known == "" {
		return nil
	}
	k.List, err = corpus.OpenKnown(k.known)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return hint.Add(err, "mmafuzz help known says what a list of known differences looks like")
	case k.update:
		return nil
	}
	return hint.Add(err, "--update-known makes it")
}

// hold holds the list that is to be updated, if there is one.
func (k *knownFlags) hold() (err error) {
	if k.update {
		k.file, err = compare.HoldKnown(k.known)
	}
	return err
}

// write writes the list if --update-known asks for it, and says so. Of the differences, some are in
// the baseline, too, and still there.
func (k *knownFlags) write(a *app, ds []compare.Difference, still int) error {
	if k.file == nil {
		return nil
	}
	n, err := k.file.Save(&k.Known, ds, k.reason)
	if err == nil && !a.json {
		more := ""
		if still > 0 {
			more = fmt.Sprintf(", and not what is still there (%d): without --baseline that is added, too", still)
		}
		a.say("%s is written: it lists %s%s", k.known, readable.Plural(n, "known difference"), more)
	}
	return err
}

// release leaves the list as it was, unless it was written.
func (k *knownFlags) release(a *app) {
	if err := k.file.Discard(); err != nil {
		a.log.Warn().Err(err).Msg("removing a file that was not written to its end")
	}
}
