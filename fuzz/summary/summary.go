// Package summary sums up what a campaign has found: as data, which is also the event
// summary of mmafuzz run --json, as text, and as a page.
//
// The API of this package is not promised: it may change in any version.
package summary

import (
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
)

// Input is what a summary is made of.
type Input struct {
	Config *fuzz.Config
	State  *fuzz.State
	// Unexplained is the campaign's method of this name.
	Unexplained func(pair int) *fuzz.Unexplained
	// Findings are in the order in which they were reported.
	Findings []*fuzz.Case
	// Left is what the campaign has not done, nil if it is complete.
	Left *fuzz.Unfinished
	// Known are differences that do not count as new: they are counted like all others, but
	// HasNews does not count them.
	Known compare.Known
	// LeftOut says which instructions were not compared, "" if all were.
	LeftOut string
	Time    time.Duration // that the campaign took; 0: it was merged
}

// Summary is what a campaign has found.
type Summary struct {
	Seconds     float64            `json:"seconds"`
	Dots        uint64             `json:"dots"`
	Mismatches  uint64             `json:"mismatches"`
	Causes      int                `json:"causes"`
	NotKept     int                `json:"not_kept"`
	Interrupted bool               `json:"interrupted"`
	Complete    bool               `json:"complete"`
	Incomplete  *fuzz.Unfinished   `json:"incomplete,omitempty"`
	Count       uint64             `json:"count"`          // the last of Sequence
	Sequence    []uint64           `json:"count_sequence"` // values of --count that, one after the other, give the same findings
	Pairs       []Pair             `json:"pairs"`
	Known       []compare.KnownUse `json:"known,omitempty"`
	Counts      *Counts            `json:"counts,omitempty"`

	in          Input
	differences []compare.Difference // of all pairs, in their order
}

// Counts are the numbers of buckets by their state, if there is a list of known differences.
type Counts struct {
	New     int `json:"new"`
	Known   int `json:"known"`
	Expired int `json:"expired"`
}

// Names are the names of a pair.
type Names struct {
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction"`
}

// Pair is what was found on a pair.
type Pair struct {
	Names
	Dots       uint64            `json:"dots"`
	Mismatches uint64            `json:"mismatches"`
	Classes    map[string]uint64 `json:"classes"`
	Rounded    uint64            `json:"rounded,omitempty"`
	Codes      uint64            `json:"codes"`
	Explained  bool              `json:"explained"`
	Labels     []triage.Label    `json:"labels"`
	Changes    []mma.Change      `json:"changes"`
	Equivalent [][]mma.Change    `json:"equivalent"`
	Alike      []string          `json:"alike"`
	Defect     *corpus.Defect    `json:"defect,omitempty"`
	Sums       *corpus.Sums      `json:"sums,omitempty"`
	Nearest    *corpus.Nearest   `json:"nearest,omitempty"`
	Inferred   []fuzz.Inferred   `json:"inferred,omitempty"`
	Next       []string          `json:"next"`
	Buckets    []Bucket          `json:"buckets"`
	Unstable   *Unstable         `json:"unstable,omitempty"`
	Stochastic []Stochastic      `json:"stochastic,omitempty"`
	Unjudged   []string          `json:"unjudged,omitempty"` // targets of which it is not known whether they round stochastically, and why
	History    []History         `json:"history,omitempty"`
	Drift      []Drift           `json:"drift,omitempty"`
	Unexamined uint64            `json:"unexamined"`
}

// Bucket is the cases of a primary cause.
type Bucket struct {
	Name    string            `json:"name"`
	Class   oracle.Class      `json:"class"`
	Cases   uint64            `json:"cases"`
	MaxUlp  float64           `json:"max_ulp"`
	Classes map[string]uint64 `json:"classes"`
	Details []Detail          `json:"details"`
	Rest    uint64            `json:"rest"`
	Bundle  string            `json:"bundle,omitempty"`
	ID      string            `json:"id"`
	State   string            `json:"state"`
	Known   string            `json:"known,omitempty"`
}

// Detail is a kind of cases of a bucket.
type Detail struct {
	Name   string  `json:"name"`
	Cases  uint64  `json:"cases"`
	MaxUlp float64 `json:"max_ulp"`
	Bundle string  `json:"bundle,omitempty"`
}

// Unstable is cases that do not repeat themselves.
type Unstable struct {
	Cases    uint64 `json:"cases"`
	Repeated int    `json:"repeated"` // of the case in the bundle
	Of       int    `json:"of"`
	Bundle   string `json:"bundle,omitempty"`
	// Changing are the targets that gave another result when they were asked again.
	Changing []string `json:"changing,omitempty"`
}

// Stochastic is a target that rounds stochastically: see package triage/stochastic.
type Stochastic struct {
	Target  string            `json:"target"`
	Inputs  int               `json:"inputs"`
	Answers int               `json:"answers"`
	Away    float64           `json:"away"`
	Up      float64           `json:"up"`
	Found   float64           `json:"found"`
	Defect  stochastic.Defect `json:"defect,omitempty"`
	Text    string            `json:"text"`
}

// History is a target whose answers depend on what was asked before.
type History struct {
	Target string `json:"target"`
	Every  int    `json:"every,omitempty"` // this many-th answer each is another one
	Kept   string `json:"kept,omitempty"`  // what is that of an earlier question
	Text   string `json:"text"`
}

// Drift is a target that answers inputs otherwise than at the beginning, the same each time.
type Drift struct {
	Target  string `json:"target"`
	Changed int    `json:"changed"`
	Of      int    `json:"of"`   // inputs that it was asked again
	Dots    uint64 `json:"dots"` // that had been compared by then
}

// New returns the summary of a campaign.
func New(in Input) *Summary {
	st := in.State
	s := &Summary{
		Seconds: in.Time.Seconds(), NotKept: st.NotKept(), Interrupted: in.Left != nil && in.Left.Why == fuzz.Interrupted, Complete: in.Left == nil,
		Incomplete: in.Left, Sequence: append([]uint64{}, st.Counts...), in: in,
	}
	if n := len(st.Counts); n > 0 {
		s.Count = st.Counts[n-1]
	}
	s.Dots, s.Mismatches, s.Causes = st.Totals()
	for i, p := range st.Pairs {
		s.Pairs = append(s.Pairs, newPair(p, in.Unexplained, i))
		for _, b := range p.Sorted() {
			d := compare.NewDifference(&in.Config.Pairs[i], b, p.Verdict, p.Rule(b.Name))
			d.Dots = p.Dots
			d.Bundle = p.Bundle(b.Name, "")
			s.differences = append(s.differences, d)
		}
	}
	s.setStates()
	return s
}

// setStates sets the states of the buckets. Without a list of known differences all are new.
func (s *Summary) setStates() {
	uses, n := s.in.Known.SetStates(s.differences, func(*compare.Difference) string { return compare.StateNew })
	next := 0
	for i := range s.Pairs {
		for j := range s.Pairs[i].Buckets { // in the order of the differences
			d, b := &s.differences[next], &s.Pairs[i].Buckets[j]
			b.ID, b.State, b.Known = d.ID, d.State, d.Known
			next++
		}
	}
	if s.in.Known.List != nil {
		var cells []compare.Cell
		for i := range s.in.Config.Pairs {
			p := &s.in.Config.Pairs[i]
			cells = append(cells, compare.CellOf(p, s.in.Config.Policy(p)))
		}
		s.in.Known.Hidden(uses, cells)
		s.Known, s.Counts = uses, &Counts{n.New, n.Known, n.Expired}
	}
}

// Differences returns the buckets of all pairs as differences, with their states.
func (s *Summary) Differences() []compare.Difference { return s.differences }

// HasNews reports whether something was found that is on no list.
func (s *Summary) HasNews() bool {
	for _, p := range s.in.State.Pairs {
		rounded := p.Mismatches() - p.Differences() // by a sound unit
		if s.Counts == nil && p.Differences() > 0 || s.Counts != nil && p.Unstable-rounded+p.Unexamined > 0 {
			return true // lists cannot cover what is unstable or not examined
		}
	}
	return s.Counts != nil && s.Counts.New+s.Counts.Expired > 0
}

func newPair(p *fuzz.PairState, unexplained func(int) *fuzz.Unexplained, index int) Pair {
	s := Pair{
		Names: Names{p.TargetA, p.TargetB, p.Name}, Dots: p.Dots, Mismatches: p.Mismatches(), Codes: p.Codes,
		Classes: map[string]uint64{}, Buckets: []Bucket{},
		Labels: []triage.Label{}, Changes: []mma.Change{}, Equivalent: [][]mma.Change{}, Alike: []string{}, Next: []string{},
		Inferred: p.Inferred, Unstable: newUnstable(p), Unexamined: p.Unexamined,
	}
	for c, n := range p.Classes {
		if n > 0 {
			s.Classes[oracle.Class(c).String()] = n
		}
	}
	if v := p.Verdict; v != nil {
		s.Explained = v.Complete()
		s.Labels = append(s.Labels, v.Labels...)
		s.Changes = append(s.Changes, v.Changes...)
		s.Equivalent = append(s.Equivalent, v.Equivalent[:v.Same]...)
		s.Alike = append(s.Alike, v.Alike...)
	}
	s.Defect, s.Sums = p.Defect(), p.Sums()
	if p.Mismatches() > 0 {
		if x := unexplained(index); x != nil {
			s.Nearest, s.Next = x.Nearest, append(s.Next, x.Next...)
		}
	}
	for _, r := range p.Stochastic {
		if text := p.StochasticText(r); r.Unjudged != "" && text != "" {
			s.Unjudged = append(s.Unjudged, text)
		}
		if j := r.Found; j != nil {
			s.Stochastic = append(s.Stochastic, Stochastic{[]string{p.TargetA, p.TargetB}[r.Side], j.Inputs, j.Answers, j.Away, j.Up, j.Found, j.Defect, p.StochasticText(r)})
		}
	}
	for side, target := range []string{p.TargetA, p.TargetB} {
		if h, text := p.HistoryText(side); text != "" {
			s.History = append(s.History, History{target, h.Every, h.Kept, text})
		}
	}
	for _, d := range p.Drift {
		s.Drift = append(s.Drift, Drift{[]string{p.TargetA, p.TargetB}[d.Side], d.Changed, d.Of, d.Dots})
	}
	for _, b := range p.Sorted() {
		s.Buckets = append(s.Buckets, newBucket(p, b))
	}
	return s
}

func newBucket(p *fuzz.PairState, b *fuzz.Bucket) Bucket {
	s := Bucket{Name: b.Name, Class: b.MostClass(), Cases: b.Cases, MaxUlp: b.MaxUlp, Rest: b.More,
		Classes: map[string]uint64{}, Details: []Detail{}, Bundle: p.Bundle(b.Name, "")}
	for c, n := range b.Classes {
		if n > 0 {
			s.Classes[oracle.Class(c).String()] = n
		}
	}
	for _, d := range b.SortedDetails() {
		s.Details = append(s.Details, Detail{d.Name, d.Cases, d.MaxUlp, p.Bundle(b.Name, d.Name)})
	}
	return s
}

// newUnstable returns the unstable cases of a pair, nil if there are none.
func newUnstable(st *fuzz.PairState) *Unstable {
	if st.Unstable == st.Rounded {
		return nil
	}
	s := &Unstable{Cases: st.Unstable - st.Rounded}
	for _, f := range st.Findings {
		if f.Bucket == fuzz.Unstable {
			s.Repeated, s.Of, s.Bundle = f.Stable, f.Of, f.Dir
			for side, target := range []string{st.TargetA, st.TargetB} {
				if f.Sides[side] {
					s.Changing = append(s.Changing, target)
				}
			}
			break
		}
	}
	return s
}
