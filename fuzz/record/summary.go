package record

import (
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Names are what the user calls the parts of a recording.
type Names struct {
	File    string `json:"file"`
	Machine string `json:"name"`
	Target  string `json:"target"`
	Plan    string `json:"plan"`
}

// Summary sums up a recording, for JSON and for people.
type Summary struct {
	Names
	Work         string           `json:"work"`
	Instructions int              `json:"instructions"`
	Dots         uint64           `json:"dots"`
	Of           uint64           `json:"of"`
	Resumed      uint64           `json:"resumed"`
	LeftOut      uint64           `json:"left_out"`
	Faults       int              `json:"faults"`
	Bytes        int64            `json:"bytes"`
	Seconds      float64          `json:"seconds"`
	Complete     bool             `json:"complete"`
	Problems     []corpus.Problem `json:"problems"`
	Unstable     []string         `json:"unstable,omitempty"`
}

// Summary sums up the result of a recording that took some time.
func (r *Result) Summary(names Names, took time.Duration) *Summary {
	return &Summary{Names: names, Work: r.Work, Instructions: r.Instructions, Dots: r.Done, Of: r.Of, Resumed: r.Resumed, LeftOut: r.LeftOut, Faults: r.Faults,
		Bytes: r.Bytes, Seconds: took.Seconds(), Complete: r.Complete, Problems: append([]corpus.Problem{}, r.Problems...), Unstable: r.Unstable}
}

// Write writes the summary for people.
func (s *Summary) Write(w io.Writer, width int) {
	what := "recorded"
	if !s.Complete {
		what = fmt.Sprintf("recorded %s of", readable.Share(s.Dots, s.Of))
	}
	dots := readable.Dots(s.Of)
	if s.LeftOut > 0 {
		dots = fmt.Sprintf("%s of %s (%s were not tried)", readable.Thousands(s.Dots-s.LeftOut), dots, readable.Thousands(s.LeftOut))
	}
	rate := readable.Rate(s.Dots-s.LeftOut-s.Resumed, time.Duration(s.Seconds*float64(time.Second)))
	text := fmt.Sprintf("%s %s with plan %s: %s, %s, %sB in %s (%.1f s, %s/s)", what, s.Machine, s.Plan,
		readable.Plural(s.Instructions, "instruction"), dots, readable.Count(uint64(s.Bytes)), s.File, s.Seconds, readable.Count(rate))
	fmt.Fprint(w, readable.Hanging(text, width))
	if s.Faults > 0 {
		fmt.Fprint(w, readable.Hanging(fmt.Sprintf("the target failed on %s (the recording lists them)", readable.Plural(s.Faults, "dot product")), width))
	}
	for _, u := range s.Unstable {
		fmt.Fprint(w, readable.Hanging(fmt.Sprintf("warning: %s: comparisons cannot tell that from another arithmetic", u), width))
	}
	for _, p := range s.Problems {
		fmt.Fprint(w, readable.Hanging(fmt.Sprintf("missing or incomplete: %s: %s", p.Instruction, p.What), width))
	}
}
