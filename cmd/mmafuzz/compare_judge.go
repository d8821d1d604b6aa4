package main

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

type gone struct {
	ID          string `json:"id"`
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction"`
	Bucket      string `json:"bucket"`
	Cases       uint64 `json:"cases"`
	State       string `json:"state"`    // that it had
	Compared    bool   `json:"compared"` // this time, too
}

// changed is an instruction of a machine that another model explains than the last
// time.
type changed struct {
	Machine     string     `json:"machine"`
	Instruction string     `json:"instruction"`
	Was         modelBrief `json:"was"`
	Now         modelBrief `json:"now"`
}

// modelBrief is what explains an instruction of a machine.
type modelBrief struct {
	Base      string       `json:"base"`
	Explained bool         `json:"explained"`
	Changes   []mma.Change `json:"changes"`
	Alike     []string     `json:"alike"`
}

type knownUse struct {
	ID      string `json:"id"`
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"`
	Hits    int    `json:"hits"`
	State   string `json:"state"` // used, unused or expired
}

type tallies struct {
	New     int `json:"new"`
	Still   int `json:"still"`
	Known   int `json:"known"`
	Expired int `json:"expired"`
	Gone    int `json:"gone"`
}

// judge gives every difference its state.
func (c *compareCmd) judge() {
	c.result.Known, c.result.Counts = c.settle(c.result.Differences, c.unlisted)
	if c.last != nil {
		c.findGone()
		c.findChanged()
	}
	c.result.Exit = exitAgree
	switch {
	case len(c.result.Trouble) > 0:
		c.result.Exit = exitTrouble
	case len(c.result.Incomplete) > 0:
		c.result.Exit = exitIncomplete
	case c.result.Counts.New+c.result.Counts.Expired > 0:
		c.result.Exit = exitMismatch
	}
	c.result.fill()
}

func (t *tallies) add(state string) {
	switch state {
	case stateNew:
		t.New++
	case stateStill:
		t.Still++
	case stateKnown:
		t.Known++
	case stateExpired:
		t.Expired++
	}
}

// unlisted returns the state of a difference that no list has: still there if the
// baseline has it and did not count it as known, else new.
func (c *compareCmd) unlisted(d *difference) string {
	if c.last != nil && c.last.had(d.ID) {
		return stateStill
	}
	return stateNew
}

// had says whether a comparison had a difference that was not on the list of known
// ones.
func (r *comparison) had(id string) bool { return r.open[id] }

// findGone lists the differences of the baseline that are no more, and says whether
// their instructions were compared at all: those that were not are still open, however
// many nights a machine is away.
func (c *compareCmd) findGone() {
	here := map[string]bool{}
	for _, d := range c.result.Differences {
		here[d.ID] = true
	}
	add := func(g gone) {
		if here[g.ID] {
			return
		}
		here[g.ID] = true
		g.Compared = c.result.compared(&g)
		c.result.Gone = append(c.result.Gone, g)
		if g.Compared {
			c.result.Counts.Gone++
		}
	}
	for _, d := range c.last.Differences {
		add(gone{ID: d.ID, A: d.A, B: d.B, Instruction: d.Instruction, Bucket: d.Bucket, Cases: d.Cases, State: d.State})
	}
	for _, g := range c.last.Gone {
		if !g.Compared {
			add(g)
		}
	}
}

// compared says whether there is a cell for a difference.
func (r *comparison) compared(d *gone) bool {
	if d.B == "" {
		return slices.ContainsFunc(r.Machines, func(m machine) bool { return m.Name == d.A })
	}
	return slices.ContainsFunc(r.Cells, func(c cell) bool { return c.A == d.A && c.B == d.B && c.Instruction == d.Instruction })
}

// findChanged lists the recorded instructions whose model is not that of the
// baseline.
func (c *compareCmd) findChanged() {
	for _, now := range c.result.Models {
		for _, was := range c.last.Models {
			if was.Machine == now.Machine && was.Instruction == now.Instruction && !was.modelBrief.equal(&now.modelBrief) {
				c.result.Changed = append(c.result.Changed, changed{now.Machine, now.Instruction, was.modelBrief, now.modelBrief})
			}
		}
	}
}

func (m *modelBrief) equal(o *modelBrief) bool {
	return m.Base == o.Base && m.Explained == o.Explained && slices.Equal(m.Changes, o.Changes)
}

// fill makes empty lists of missing ones: JSON says [] then.
func (r *comparison) fill() {
	r.Machines, r.Models, r.Cells = orEmpty(r.Machines), orEmpty(r.Models), orEmpty(r.Cells)
	r.Differences, r.Gone, r.Changed = orEmpty(r.Differences), orEmpty(r.Gone), orEmpty(r.Changed)
	r.Known, r.LeftOut, r.Trouble = orEmpty(r.Known), orEmpty(r.LeftOut), orEmpty(r.Trouble)
	r.Incomplete = orEmpty(r.Incomplete)
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// entriesOf makes entries that cover the differences of an instruction of two
// machines: one for all that is explained, by the changes, and one for each other.
func entriesOf(g []*difference, reason string) []corpus.KnownEntry {
	if len(g) == 0 {
		return nil
	}
	var all []corpus.KnownEntry
	explained := corpus.KnownEntry{Reason: reason, Instruction: g[0].Instruction, Pair: []string{g[0].A, g[0].B}}
	for _, d := range g {
		if len(d.Changes) == 0 {
			e := explained
			e.ID, e.Changes, e.Bucket, e.Difference = "known-"+d.ID, nil, d.Bucket, d.ID
			all = append(all, e)
			continue
		}
		if explained.ID == "" {
			explained.ID = "known-" + d.ID
		}
		for _, scope := range d.scopes() {
			for _, change := range scope.Changes {
				if !slices.Contains(explained.Changes, change) {
					explained.Changes = append(explained.Changes, change)
				}
			}
		}
	}
	if explained.ID != "" {
		all = append([]corpus.KnownEntry{explained}, all...)
	}
	return all
}
