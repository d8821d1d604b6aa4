package main

import (
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
)

// schemaVersion is the version of everything that --json writes; doc.go says
// what that is.
const schemaVersion = 1

// eventHead is the start of every event.
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
	Seed    uint64          `json:"seed"`
	Count   uint64          `json:"count"`
	Out     string          `json:"out"`
	Resumed uint64          `json:"resumed"`
	Pairs   []summary.Names `json:"pairs"`
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
	*summary.Summary
}

// event writes one event. stdout remembers its own write error, which main reports; any
// other would be a defect and is logged.
func (u *runUI) event(e any) {
	if err := u.writeJSON(e); err != nil && u.stdout.Err() == nil {
		u.log.Error().Err(err).Msg("writing an event")
	}
}

func (u *runUI) startEvent() *startEvent {
	e := &startEvent{eventHead: newEvent("start"), Seed: u.cfg.Seed, Count: u.cfg.Count, Out: u.dir, Resumed: u.startDots}
	for i := range u.cfg.Pairs {
		p := &u.cfg.Pairs[i]
		e.Pairs = append(e.Pairs, summary.Names{A: p.TargetA, B: p.TargetB, Instruction: p.Name()})
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
