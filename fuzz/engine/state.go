package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/finding"
)

// State is all that a campaign knows after an epoch. It is the sum of the deltas in the
// journal.
type State struct {
	Epochs int
	Pairs  []*finding.PairState
	// Counts are values of Config.Count that lead to the same findings. There are several,
	// to be run one after the other on the same journal, if a time or a count cut an epoch
	// short and a later run went on from there.
	Counts  []uint64
	cut     bool        // the last epoch was cut
	found   []int       // pairs of the findings, in the order in which they were found
	curve   []Milestone // after each epoch, of old ones after some
	missing int         // pairs that are to follow in the journal, of a snapshot
}

// Milestone is how far a campaign was.
type Milestone struct {
	Dots       uint64 `json:"dots"`
	Mismatches uint64 `json:"mismatches"`
	Causes     int    `json:"causes"` // primary ones
	Kinds      int    `json:"kinds"`  // buckets of all pairs
}

// delta is what an epoch adds to the state.
type delta struct {
	Epoch int           `json:"epoch"`
	Cut   uint64        `json:"cut,omitempty"` // the count that has cut the epoch, 0: none
	Pairs []finding.Sum `json:"pairs"`
}

// apply adds an epoch.
func (s *State) apply(d *delta) {
	s.Epochs = d.Epoch + 1
	most := uint64(0)
	for i := range d.Pairs {
		s.Pairs[i].Apply(&d.Pairs[i], d.Epoch)
		most = max(most, s.Pairs[i].Dots)
		s.found = append(s.found, slices.Repeat([]int{i}, len(d.Pairs[i].Findings))...)
	}
	s.curve = append(s.curve, s.milestone())
	if len(s.Counts) == 0 || s.cut {
		s.Counts = append(s.Counts, most)
	}
	s.Counts[len(s.Counts)-1], s.cut = most, d.Cut > 0
}

func (s *State) milestone() (m Milestone) {
	m.Dots, m.Mismatches, m.Causes = s.Totals()
	for _, st := range s.Pairs {
		m.Kinds += len(st.Buckets)
	}
	return m
}

// Cause is the buckets of one primary cause, over all pairs of a campaign.
type Cause struct {
	finding.Bucket
	Pairs int // that have it
}

// Causes merges the buckets of a campaign, the largest first.
func Causes(s *State) []Cause {
	var all []Cause
	index := map[string]int{}
	for _, p := range s.Pairs {
		for _, b := range p.Sorted() {
			i, ok := index[b.Name]
			if !ok {
				i = len(all)
				index[b.Name], all = i, append(all, Cause{Bucket: finding.Bucket{Name: b.Name}})
			}
			all[i].Pairs++
			all[i].Add(b)
		}
	}
	slices.SortFunc(all, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Cases, x.Cases), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// Totals of a campaign; causes is the number of primary causes of all pairs.
func (s *State) Totals() (dots, mismatches uint64, causes int) {
	names := map[string]bool{}
	for _, p := range s.Pairs {
		dots += p.Dots
		mismatches += p.Mismatches()
		for name := range p.Buckets {
			names[name] = true
		}
	}
	return dots, mismatches, len(names)
}

// NotKept is the number of findings that there was no room for: one for each cause of an
// instruction without a finding, and one for each such detail of two targets.
func (s *State) NotKept() int {
	have, want := map[[3]string]bool{}, map[[3]string]bool{}
	for i, p := range s.Pairs {
		inst := fmt.Sprint(i)
		for _, f := range p.Findings {
			have[[3]string{inst, f.Bucket}] = true
			have[[3]string{p.TargetA, p.TargetB, f.Detail}] = true
		}
		for _, b := range p.Buckets {
			want[[3]string{inst, b.Name}] = true
			for _, d := range b.Details {
				want[[3]string{p.TargetA, p.TargetB, d.Name}] = true
			}
		}
	}
	n := 0
	for k := range want {
		if !have[k] {
			n++
		}
	}
	return n
}

// Complete reports whether every pair has had its count of dot products.
func (s *State) Complete(count uint64) bool {
	for _, p := range s.Pairs {
		if p.Dots < count {
			return false
		}
	}
	return s.Epochs > 0
}

// Full reports whether two targets have as many findings as they may have, most or by
// default DefaultFindings, but for places that are kept for causes that have not been seen
// yet.
func (s *State) Full(most int) bool {
	return finding.Full(s.Pairs, cmp.Or(max(most, 0), DefaultFindings))
}
