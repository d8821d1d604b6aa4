package main

import (
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// schemaVersion is the version of everything that --json writes; doc.go says
// what that is.
const schemaVersion = 1

// eventHead is how every event of run begins.
type eventHead struct {
	V     int    `json:"v"`
	T     string `json:"t"`
	Event string `json:"event"`
}

func newEvent(name string) eventHead {
	return eventHead{schemaVersion, time.Now().UTC().Format(time.RFC3339Nano), name}
}

type startEvent struct {
	eventHead
	Seed    uint64      `json:"seed"`
	Count   uint64      `json:"count"`
	Out     string      `json:"out"`
	Resumed uint64      `json:"resumed"`
	Pairs   []pairNames `json:"pairs"`
}

type pairNames struct {
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction"`
}

type findingEvent struct {
	eventHead
	Pair     int              `json:"pair"`
	Bucket   string           `json:"bucket"`
	Detail   string           `json:"detail"`
	Bundle   string           `json:"bundle"`
	Mismatch *corpus.Mismatch `json:"mismatch"`
}

type progressEvent struct {
	eventHead
	Seconds    float64 `json:"seconds"`
	Dots       uint64  `json:"dots"`
	Mismatches uint64  `json:"mismatches"`
	Buckets    int     `json:"buckets"`
	Features   int     `json:"features"`
}

type summaryEvent struct {
	eventHead
	Seconds     float64            `json:"seconds"`
	Dots        uint64             `json:"dots"`
	Mismatches  uint64             `json:"mismatches"`
	Causes      int                `json:"causes"`
	NotKept     int                `json:"not_kept"`
	Interrupted bool               `json:"interrupted"`
	Complete    bool               `json:"complete"`
	Incomplete  *fuzz.Unfinished   `json:"incomplete,omitempty"`
	Count       uint64             `json:"count"`
	Sequence    []uint64           `json:"count_sequence"`
	Pairs       []pairSummary      `json:"pairs"`
	Known       []compare.KnownUse `json:"known,omitempty"`
	Counts      *listCounts        `json:"counts,omitempty"`
}

// listCounts are the buckets by their state, with a list of known differences.
type listCounts struct {
	New     int `json:"new"`
	Known   int `json:"known"`
	Expired int `json:"expired"`
}

type pairSummary struct {
	pairNames
	Dots       uint64            `json:"dots"`
	Mismatches uint64            `json:"mismatches"`
	Classes    map[string]uint64 `json:"classes"`
	Explained  bool              `json:"explained"`
	Labels     []triage.Label    `json:"labels"`
	Changes    []mma.Change      `json:"changes"`
	Equivalent [][]mma.Change    `json:"equivalent"`
	Alike      []string          `json:"alike"`
	Nearest    *corpus.Nearest   `json:"nearest,omitempty"`
	Next       []string          `json:"next"`
	Buckets    []bucketSummary   `json:"buckets"`
	Unstable   *unstableSummary  `json:"unstable,omitempty"`
	Unexamined uint64            `json:"unexamined"`
}

type bucketSummary struct {
	Name    string            `json:"name"`
	Class   oracle.Class      `json:"class"`
	Cases   uint64            `json:"cases"`
	MaxUlp  float64           `json:"max_ulp"`
	Classes map[string]uint64 `json:"classes"`
	Details []detailSummary   `json:"details"`
	Rest    uint64            `json:"rest"`
	Bundle  string            `json:"bundle,omitempty"`
	ID      string            `json:"id"`
	State   string            `json:"state"`
	Known   string            `json:"known,omitempty"`
}

type detailSummary struct {
	Name   string  `json:"name"`
	Cases  uint64  `json:"cases"`
	MaxUlp float64 `json:"max_ulp"`
	Bundle string  `json:"bundle,omitempty"`
}

// event writes one event. An error of stdout stays with it; others cannot be.
func (u *runUI) event(e any) {
	if err := u.writeJSON(e); err != nil && u.stdout.Err() == nil {
		u.log.Error().Err(err).Msg("writing an event")
	}
}

func (u *runUI) startEvent() *startEvent {
	e := &startEvent{eventHead: newEvent("start"), Seed: u.cfg.Seed, Count: u.cfg.Count, Out: u.dir, Resumed: u.startDots}
	for i := range u.cfg.Pairs {
		p := &u.cfg.Pairs[i]
		e.Pairs = append(e.Pairs, pairNames{p.TargetA, p.TargetB, p.Name()})
	}
	return e
}

func (u *runUI) findingEvent(f *fuzz.Case) *findingEvent {
	return &findingEvent{newEvent("finding"), f.Pair, f.Bucket, f.Detail, f.Dir, f.Mismatch}
}

func (u *runUI) progressEvent(s *fuzz.State) *progressEvent {
	e := &progressEvent{eventHead: newEvent("progress"), Seconds: time.Since(u.began).Seconds()}
	e.Dots, e.Mismatches, e.Buckets = s.Totals()
	for _, p := range s.Pairs {
		e.Features += len(p.Features)
	}
	return e
}

func (u *runUI) summaryEvent(s *fuzz.State) *summaryEvent {
	e := &summaryEvent{
		eventHead: newEvent("summary"), Seconds: time.Since(u.began).Seconds(),
		Interrupted: u.left != nil && u.left.Why == fuzz.Interrupted, Complete: u.left == nil, Incomplete: u.left,
		Count: equivalentCount(s), Sequence: append([]uint64{}, s.Counts...),
	}
	e.Dots, e.Mismatches, e.Causes = s.Totals()
	e.NotKept = s.NotKept()
	ds, uses, counts := u.judge(s)
	for i, p := range s.Pairs {
		e.Pairs = append(e.Pairs, u.pairSummary(i, p))
	}
	n := 0
	for i := range e.Pairs {
		for j := range e.Pairs[i].Buckets { // in the order of judge
			d := &ds[n]
			b := &e.Pairs[i].Buckets[j]
			b.ID, b.State, b.Known = d.ID, d.State, d.Known
			n++
		}
	}
	if u.list.List != nil {
		e.Known = uses
		e.Counts = &listCounts{counts.New, counts.Known, counts.Expired}
	}
	return e
}

func (u *runUI) pairSummary(index int, p *fuzz.PairState) pairSummary {
	s := pairSummary{
		pairNames: pairNames{p.TargetA, p.TargetB, p.Name}, Dots: p.Dots, Mismatches: p.Mismatches(),
		Classes: map[string]uint64{}, Buckets: []bucketSummary{},
		Labels: []triage.Label{}, Changes: []mma.Change{}, Equivalent: [][]mma.Change{}, Alike: []string{}, Next: []string{},
		Unstable: unstableOf(p), Unexamined: p.Unexamined,
	}
	for c, n := range p.Classes {
		if n > 0 {
			s.Classes[oracle.Class(c).String()] = n
		}
	}
	if v := p.Verdict; v != nil {
		s.Explained = v.Found()
		s.Labels = append(s.Labels, v.Labels...)
		s.Changes = append(s.Changes, v.Changes...)
		s.Equivalent = append(s.Equivalent, v.Equivalent...)
		s.Alike = append(s.Alike, v.Alike...)
	}
	if x := u.campaign.Unexplained(index); x != nil && p.Mismatches() > 0 {
		s.Nearest, s.Next = x.Nearest, append(s.Next, x.Next...)
	}
	for _, b := range p.Sorted() {
		s.Buckets = append(s.Buckets, newBucketSummary(p, b))
	}
	return s
}

func newBucketSummary(p *fuzz.PairState, b *fuzz.Bucket) bucketSummary {
	s := bucketSummary{Name: b.Name, Class: b.MostClass(), Cases: b.Cases, MaxUlp: b.MaxUlp, Rest: b.More,
		Classes: map[string]uint64{}, Details: []detailSummary{}, Bundle: p.Bundle(b.Name, "")}
	for c, n := range b.Classes {
		if n > 0 {
			s.Classes[oracle.Class(c).String()] = n
		}
	}
	for _, d := range b.SortedDetails() {
		s.Details = append(s.Details, detailSummary{d.Name, d.Cases, d.MaxUlp, p.Bundle(b.Name, d.Name)})
	}
	return s
}

// equivalentCount is the --count that gives the findings of a campaign's complete
// epochs: the last of several, if it was cut before.
func equivalentCount(s *fuzz.State) uint64 {
	if n := len(s.Counts); n > 0 {
		return s.Counts[n-1]
	}
	return 0
}

// writeCounts says how to get the same findings without a clock.
func (u *runUI) writeCounts(s *fuzz.State) {
	if len(s.Counts) == 0 {
		return
	}
	text := fmt.Sprintf("the same findings without a clock: --count %d", s.Counts[0])
	for _, n := range s.Counts[1:] {
		text += fmt.Sprintf(", then --count %d with the same --out", n)
	}
	fmt.Fprintln(u.stdout, text)
}
