package fleet

import (
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Write writes the status for people.
func (s *Status) Write(w io.Writer, width int, bold func(string) string) {
	alive := 0
	for _, x := range s.Shards {
		if x.State == stateAlive {
			alive++
		}
	}
	eta := ""
	if s.ETA > 0 {
		eta = ", about " + readable.Clock(time.Duration(s.ETA*float64(time.Second))) + " left"
	}
	fmt.Fprintf(w, "plan %s: %d of %s done, %d taken by shards, round %d of %d; %s alive\n", s.Plan, s.Done, readable.Plural(s.Units, "unit"), s.Leased,
		min(s.Round+1, s.Rounds), s.Rounds, readable.Plural(alive, "shard"))
	fmt.Fprintf(w, "%s of %s dot products, %s/s%s\n", readable.Count(s.Dots), readable.Count(s.Count), readable.Count(uint64(s.Rate)), eta)
	if s.Triaged > 0 {
		fmt.Fprintf(w, "triage: %s already done, which merge will use\n", readable.Plural(s.Triaged, "step"))
	}
	if len(s.Causes) > 0 {
		g := readable.Table{Width: width}
		g.Add("CAUSE", "CASES", "FIRST SEEN")
		for _, c := range s.Causes {
			first := "" // merged results do not say when
			if c.Since > 0 {
				first = fmt.Sprintf("%s ago, with %s done", readable.Clock(time.Duration(c.Since*float64(time.Second))), readable.Plural(c.AtUnits, "unit"))
			}
			g.Add(c.Name, readable.Thousands(c.Cases), first)
		}
		fmt.Fprintln(w)
		g.Write(w, bold)
	}
	if len(s.Shards) > 0 {
		g := readable.Table{Width: width}
		g.Add("SHARD", "STATE", "HEARTBEAT", "UNITS", "DOTS", "DOTS/S", "HOST")
		for _, x := range s.Shards {
			g.Add(fmt.Sprintf("%d/%d", x.Shard, x.Of), x.State, readable.Clock(time.Duration(x.Age*float64(time.Second)))+" ago", fmt.Sprint(x.Units),
				readable.Count(x.Dots), readable.Count(uint64(x.Rate)), x.Host)
		}
		fmt.Fprintln(w)
		g.Write(w, bold)
	}
}
