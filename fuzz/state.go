package fuzz

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// State is all that a campaign knows after an epoch. It is the sum of the deltas in the
// journal.
type State struct {
	Epochs int
	Pairs  []*PairState
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

// PairState is the state of one pair.
type PairState struct {
	TargetA, TargetB string
	Name             string // of the instruction or instructions

	Dots     uint64
	Chunks   uint64
	Next     map[string]uint64 // by source: index of the next dot product
	Classes  [oracle.Fault + 1]uint64
	Features map[uint32]bool
	Corpus   []CaseRef // inputs with new features
	Differ   []Sample  // evidence for triage
	Agree    []Sample
	Verdict  *triage.Verdict
	BaseA    bool // the verdict changes A's arithmetic to explain B, else the other way round
	Buckets  map[string]*Bucket
	Checked  uint64 // cases that were run again alone
	Changed  uint64 // cases of Checked that gave something else
	Unstable uint64 // differing cases that do not repeat themselves: they are in no bucket
	Odd      bool   // some cases were unstable or depended on their tiles: unexplained cases are run again
	Findings []*Case
	LastNew  int // epoch of the newest bucket
	Where    Where

	// Unexamined is the number of differing cases in no bucket: those of an epoch that is
	// not complete, and those that the result of a unit had no room for.
	Unexamined uint64
}

// CaseRef names a case of a pair.
type CaseRef struct {
	Source string `json:"source"`
	Index  uint64 `json:"index"`
}

// Sample is a case with both results.
type Sample struct {
	CaseRef
	A     uint64       `json:"a"`
	B     uint64       `json:"b"`
	Class oracle.Class `json:"class"`
}

// Bucket is the differing cases of one primary cause.
type Bucket struct {
	Name    string                   `json:"name"` // the label
	Cases   uint64                   `json:"cases"`
	MaxUlp  float64                  `json:"max_ulp"`
	Digest  uint64                   `json:"digest"` // of the cases with their results, in any order
	Classes [oracle.Fault + 1]uint64 `json:"classes"`
	Details []Detail                 `json:"details,omitempty"` // in the order in which they appeared
	More    uint64                   `json:"more,omitempty"`    // cases in no detail, because there are too many kinds of cases
}

// Detail is cases of a bucket that have the same alternatives, or need the same
// combination of labels, and differ in the same way.
type Detail struct {
	Name   string       `json:"name"` // triage.Cause.Detail, and the class if it is not value
	Class  oracle.Class `json:"class"`
	Cases  uint64       `json:"cases"`
	MaxUlp float64      `json:"max_ulp"`
}

// delta is what an epoch adds to the state.
type delta struct {
	Epoch int         `json:"epoch"`
	Cut   uint64      `json:"cut,omitempty"` // the count that has cut the epoch, 0: none
	Pairs []pairDelta `json:"pairs"`
}

type pairDelta struct {
	Dots     uint64                   `json:"dots"`
	Chunks   uint64                   `json:"chunks"`
	Next     map[string]uint64        `json:"next,omitempty"`
	Classes  [oracle.Fault + 1]uint64 `json:"classes"`
	Features []uint32                 `json:"features,omitempty"`
	Corpus   []CaseRef                `json:"corpus,omitempty"`
	Differ   []Sample                 `json:"differ,omitempty"`
	Agree    []Sample                 `json:"agree,omitempty"`
	Verdict  *triage.Verdict          `json:"verdict,omitempty"`
	Buckets  map[string]*Bucket       `json:"buckets,omitempty"` // increments
	Checked  uint64                   `json:"checked,omitempty"`
	Changed  uint64                   `json:"changed,omitempty"`
	Unstable uint64                   `json:"unstable,omitempty"`
	Odd      bool                     `json:"odd,omitempty"`
	Findings []*Case                  `json:"findings,omitempty"`
	Where    *Where                   `json:"where,omitempty"` // nil: a campaign of an earlier version

	// Until the triage is complete:
	differ     []Sample // a few differing cases of each kind: to be run again, and then evidence for triage
	unnamed    []Sample // differing cases that no verdict before the epoch names
	kinds      []kind   // kinds of differing cases that are new to the epoch, in the order in which they came up
	Unexamined uint64   `json:"unexamined,omitempty"` // cases in no bucket: see PairState
}

func newPairState(p *pairRun) *PairState {
	return &PairState{TargetA: p.TargetA, TargetB: p.TargetB, Name: p.Name(), BaseA: p.unknownIsB,
		Next: map[string]uint64{}, Features: map[uint32]bool{}, Buckets: map[string]*Bucket{}}
}

// apply adds an epoch.
func (s *State) apply(d *delta) {
	s.Epochs = d.Epoch + 1
	most := uint64(0)
	for i := range d.Pairs {
		s.Pairs[i].apply(&d.Pairs[i], d.Epoch)
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

func (st *PairState) apply(d *pairDelta, epoch int) {
	st.Dots += d.Dots
	st.Chunks += d.Chunks
	maps.Copy(st.Next, d.Next)
	for c, n := range d.Classes {
		st.Classes[c] += n
	}
	for _, f := range d.Features {
		st.Features[f] = true
	}
	st.Corpus = append(st.Corpus, d.Corpus...)
	st.Differ = append(st.Differ, d.Differ...)
	st.Agree = append(st.Agree, d.Agree...)
	if d.Verdict != nil {
		st.Verdict = d.Verdict
	}
	st.Checked += d.Checked
	st.Changed += d.Changed
	st.Unstable += d.Unstable
	st.Odd = st.Odd || d.Odd
	for name, b := range d.Buckets {
		if st.Buckets[name] == nil {
			st.Buckets[name], st.LastNew = &Bucket{Name: name}, epoch
		}
		st.Buckets[name].Add(b)
	}
	st.Findings = append(st.Findings, d.Findings...)
	st.Unexamined += d.Unexamined
	if d.Where != nil {
		st.Where.add(d.Where)
	}
}

// Mismatches is the number of differing dot products of a pair.
func (st *PairState) Mismatches() uint64 {
	n := uint64(0)
	for c, k := range st.Classes {
		if oracle.Class(c) != oracle.Same {
			n += k
		}
	}
	return n
}

// Bundle returns the directory of the bundle of the first finding of a bucket, or of one of
// its details if that is not ""; "" if there is none.
func (st *PairState) Bundle(bucket, detail string) string {
	for _, f := range st.Findings {
		if f.Bucket == bucket && (detail == "" || f.Detail == detail) {
			return f.Dir
		}
	}
	return ""
}

// Cause is the buckets of one primary cause, over all pairs of a campaign.
type Cause struct {
	Bucket
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
				index[b.Name], all = i, append(all, Cause{Bucket: Bucket{Name: b.Name}})
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

// MostClass is the most frequent class of a bucket's cases.
func (b *Bucket) MostClass() oracle.Class {
	most := oracle.Value
	for c, n := range b.Classes {
		if n > b.Classes[most] {
			most = oracle.Class(c)
		}
	}
	return most
}

// SortedDetails returns the details of a bucket, the largest first.
func (b *Bucket) SortedDetails() []Detail {
	all := slices.Clone(b.Details)
	slices.SortStableFunc(all, func(x, y Detail) int {
		return cmp.Or(cmp.Compare(y.Cases, x.Cases), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// Sorted returns the buckets, the largest first.
func (st *PairState) Sorted() []*Bucket {
	all := slices.Collect(maps.Values(st.Buckets))
	slices.SortFunc(all, func(x, y *Bucket) int {
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

// mutated returns the source that mutates a case.
func (r CaseRef) mutated() gen.Source {
	src, err := gen.ParseSource(r.Source)
	if err != nil {
		panic("fuzz: corpus: " + err.Error()) // the names in a corpus are our own
	}
	return src.Mutate(r.Index)
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

// LabelsIn returns the labels in a detail's name.
func LabelsIn(detail string) []string {
	labels, _, _ := strings.Cut(detail, ":")
	return strings.FieldsFunc(labels, func(r rune) bool { return r == '+' || r == '|' })
}
