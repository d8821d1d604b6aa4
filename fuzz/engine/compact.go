package engine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
)

// A journal grows by a record an epoch, of which quick units have many thousands an hour. So it
// is compacted: when its records since the last time, the tail, take more than tailMost bytes, and
// more than the state that they add up to, a new journal with the state (the snapshot) takes
// its place. Both are bounded, since the state is.

// tailMost is the size that a tail may always have.
const tailMost = 1 << 20

// stateHead is the first record of a snapshot.
type stateHead struct {
	Epochs int         `json:"epochs"`
	Counts []uint64    `json:"counts"`
	Cut    bool        `json:"cut"`
	Found  []int       `json:"found"` // pairs of the findings, in the order in which they were found
	Curve  []Milestone `json:"curve"`
}

// pairRecord is every other record of a snapshot: a pair, in order.
type pairRecord struct {
	LastNew int         `json:"last_new"`
	Sum     finding.Sum `json:"sum"` // of all epochs
}

// curveMost is the number of milestones that a snapshot has at most.
const curveMost = 1024

// compact compacts the journal if its tail is long enough.
func (c *Campaign) compact() error {
	if c.jour == nil || !c.jour.Long(cmp.Or(c.cfg.tailMost, tailMost)) {
		return nil
	}
	for len(c.state.curve) > curveMost {
		c.state.curve = everySecond(c.state.curve)
	}
	return c.jour.Compact(c.state.snapshot())
}

// everySecond returns every second milestone, and the last one.
func everySecond(curve []Milestone) (some []Milestone) {
	for i := (len(curve) + 1) % 2; i < len(curve); i += 2 {
		some = append(some, curve[i])
	}
	return some
}

// snapshot returns the records of a state.
func (s *State) snapshot() []*record {
	all := []*record{{State: &stateHead{s.Epochs, s.Counts, s.cut, s.found, s.curve}}}
	for _, st := range s.Pairs {
		all = append(all, &record{Pair: &pairRecord{st.LastNew, st.Sum}})
	}
	return all
}

func (s *State) replayHead(h *stateHead) error {
	if s.Epochs > 0 || h.Epochs < 1 {
		return journal.Damaged(fmt.Errorf("a state after %d epochs follows %d epochs", h.Epochs, s.Epochs))
	}
	s.Epochs, s.Counts, s.cut, s.found, s.curve, s.missing = h.Epochs, h.Counts, h.Cut, h.Found, h.Curve, len(s.Pairs)
	return nil
}

func (s *State) replayPair(r *pairRecord, check func(pair int, d *finding.Sum, most uint64) error) error {
	if s.missing == 0 {
		return journal.Damaged(errors.New("it is of a pair too many"))
	}
	i := len(s.Pairs) - s.missing
	if err := check(i, &r.Sum, finding.MaxStateDots); err != nil {
		return fmt.Errorf("pair %d: %w", i, err)
	}
	s.missing--
	s.Pairs[i].Apply(&r.Sum, s.Epochs)
	s.Pairs[i].LastNew = r.LastNew
	return nil
}

// findings returns the findings in the order in which they were found.
func (s *State) findings() ([]*finding.Case, error) {
	if s.missing > 0 {
		return nil, fmt.Errorf("%d pairs are missing at its end", s.missing)
	}
	next := make([]int, len(s.Pairs))
	var all []*finding.Case
	for _, i := range s.found {
		if i < 0 || i >= len(s.Pairs) || next[i] >= len(s.Pairs[i].Findings) {
			return nil, errors.New("the order of its findings is damaged")
		}
		all = append(all, s.Pairs[i].Findings[next[i]])
		next[i]++
	}
	return all, nil
}
