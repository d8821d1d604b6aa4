package finding

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// PairState is the state of one pair.
type PairState struct {
	TargetA, TargetB string
	Name             string // of the instruction or instructions

	BaseA   bool // the verdict changes A's arithmetic to explain B, else the other way round
	LastNew int  // epoch of the newest bucket
	Sum

	features map[uint32]bool // those of Features
}

// Sum is what was compared of one pair and what was found: in an epoch, as the journal records
// it, or in all epochs.
type Sum struct {
	Dots         uint64                   `json:"dots"`
	Units        uint64                   `json:"units"`          // of work
	Next         map[string]uint64        `json:"next,omitempty"` // by source: index of the next dot product
	Classes      [oracle.Fault + 1]uint64 `json:"classes"`
	Codes        uint64                   `json:"codes,omitempty"` // of the same, those with other codes: NaNs and zeros that are compared by class
	Features     []uint32                 `json:"features,omitempty"`
	Corpus       []CaseRef                `json:"corpus,omitempty"` // inputs with new features
	Differ       []Sample                 `json:"differ,omitempty"` // evidence for triage
	Agree        []Sample                 `json:"agree,omitempty"`
	Verdict      *triage.Verdict          `json:"verdict,omitempty"`  // the last one
	Inferred     []Inferred               `json:"inferred,omitempty"` // the last one of a side
	Buckets      map[string]*Bucket       `json:"buckets,omitempty"`
	Checked      uint64                   `json:"checked,omitempty"`       // cases that were rechecked alone
	Changed      uint64                   `json:"changed,omitempty"`       // cases of Checked that gave something else
	Unstable     uint64                   `json:"unstable,omitempty"`      // differing cases that do not repeat themselves: they are in no bucket
	UnstablePair bool                     `json:"unstable_pair,omitempty"` // some cases were unstable or depended on their tiles: unexplained cases are rechecked
	Changing     [2]bool                  `json:"changing,omitzero"`       // whether A and B gave another result in a repetition of a case
	Rounded      uint64                   `json:"rounded,omitempty"`       // of Unstable: those that differ by stochastic rounding alone
	Stochastic   []Stochastic             `json:"stochastic,omitempty"`    // the last one of a side
	History      []History                `json:"history,omitempty"`       // of sides that change their answers: what depends on what was asked before
	Drift        []Drift                  `json:"drift,omitempty"`         // of sides whose answers have changed for good
	Findings     []*Case                  `json:"findings,omitempty"`
	Where        Where                    `json:"where"`

	// Unexamined is the number of differing cases in no bucket: those of an epoch that is
	// not complete, and those that the result of a unit had no room for.
	Unexamined uint64 `json:"unexamined,omitempty"`
}

// Drift says of a side that it answers inputs otherwise than at the beginning, the same each time.
type Drift struct {
	Side    int    `json:"side"` // 0: A
	Changed int    `json:"changed"`
	Of      int    `json:"of"`   // inputs that it was asked again
	Dots    uint64 `json:"dots"` // that had been compared
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
	Digest  uint64                   `json:"digest"`          // of the cases with their results, in any order
	Marks   corpus.Marks             `json:"marks,omitempty"` // of recorded cases
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

// NewState returns the state of a pair before the first epoch.
func (p *Pair) NewState() *PairState {
	return &PairState{TargetA: p.TargetA, TargetB: p.TargetB, Name: p.Name(), BaseA: p.unknownIsB}
}

// Apply adds what an epoch has found.
func (st *PairState) Apply(d *Sum, epoch int) {
	for name := range d.Buckets {
		if st.Buckets[name] == nil {
			st.LastNew = epoch
		}
	}
	for _, f := range d.Features {
		if st.features == nil {
			st.features = map[uint32]bool{}
		}
		st.features[f] = true
	}
	before := st.Verdict
	st.Add(d)
	st.moveStaleDefect()
	st.moveUnexplained(before, d)
}

// HasFeature reports whether an input has shown a feature.
func (st *PairState) HasFeature(f uint32) bool { return st.features[f] }

// Add adds what was compared and found later.
func (s *Sum) Add(o *Sum) {
	s.Dots += o.Dots
	s.Units += o.Units
	for source, next := range o.Next {
		s.SetNext(source, next)
	}
	for c, n := range o.Classes {
		s.Classes[c] += n
	}
	s.Codes += o.Codes
	s.Features = append(s.Features, o.Features...)
	s.Corpus = append(s.Corpus, o.Corpus...)
	s.Differ = append(s.Differ, o.Differ...)
	s.Agree = append(s.Agree, o.Agree...)
	if o.Verdict != nil {
		s.Verdict = o.Verdict
	}
	for _, r := range o.Inferred {
		s.Inferred = append(slices.DeleteFunc(s.Inferred, func(before Inferred) bool { return before.Side == r.Side }), r)
	}
	for name, b := range o.Buckets {
		s.bucket(name).Add(b)
	}
	s.Checked += o.Checked
	s.Changed += o.Changed
	s.Unstable += o.Unstable
	s.UnstablePair = s.UnstablePair || o.UnstablePair
	for side, changing := range o.Changing {
		s.Changing[side] = s.Changing[side] || changing
	}
	s.Rounded += o.Rounded
	for _, r := range o.Stochastic {
		s.addStochastic(r)
	}
	s.History = append(s.History, o.History...)
	s.Drift = append(s.Drift, o.Drift...)
	s.Findings = append(s.Findings, o.Findings...)
	s.Where.Add(&o.Where)
	s.Unexamined += o.Unexamined
}

// SetNext sets the index of the next dot product of a source.
func (s *Sum) SetNext(source string, index uint64) {
	if s.Next == nil {
		s.Next = map[string]uint64{}
	}
	s.Next[source] = index
}

// bucket returns the bucket of a name, which may be new.
func (s *Sum) bucket(name string) *Bucket {
	if s.Buckets == nil {
		s.Buckets = map[string]*Bucket{}
	}
	if s.Buckets[name] == nil {
		s.Buckets[name] = &Bucket{Name: name}
	}
	return s.Buckets[name]
}

// Mismatches is the number of differing dot products.
func (s *Sum) Mismatches() uint64 {
	n := uint64(0)
	for _, k := range s.Classes[oracle.Same+1:] {
		n += k
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

// drawn reports whether a generator made the case as a part of a tile: it is not recorded and not given alone.
func (r CaseRef) drawn() bool { return r.Source != given && r.Source != Recorded }

// Mutated returns the source that mutates a case.
func (r CaseRef) Mutated() gen.Source {
	src, err := gen.ParseSource(r.Source)
	if err != nil {
		panic("fuzz: corpus: " + err.Error()) // the names in a corpus are our own
	}
	return src.Mutate(r.Index)
}

// LabelsIn returns the labels in a detail's name.
func LabelsIn(detail string) []string {
	labels, _, _ := strings.Cut(detail, ":")
	return strings.FieldsFunc(labels, func(r rune) bool { return r == '+' || r == '|' })
}
