package main

import (
	"encoding/json"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// With --json, run writes one event a line:
//
//	{"v":1,"t":TIME,"event":NAME, ...}
//
// v is the version of this schema; fields may be added under one version, but
// none removed or changed. t is RFC 3339. Codes are hexadecimal strings with all
// digits of their format. The events and their other fields:
//
//	start     seed, count (0: no limit), pairs: [{a, b, instruction}], resumed
//	          (dot products of an earlier part of the campaign)
//	finding   pair (index into start's pairs), bucket, bundle (directory), and
//	          the fields of mismatch.json (package corpus, type Mismatch)
//	progress  seconds, dots, mismatches, buckets, features
//	summary   seconds, dots, mismatches, interrupted, count (that gives the same
//	          findings), pairs: [{a, b, instruction, dots, mismatches, classes:
//	          {NAME: n}, labels, changes, explained, equivalent, buckets:
//	          [{name, class, cases, max_ulp, bundle}]}]
//
// Other commands write one JSON object with the fields that their text shows.
const eventVersion = 1

// event writes one event.
func (u *runUI) event(name string, fields map[string]any) {
	fields["v"] = eventVersion
	fields["t"] = time.Now().UTC().Format(time.RFC3339Nano)
	fields["event"] = name
	if err := json.NewEncoder(u.stdout).Encode(fields); err != nil {
		u.log.Error().Err(err).Msg("writing an event")
	}
}

type pairNames struct {
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction"`
}

func startEvent(cfg fuzz.Config, s *fuzz.State) map[string]any {
	var pairs []pairNames
	for i := range cfg.Pairs {
		p := &cfg.Pairs[i]
		pairs = append(pairs, pairNames{p.TargetA, p.TargetB, p.Name()})
	}
	dots, _, _ := s.Totals()
	return map[string]any{"seed": cfg.Seed, "count": cfg.Count, "pairs": pairs, "resumed": dots}
}

func (u *runUI) findingEvent(f *fuzz.Finding, dir string) map[string]any {
	m := map[string]any{}
	body, err := json.Marshal(u.mismatch(f))
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		u.log.Error().Err(err).Msg("describing a finding")
	}
	m["pair"], m["bundle"] = f.Pair, dir
	return m
}

func (u *runUI) progressEvent(s *fuzz.State) map[string]any {
	dots, mismatches, buckets := s.Totals()
	features := 0
	for _, p := range s.Pairs {
		features += len(p.Features)
	}
	return map[string]any{
		"seconds": time.Since(u.began).Seconds(), "dots": dots, "mismatches": mismatches,
		"buckets": buckets, "features": features,
	}
}

type bucketSummary struct {
	Name   string       `json:"name"`
	Class  oracle.Class `json:"class"`
	Cases  uint64       `json:"cases"`
	MaxUlp float64      `json:"max_ulp"`
	Bundle string       `json:"bundle,omitempty"`
}

func (u *runUI) summaryEvent(s *fuzz.State, interrupted bool) map[string]any {
	dots, mismatches, _ := s.Totals()
	var pairs []map[string]any
	for i, p := range s.Pairs {
		classes := map[string]uint64{}
		for c, n := range p.Classes {
			if n > 0 {
				classes[oracle.Class(c).String()] = n
			}
		}
		m := map[string]any{
			"a": p.TargetA, "b": p.TargetB, "instruction": p.Name, "dots": p.Dots,
			"mismatches": p.Mismatches(), "classes": classes, "buckets": u.bucketSummaries(i, p),
		}
		if v := p.Verdict; v != nil {
			m["labels"], m["changes"], m["explained"], m["equivalent"] = v.Labels, v.Changes, v.Found(), v.Equivalent
		}
		pairs = append(pairs, m)
	}
	return map[string]any{
		"seconds": time.Since(u.began).Seconds(), "dots": dots, "mismatches": mismatches,
		"interrupted": interrupted, "count": equivalentCount(s), "pairs": pairs,
	}
}

func (u *runUI) bucketSummaries(pair int, p *fuzz.PairState) []bucketSummary {
	buckets := []bucketSummary{}
	for _, b := range p.Sorted() {
		s := bucketSummary{b.Name, b.Class, b.Cases, b.MaxUlp, ""}
		if f := u.firstFinding(pair, b.Name); f != nil {
			s.Bundle = u.bundleDir(f)
		}
		buckets = append(buckets, s)
	}
	return buckets
}

func (u *runUI) firstFinding(pair int, bucket string) *fuzz.Finding {
	for _, f := range u.findings {
		if f.Pair == pair && f.Bucket == bucket {
			return f
		}
	}
	return nil
}

// equivalentCount is the --count that gives the findings of a campaign that was
// stopped by time.
func equivalentCount(s *fuzz.State) uint64 {
	most := uint64(0)
	for _, p := range s.Pairs {
		most = max(most, p.Dots)
	}
	return most
}
