package main

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// unexplainedMost is the number of pairs that nothing explains of which the summary tells
// more; all with -v.
const unexplainedMost = 3

// unexplained says of the pairs that nothing explains how near a known program comes,
// and how to go on.
func (u *runUI) unexplained(s *fuzz.State) {
	left := 0
	for i, p := range s.Pairs {
		if p.Buckets[string(triage.Unexplained)] == nil {
			continue
		}
		x := u.campaign.Unexplained(i)
		if x == nil {
			continue
		}
		if left++; left > unexplainedMost && !u.verbose {
			continue
		}
		fmt.Fprintln(u.stdout)
		u.writeUnexplained(x)
	}
	if left -= unexplainedMost; left > 0 && !u.verbose {
		fmt.Fprintf(u.stdout, "and %s more that nothing explains (all: -v)\n", readable.Plural(left, "pair"))
	}
}

// writeUnexplained shows what is known of a pair.
func (a *app) writeUnexplained(x *fuzz.Unexplained) {
	for _, l := range readable.Wrap(x.Why, a.width) {
		fmt.Fprintln(a.stdout, l)
	}
	if n := x.Nearest; n != nil {
		g := readable.Table{Width: a.width}
		g.Add("  nearest", bundle.NearestText(n))
		g.Add("  wrong", bundle.WitnessText(n))
		g.Write(a.stdout, nil)
	}
	for _, c := range x.Next {
		fmt.Fprintf(a.stdout, "  next     %s\n", strings.Replace(c, "mmafuzz", command(), 1))
	}
	if len(x.Next) > 0 {
		fmt.Fprintln(a.stdout, "           searches many more programs, and reports the best one with the smallest input on which it fails")
	}
}

// alikeMost is the number of known targets that may compute what a black box does: if
// more do, the evidence says little about it.
const alikeMost = 9

// alikeText says of a black box which known targets compute what it does; "" of one
// that nobody knows, or of two known sides.
func alikeText(p *fuzz.PairState) string {
	if p.Verdict == nil || len(p.Verdict.Alike) == 0 || len(p.Verdict.Alike) > alikeMost || !fuzz.IsUnknown(p.TargetA) && !fuzz.IsUnknown(p.TargetB) {
		return ""
	}
	side := "A"
	switch {
	case fuzz.IsUnknown(p.TargetA) && fuzz.IsUnknown(p.TargetB):
		side = "one of them"
	case fuzz.IsUnknown(p.TargetB):
		side = "B"
	}
	return side + " computes as " + strings.Join(readable.First(p.Verdict.Alike, 2), ", ") + "; "
}
