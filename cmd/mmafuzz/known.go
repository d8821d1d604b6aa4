package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
)

// knownFlags are the flags of run and compare about lists of known differences.
type knownFlags struct {
	known, date        string
	writeKnown, reason string

	compare.Known // the list of --known, and the day of --date, on which its entries hold or have expired

	file *compare.KnownFile // of --write-known, held from the start; nil: none
}

func (k *knownFlags) add(f *pflag.FlagSet) {
	f.StringVar(&k.known, "known", "", "`file` with a list of known differences (go doc ./corpus Known)")
	f.StringVar(&k.date, "date", "", "`date` for expiry, YYYY-MM-DD (default: today, UTC)")
	f.StringVar(&k.writeKnown, "write-known", "", "`file` for a list of known differences: what it has already, what --known has, and all differences that neither covers")
	f.StringVar(&k.reason, "reason", "", "`text`: why these are accepted")
}

func (k *knownFlags) check() (err error) {
	switch {
	case k.writeKnown != "" && k.reason == "":
		return hint.New("add --reason TEXT: why these differences are accepted", "--write-known is given without --reason")
	case k.writeKnown == "" && k.reason != "":
		return hint.New("add --write-known FILE", "--reason is given without --write-known")
	}
	if k.Day, err = parseDate("date", k.date); k.date == "" {
		k.Day = time.Now()
	}
	return err
}

// open reads the list of --known.
func (k *knownFlags) open() (err error) {
	if k.known == "" {
		return nil
	}
	k.List, err = corpus.OpenKnown(k.known)
	return hint.Add(err, "go doc ./corpus Known says what a list of known differences looks like")
}

// hold holds the file of --write-known, if there is one.
func (k *knownFlags) hold() (err error) {
	if k.writeKnown != "" {
		k.file, err = compare.HoldKnown(k.writeKnown)
	}
	return err
}

// write writes the list that --write-known asks for.
func (k *knownFlags) write(ds []compare.Difference) error {
	return k.file.Save(&k.Known, ds, k.reason)
}

// release leaves the file of --write-known as it was, unless it was written.
func (k *knownFlags) release(a *app) {
	if err := k.file.Discard(); err != nil {
		a.log.Warn().Err(err).Msg("removing a file that was not written to its end")
	}
}
