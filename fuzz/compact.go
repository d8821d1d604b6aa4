package fuzz

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A journal grows by a record an epoch, of which quick units have many thousands an hour. So it
// is compacted: when its records, the tail, take more than tailMost bytes, and more than the
// state that they add up to, the state is written beside it (the snapshot), and the
// tail begins anew. Both are bounded, since the state is. When a tail is compacted depends on
// its bytes alone: what is on disk is the same however often a campaign was interrupted.
//
// The snapshot takes the place of the one before it at once. A kill between that and the end of
// the old tail leaves records that the snapshot has, which are dropped.

// tailMost is the size that a tail may always have.
const tailMost = 1 << 20

// stateSuffix is added to the journal's name.
const stateSuffix = ".state"

// stateHead is the first record of a snapshot.
type stateHead struct {
	Version  int         `json:"v"`
	Campaign string      `json:"campaign"` // digest of the journal's header
	Epochs   int         `json:"epochs"`
	Counts   []uint64    `json:"counts"`
	Cut      bool        `json:"cut"`
	Found    []int       `json:"found"` // pairs of the findings, in the order in which they were found
	Curve    []Milestone `json:"curve"`
}

const stateVersion = 1

// stateRecord is every other record: a pair.
type stateRecord struct {
	LastNew int `json:"last_new"`
	Sum     Sum `json:"sum"` // of all epochs
}

// curveMost is the number of milestones that a snapshot has at most.
const curveMost = 1024

// compact compacts the journal if its tail is long enough.
func (c *Campaign) compact() error {
	if c.jour == nil || !c.compacts || c.jour.Tail() <= max(cmp.Or(c.cfg.tailMost, tailMost), c.snapshot) {
		return nil
	}
	campaign, err := c.digest()
	if err != nil {
		return err
	}
	s := c.state
	for len(s.curve) > curveMost {
		s.curve = everySecond(s.curve)
	}
	body, err := s.encode(campaign)
	if err == nil {
		err = corpus.ReplaceFile(c.cfg.Journal+stateSuffix, body)
	}
	if err != nil {
		return err
	}
	c.snapshot = int64(len(body))
	return c.jour.DropTail()
}

// everySecond returns every second milestone, and the last one.
func everySecond(curve []Milestone) (some []Milestone) {
	for i := (len(curve) + 1) % 2; i < len(curve); i += 2 {
		some = append(some, curve[i])
	}
	return some
}

// encode writes the snapshot of a state.
func (s *State) encode(campaign string) ([]byte, error) {
	body, err := corpus.LogLine(&stateHead{stateVersion, campaign, s.Epochs, s.Counts, s.cut, s.found, s.curve})
	for _, st := range s.Pairs {
		line, err := corpus.LogLine(&stateRecord{st.LastNew, st.Sum})
		if err != nil {
			return nil, err
		}
		body = append(body, line...)
	}
	return body, err
}

// load reads the snapshot of a journal, if there is one, into a state of nothing, and returns its
// size. check returns what is impossible about a pair.
func (s *State) load(journal, campaign string, check func(pair int, d *Sum) error) (size int64, err error) {
	file := journal + stateSuffix
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	pairs := 0
	err = corpus.ReadLog(file, func(n int, body []byte) error {
		if n == 0 {
			return s.loadHead(campaign, body)
		}
		if pairs = n; n > len(s.Pairs) {
			return fmt.Errorf("there are %d pairs", len(s.Pairs))
		}
		return s.loadPair(n-1, body, check)
	})
	if err == nil && pairs < len(s.Pairs) {
		err = fmt.Errorf("%s: it has %d of %d pairs", file, pairs, len(s.Pairs))
	}
	return info.Size(), err
}

func (s *State) loadHead(campaign string, body []byte) error {
	var h stateHead
	if err := mma.JSONError(body, json.Unmarshal(body, &h)); err != nil {
		return err
	}
	if h.Version != stateVersion || h.Campaign != campaign || h.Epochs < 1 {
		return fmt.Errorf("%w: it is of campaign %s in version %d after %d epochs, the journal beside it of campaign %s", ErrOtherCampaign, h.Campaign, h.Version, h.Epochs, campaign)
	}
	s.Epochs, s.base, s.Counts, s.cut, s.found, s.curve = h.Epochs, h.Epochs, h.Counts, h.Cut, h.Found, h.Curve
	return nil
}

func (s *State) loadPair(i int, body []byte, check func(pair int, d *Sum) error) error {
	r := &stateRecord{}
	if err := mma.JSONError(body, json.Unmarshal(body, r)); err != nil {
		return err
	}
	if err := check(i, &r.Sum); err != nil {
		return fmt.Errorf("pair %d: %w", i, err)
	}
	s.Pairs[i].apply(&r.Sum, s.Epochs)
	s.Pairs[i].LastNew = r.LastNew
	return nil
}

// findings returns the findings in the order in which they were found.
func (s *State) findings() ([]*Case, error) {
	next := make([]int, len(s.Pairs))
	var all []*Case
	for _, i := range s.found {
		if i < 0 || i >= len(s.Pairs) || next[i] >= len(s.Pairs[i].Findings) {
			return nil, errors.New("the order of its findings is damaged")
		}
		all = append(all, s.Pairs[i].Findings[next[i]])
		next[i]++
	}
	return all, nil
}
