package compare

import (
	"errors"
	"log/slog"
	"os"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// OpenAll opens recordings and targets and prepares their comparison, as New does; errors
// have hints. baseline is the file of Options.Baseline, "" if there is none. note gets a warning,
// or "", about each file if another version wrote it; it may be nil. What cannot be opened is trouble of the comparison, and
// the rest is still compared: one bad file must not cost the other results. The caller
// closes the comparison.
func OpenAll(specs []string, baseline string, o Options, note func(string)) (*Comparison, error) {
	if note == nil {
		note = func(string) {}
	}
	if baseline != "" {
		var err error
		if o.Baseline, err = Read(baseline); err != nil {
			return nil, hint.Add(err, "a baseline is the compare.json in the directory of an earlier compare")
		}
		note(versions.Note("the baseline "+baseline, o.Baseline.Versions, "differences may be new or gone for that reason alone"))
	}
	sides, failed := openSides(specs, &o)
	c, err := New(sides, o)
	var same *sameNameError
	switch {
	case failed != nil && (len(sides) < 2 || errors.Is(err, errNoRecordings)):
		err = failed
	case errors.Is(err, errNoRecordings):
		err = hint.Add(err, "mmafuzz run compares targets; mmafuzz record makes a recording of one")
	case errors.As(err, &same):
		err = hint.Add(err, "rename a file, or record with another --name")
	}
	if err != nil {
		closeSides(sides)
		return nil, err
	}
	for _, s := range sides {
		if s.Recording != nil {
			note(versions.Note(s.Spec, s.Recording.Header.Versions, "what it holds is compared as it is"))
		}
	}
	return c, nil
}

// openSides opens what can be opened and notes the rest as trouble; it returns the last error.
func openSides(specs []string, o *Options) (sides []*Side, failed error) {
	for _, spec := range specs {
		s, err := Open(spec)
		if err == nil {
			sides = append(sides, s)
			continue
		}
		info, missing := os.Stat(spec)
		isFile := missing == nil && !info.IsDir()
		failed = err
		if errors.Is(err, corpus.ErrNotBegun) {
			o.Incomplete = append(o.Incomplete, err.Error()+"; mmafuzz record goes on with it")
			continue
		}
		if errors.As(err, new(*specError)) {
			failed = hint.Add(err, "name a recording, which mmafuzz record makes, or a target such as sim:hopper")
		} else if !isFile {
			failed = open.Explain(spec, err)
		}
		o.Trouble = append(o.Trouble, failed.Error())
	}
	return sides, failed
}

// Close closes the targets of all sides.
func (c *Comparison) Close() { closeSides(c.sides) }

func closeSides(sides []*Side) {
	for _, s := range sides {
		if err := s.Target.Close(); err != nil {
			slog.Warn("cannot close a target", "error", err, "target", s.Target.Name())
		}
	}
}
