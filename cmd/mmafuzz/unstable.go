package main

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// unstableSummary is what a pair's summary says of cases that do not repeat themselves.
type unstableSummary struct {
	Cases    uint64 `json:"cases"`
	Repeated int    `json:"repeated"` // of the case in the bundle
	Of       int    `json:"of"`
	Bundle   string `json:"bundle,omitempty"`
}

// unstableOf returns that of a pair, nil if all its cases repeat themselves.
func unstableOf(st *fuzz.PairState) *unstableSummary {
	if st.Unstable == 0 {
		return nil
	}
	s := &unstableSummary{Cases: st.Unstable}
	for _, f := range st.Findings {
		if f.Bucket == fuzz.Unstable {
			s.Repeated, s.Of, s.Bundle = f.Stable, f.Of, f.Dir
			break
		}
	}
	return s
}

// unstableList says which mismatches are no evidence of anything, because a unit gave
// another answer when it was asked again.
func (u *runUI) unstableList(s *fuzz.State) {
	for _, st := range s.Pairs {
		x := unstableOf(st)
		if x == nil {
			continue
		}
		text := fmt.Sprintf("unstable: %s of the mismatches of %s do not repeat themselves; they count as no cause.", readable.Thousands(x.Cases), st.Name)
		if x.Bundle != "" {
			text += fmt.Sprintf(" One of them gave the same results %d of %d times: %s", x.Repeated, x.Of, x.Bundle)
		}
		fmt.Fprintln(u.stdout)
		fmt.Fprint(u.stdout, readable.Hanging(text, u.width))
	}
}
