package fleet

import (
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Document is the status for people.
func (s *Status) Document() *document.Document {
	d := document.New("Campaign of the plan "+s.Plan, "")
	say := func(format string, args ...any) document.Block { return document.Text(fmt.Sprintf(format, args...)) }
	about := []document.Block{
		say("plan %s: %d of %s done, round %d of %d; %s alive", s.Plan, s.Done, readable.Plural(s.Units, "unit"),
			min(s.Round+1, s.Rounds), s.Rounds, readable.Plural(s.alive(), "shard")),
		say("%s of %s%s", readable.Thousands(s.Dots), readable.Dots(s.Count), s.outlook()),
	}
	causes := &document.Table{Columns: document.Columns("cause", "#cases", "first seen")}
	for _, c := range s.Causes {
		first := "" // merged results do not say when
		if c.Since > 0 {
			first = fmt.Sprintf("%s ago, with %s done", clock(c.Since), readable.Plural(c.AtUnits, "unit"))
		}
		causes.Add(c.Name, readable.Thousands(c.Cases), first)
	}
	shards := &document.Table{Columns: document.Columns("shard", "state", "#last result", "#units", "#dots", "#dots/s", "host")}
	for _, x := range s.Shards {
		rate := ""
		if x.Rate > 0 {
			rate = readable.Count(uint64(x.Rate))
		}
		shards.Add(fmt.Sprintf("%d/%d", x.Shard, x.Of), x.State, clock(x.Age)+" ago", fmt.Sprint(x.Units), readable.Thousands(x.Dots), rate, x.Host)
	}
	d.Untitled = true
	d.Add("Progress", about...)
	d.Add("Causes so far", causes)
	d.Add("Shards", shards)
	return d
}

// clock writes seconds.
func clock(seconds float64) string {
	return readable.Clock(time.Duration(seconds * float64(time.Second)))
}

// outlook says how fast a campaign goes on, if that is known.
func (s *Status) outlook() string {
	switch {
	case s.unattended():
		return "; nobody seems to work on the rest: " + s.advice
	case s.Rate > 0:
		return fmt.Sprintf(", %s/s, about %s left", readable.Count(uint64(s.Rate)), clock(s.ETA))
	}
	return ""
}

// ShardSummary sums up the work of a shard, for JSON and for people.
type ShardSummary struct {
	Plan       string  `json:"plan"`
	Shard      string  `json:"shard"`
	Units      int     `json:"units"`
	Done       int     `json:"done"`
	Here       int     `json:"here"`
	Others     int     `json:"others"`
	Dots       uint64  `json:"dots"`
	Mismatches uint64  `json:"mismatches"`
	Seconds    float64 `json:"seconds"`
	Complete   bool    `json:"complete"`
}

// Summary sums up the work of a shard of a plan, I/N, which took some time.
func (p *Progress) Summary(plan *Plan, shard string, took time.Duration, complete bool) *ShardSummary {
	return &ShardSummary{plan.Digest(), shard, len(plan.Units()), p.Done, p.Here, p.Others, p.Dots, p.Mismatches, took.Seconds(), complete}
}

// Write writes the summary for people.
func (s *ShardSummary) Write(w io.Writer, width int) {
	rate := readable.Rate(s.Dots, time.Duration(s.Seconds*float64(time.Second)))
	others := ""
	if s.Others > 0 {
		others = fmt.Sprintf(" (%d of other shards)", s.Others)
	}
	text := fmt.Sprintf("shard %s: %s done here%s, %d of %d in all: %s in %s (%.1f s, %s/s)", s.Shard, readable.Plural(s.Here, "unit"), others,
		s.Done, s.Units, readable.Mismatches(s.Mismatches), readable.Dots(s.Dots), s.Seconds, readable.Count(rate))
	fmt.Fprint(w, readable.Hanging(text, width))
	if left := s.Units - s.Done; s.Complete && left > 0 {
		fmt.Fprint(w, readable.Hanging("of other shards, without a result in this directory: "+readable.Plural(left, "unit")+" (mmafuzz status, given the directories of all shards, shows how far they are)", width))
	}
	if s.Others > 0 && s.Here == s.Done {
		fmt.Fprint(w, readable.Hanging("no other shard has written here: those that get the same --out share the work", width))
	}
}
