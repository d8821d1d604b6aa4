package fleet

import (
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Write writes the status for people.
func (st *Status) Write(w io.Writer, width int, bold func(string) string) {
	alive := 0
	for _, x := range st.Shards {
		if x.State == Alive {
			alive++
		}
	}
	eta := ""
	if st.ETA > 0 {
		eta = ", about " + readable.Clock(time.Duration(st.ETA*float64(time.Second))) + " left"
	}
	fmt.Fprintf(w, "plan %s: %d of %s done, %d taken by shards, round %d of %d; %s alive\n", st.Plan, st.Done, readable.Plural(st.Units, "unit"), st.Leased,
		min(st.Round+1, st.Rounds), st.Rounds, readable.Plural(alive, "shard"))
	fmt.Fprintf(w, "%s of %s dot products, %s/s%s\n", readable.Count(st.Dots), readable.Count(st.Count), readable.Count(uint64(st.Rate)), eta)
	if st.Triaged > 0 {
		fmt.Fprintf(w, "triage: %s already done, which merge will use\n", readable.Plural(st.Triaged, "step"))
	}
	if len(st.Causes) > 0 {
		g := readable.Table{Width: width}
		g.Add("CAUSE", "CASES", "FIRST SEEN")
		for _, c := range st.Causes {
			first := "" // merged results do not say when
			if c.Since > 0 {
				first = fmt.Sprintf("%s ago, with %s done", readable.Clock(time.Duration(c.Since*float64(time.Second))), readable.Plural(c.AtUnits, "unit"))
			}
			g.Add(c.Name, readable.Thousands(c.Cases), first)
		}
		fmt.Fprintln(w)
		g.Write(w, bold)
	}
	if len(st.Shards) > 0 {
		g := readable.Table{Width: width}
		g.Add("SHARD", "STATE", "HEARTBEAT", "UNITS", "DOTS", "DOTS/S", "HOST")
		for _, x := range st.Shards {
			g.Add(fmt.Sprintf("%d/%d", x.Shard, x.Of), x.State, readable.Clock(time.Duration(x.Age*float64(time.Second)))+" ago", fmt.Sprint(x.Units),
				readable.Count(x.Dots), readable.Count(uint64(x.Rate)), x.Host)
		}
		fmt.Fprintln(w)
		g.Write(w, bold)
	}
}
