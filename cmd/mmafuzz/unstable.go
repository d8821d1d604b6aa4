package main

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// unstableSummary is what a pair's summary says of cases that do not repeat themselves.
type unstableSummary struct {
	Cases    uint64 `json:"cases"`
	Repeated int    `json:"repeated"` // of the case in the bundle
	Of       int    `json:"of"`
	Bundle   string `json:"bundle,omitempty"`
}

// unstable returns that of a pair, nil if all its cases repeat themselves.
func (u *runUI) unstable(pair int, st *fuzz.PairState) *unstableSummary {
	if st.Unstable == 0 {
		return nil
	}
	s := &unstableSummary{Cases: st.Unstable}
	for _, f := range u.findings {
		if f.Pair == pair && f.Bucket == fuzz.Unstable {
			s.Repeated, s.Of, s.Bundle = f.Stable, f.Of, u.bundleDir(f)
			break
		}
	}
	return s
}

// unstableList says which mismatches are no evidence of anything, because a unit gave
// another answer when it was asked again.
func (u *runUI) unstableList(s *fuzz.State) {
	for i, st := range s.Pairs {
		x := u.unstable(i, st)
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

// defaultRepetitions is the number of repetitions of a finding in whose bundle it is
// not written.
const defaultRepetitions = 3

// repeatedText says how often a finding gave the same results again.
func repeatedText(m *corpus.Mismatch) string {
	of := m.Of
	if of == 0 {
		of = defaultRepetitions
	}
	switch {
	case m.Class == oracle.Fault.String():
		return "" // it was not run again
	case m.Bucket == fuzz.Unstable:
		return fmt.Sprintf("It does not repeat itself: %d of %d runs gave these results.", m.Stable, of)
	case m.Of != 0:
		return fmt.Sprintf("Repeated %d of %d times where it was found.", m.Stable, of)
	}
	return fmt.Sprintf("Repeated %d of %d times.", m.Stable, of)
}
