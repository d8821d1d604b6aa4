// Package replay makes recordings targets: replay:FILE answers for the inputs
// that it holds, and offers them as inputs. It does so for single dot products, even
// if whole tiles were recorded. For an input on which the target failed when it was
// recorded, the recording fails too.
//
// The API of this package is not promised: it may change in any version.
package replay

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("replay", open, "recording of a target's results: replay:FILE")
}

type target struct {
	name  string
	rec   *corpus.Recording
	rows  []mma.Instruction
	units map[string]*recorded
}

func open(file string) (devices.Target, error) {
	rec, err := corpus.OpenRecording(file)
	if err != nil {
		return nil, err
	}
	t := &target{name: "replay:" + file, rec: rec, units: map[string]*recorded{}}
	for n := range rec.Data {
		if err := t.add(&rec.Data[n]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, n := range rec.Notes {
		if u := t.units[n.Instruction]; u != nil {
			u.environment = n.Environment
		}
	}
	switch {
	case len(t.rows) > 0:
	case !rec.Complete:
		return nil, hint.Add(fmt.Errorf("%s: %w", file, corpus.ErrNotBegun), "the same mmafuzz record goes on with it")
	default:
		return nil, fmt.Errorf("%s: the recording holds no results", file)
	}
	return t, nil
}

// add makes a recorded batch known.
func (t *target) add(r *corpus.Recorded) error {
	s := r.Section
	i, err := mma.Lookup(s.Arch, s.Instruction)
	unknown := mma.Facets(0) // the recorded codes are those of the catalogue's unit
	if err != nil {          // not in this version's catalogue: the recorded results are still valid
		i = &mma.Instruction{Arch: s.Arch, Name: s.Instruction, K: s.K, Formats: s.Formats,
			Refuse: "not in the catalogue", Unknown: mma.FacetNaN | mma.FacetZero}
		unknown = mma.FacetNaN
	}
	if i.Formats != s.Formats || i.K != s.K {
		return fmt.Errorf("%s was recorded as %s with K = %d, but is %s with K = %d", i.FullName(), s.Formats, s.K, i.Formats, i.K)
	}
	u := t.units[i.Name]
	if u == nil {
		// A recording answers whether or not there is a model.
		i.Refuse, i.Unknown = "", i.Unknown&unknown
		u = &recorded{inst: i, length: s.Shape.K, target: t.name}
		t.units[i.Name] = u
		t.rows = append(t.rows, *i)
	}
	if s.Shape.K != u.length {
		return fmt.Errorf("%s was recorded with dot products of %d and of %d elements", i.FullName(), u.length, s.Shape.K)
	}
	u.starts = append(u.starts, u.dots)
	u.data = append(u.data, r)
	u.dots += s.Shape.Dots()
	return nil
}

func (t *target) Name() string                    { return t.name }
func (t *target) Instructions() []mma.Instruction { return t.rows }
func (t *target) Close() error                    { return nil }

func (t *target) Environment() map[string]string {
	h := &t.rec.Header
	env := map[string]string{"kind": "recording", "recorded from": h.Target}
	for k, v := range h.Environment {
		env["recorded "+k] = v
	}
	recorded := h.Versions.Named()
	recorded["name"], recorded["date"] = h.Name, h.Date
	for k, v := range recorded {
		if v != "" {
			env["recorded "+k] = v
		}
	}
	return env
}

// Recording returns all that the file holds.
func (t *target) Recording() *corpus.Recording { return t.rec }

// Open returns the unit of an instruction. Each unit has an index of its own, whose memory
// is free again when the unit is no longer used.
func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	u := t.units[i.Name]
	if u == nil {
		return nil, fmt.Errorf("%s holds no results of %s", t.name, i.Name)
	}
	return &unit{recorded: u}, nil
}
