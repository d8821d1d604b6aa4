package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
)

// side is one of the things that are compared: a recording, or a target that
// answers for the inputs of recordings.
type side struct {
	name   string // of the machine
	spec   string // as it was given
	target devices.Target
	rec    *corpus.Recording // nil: it answers itself
}

// openSides opens the arguments. What cannot be read is trouble, but the rest goes
// on: the other machines' night is not lost.
func (c *compareCmd) openSides(args []string) error {
	var failed error
	for _, arg := range args {
		s, err := openSide(arg)
		if err != nil {
			failed = err
			c.fail("%v", err)
			continue
		}
		c.sides = append(c.sides, s)
	}
	recorded := slices.ContainsFunc(c.sides, func(s *side) bool { return s.rec != nil })
	switch {
	case failed != nil && (len(c.sides) < 2 || !recorded):
		return failed
	case !recorded:
		return hinted("mmafuzz run compares targets; mmafuzz record makes a recording of one", "none of these is a recording")
	}
	if err := c.nameSides(); err != nil {
		return err
	}
	for _, s := range c.sides {
		if s.rec != nil {
			c.noteVersions(s.spec, s.rec.Header.Versions, "what it holds is compared as it is")
		}
		if s.rec != nil && !s.rec.Complete {
			c.result.Incomplete = append(c.result.Incomplete, s.spec+" is not complete: what it has is compared; mmafuzz record goes on with it")
		}
		c.result.Machines = append(c.result.Machines, newMachine(s))
	}
	return nil
}

// fail notes trouble that does not keep the rest from being done.
func (c *compareCmd) fail(format string, args ...any) {
	c.result.Trouble = append(c.result.Trouble, fmt.Sprintf(format, args...))
}

// openSide opens a file as a recording, and anything else as a target.
func openSide(arg string) (*side, error) {
	target := arg
	if info, err := os.Stat(arg); err == nil && !info.IsDir() {
		target = "replay:" + arg
	} else if !strings.Contains(arg, ":") {
		return nil, hinted("name a recording, which mmafuzz record makes, or a target such as sim:hopper", "%s: %w", arg, orDirectory(err))
	}
	t, err := openTarget(target)
	if err != nil {
		return nil, err
	}
	s := &side{spec: arg, target: t}
	if r, ok := t.(interface{ Recording() *corpus.Recording }); ok {
		s.rec = r.Recording()
	}
	return s, nil
}

func orDirectory(err error) error {
	if err == nil {
		return errors.New("it is a directory")
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// nameSides names the sides as their recordings do. Where several have one name,
// their files tell them apart.
func (c *compareCmd) nameSides() error {
	count := map[string]int{}
	for _, s := range c.sides {
		switch {
		case s.rec == nil:
			s.name = corpus.MachineName(s.target.Name())
		case s.rec.Header.Name != "":
			s.name = s.rec.Header.Name
		default:
			s.name = s.fileName()
		}
		count[s.name]++
	}
	for _, s := range c.sides {
		if count[s.name] > 1 && s.rec != nil {
			s.name = s.fileName()
		}
	}
	seen := map[string]string{}
	for _, s := range c.sides {
		if other, dup := seen[s.name]; dup {
			return hinted("record with --name, or rename a file", "%s and %s are both of a machine %s", other, s.spec, s.name)
		}
		seen[s.name] = s.spec
	}
	return nil
}

// fileName is a name made of the recording's file.
func (s *side) fileName() string {
	base := filepath.Base(strings.TrimPrefix(s.target.Name(), "replay:"))
	name, _, _ := strings.Cut(base, ".")
	if name == "" {
		name = base
	}
	return corpus.MachineName(name)
}

func (c *compareCmd) closeSides() {
	for _, s := range c.sides {
		if err := s.target.Close(); err != nil {
			c.log.Warn().Err(err).Str("target", s.target.Name()).Msg("closing")
		}
	}
}

// sidePair is two sides in the order of their names, whatever that of the
// arguments: a difference has one name.
type sidePair struct{ a, b *side }

// sidePairs returns all pairs of which one is a recording at least.
func (c *compareCmd) sidePairs() []sidePair {
	var all []sidePair
	for i, a := range c.sides {
		for _, b := range c.sides[i+1:] {
			switch {
			case a.rec == nil && b.rec == nil:
			case a.name < b.name:
				all = append(all, sidePair{a, b})
			default:
				all = append(all, sidePair{b, a})
			}
		}
	}
	return all
}
