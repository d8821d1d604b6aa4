package record

import (
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// TextOptions are what the text about a result needs besides.
type TextOptions struct {
	Machine, Plan, File string
	Took                time.Duration
	Width               int // columns
}

// Write writes the result for people.
func (r *Result) Write(w io.Writer, o TextOptions) {
	what := "recorded"
	if !r.Complete {
		what = fmt.Sprintf("recorded %s of", readable.Share(r.Done, r.Of))
	}
	rate := readable.Count(readable.Rate(r.Done-r.Resumed, o.Took))
	fmt.Fprintf(w, "%s %s with plan %s: %s, %s dot products, %sB in %s (%.1f s, %s/s)\n", what, o.Machine, o.Plan,
		readable.Plural(r.Instructions, "instruction"), readable.Thousands(r.Of), readable.Count(uint64(r.Bytes)), o.File, o.Took.Seconds(), rate)
	if r.Faults > 0 {
		fmt.Fprintf(w, "the target failed on %s (the recording lists them)\n", readable.Plural(r.Faults, "dot product"))
	}
	for _, p := range r.Problems {
		fmt.Fprint(w, readable.Hanging(fmt.Sprintf("missing or incomplete: %s: %s", p.Instruction, p.What), o.Width))
	}
}
