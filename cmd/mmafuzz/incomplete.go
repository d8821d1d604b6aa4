package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// exitIncomplete is the exit status of a command that did not do all that it was asked
// to do, whatever it found: EX_TEMPFAIL of sysexits(3), on which schedulers requeue.
const exitIncomplete = 75

// incompleteError is returned by a command that did not do all of its work: it was
// interrupted, or its target has stopped answering. The same command goes on.
type incompleteError struct{ error }

func (e *incompleteError) Unwrap() error { return e.error }

// incomplete marks an error as one of work that is left; nil stays nil.
func incomplete(err error) error {
	if err == nil {
		return nil
	}
	return &incompleteError{err}
}

// isIncomplete reports whether an error is one of work that is left.
func isIncomplete(err error) bool {
	return errors.As(err, new(*incompleteError)) || errors.As(err, new(*fuzz.GoneError)) || errors.Is(err, context.Canceled)
}

// unfinished says what a campaign has compared and what not.
type unfinished struct {
	Why          string   `json:"why"`
	Dots         uint64   `json:"dots"`
	Of           uint64   `json:"of,omitempty"` // 0: a time was asked for, no number
	Pairs        int      `json:"pairs"`        // that have had all that they were to have
	OfPairs      int      `json:"of_pairs"`
	Unexamined   uint64   `json:"unexamined"`
	Instructions []string `json:"instructions"` // of the pairs that have not
}

// The reasons why a campaign is incomplete.
const (
	whyInterrupted = "interrupted"
	whyNothing     = "no dot product was compared"
)

// unfinishedOf returns what is left of a campaign that has ended with an error of Run;
// nil if it is complete, or the error is none of those that leave work.
func (u *runUI) unfinishedOf(ctx context.Context, c *fuzz.Campaign, err error) *unfinished {
	var gone *fuzz.GoneError
	dots, _, _ := c.State().Totals()
	switch {
	case errors.As(err, &gone):
		return u.newUnfinished(c.State(), gone.Error())
	case err != nil:
		return nil
	case !c.Complete() && ctx.Err() != nil:
		return u.newUnfinished(c.State(), whyInterrupted)
	case dots == 0:
		return u.newUnfinished(c.State(), whyNothing)
	}
	return nil
}

func (u *runUI) newUnfinished(s *fuzz.State, why string) *unfinished {
	x := &unfinished{Why: why, OfPairs: len(s.Pairs), Instructions: []string{}}
	endless := false
	for i, st := range s.Pairs {
		wanted := u.wanted(i)
		x.Dots += st.Dots
		x.Of += wanted
		x.Unexamined += st.Unexamined
		if wanted > 0 && st.Dots >= wanted && st.Unexamined == 0 {
			x.Pairs++
		} else {
			x.Instructions = append(x.Instructions, st.Name)
		}
		endless = endless || wanted == 0
	}
	if endless {
		x.Of = 0
	}
	return x
}

// wanted is the number of dot products that a pair is to have; 0: no number.
func (u *runUI) wanted(pair int) uint64 {
	p := &u.cfg.Pairs[pair]
	for _, side := range []devices.Unit{p.A, p.B} {
		if r, ok := side.(devices.Recorder); ok {
			return uint64(r.Recorded())
		}
	}
	return u.cfg.Count
}

// leftMost is the number of instructions that the text names.
const leftMost = 4

// text says in words what was compared and what not.
func (x *unfinished) text() string {
	what := readable.Thousands(x.Dots) + " dot products were compared"
	if x.Of > 0 {
		what = fmt.Sprintf("%s of %s dot products were compared", readable.Thousands(x.Dots), readable.Thousands(x.Of))
	}
	text := fmt.Sprintf("incomplete: %s; %s", x.Why, what)
	if n := len(x.Instructions); x.OfPairs > 1 && x.Of > 0 {
		names := x.Instructions[:min(n, leftMost)]
		text += fmt.Sprintf("; %d of %d pairs are complete, not %s", x.Pairs, x.OfPairs, strings.Join(names, ", "))
		if n > leftMost {
			text += fmt.Sprintf(" and %d more", n-leftMost)
		}
	}
	return text
}

// writeUnfinished says what was not compared or not examined, and how to go on.
func (u *runUI) writeUnfinished(s *fuzz.State) {
	lines := []string{}
	unexamined := uint64(0)
	for _, st := range s.Pairs {
		unexamined += st.Unexamined
	}
	if u.left != nil {
		lines = append(lines, u.left.text())
	}
	if unexamined > 0 {
		lines = append(lines, readable.Thousands(unexamined)+" of the mismatches are in no bucket yet: what they have in common was not looked for")
	}
	if lines != nil && (u.left == nil || u.left.Why != whyNothing) {
		lines = append(lines, fmt.Sprintf("to go on: the same command with --out %s", readable.ShellPath(u.dir)))
	}
	if u.left != nil && u.left.Why == whyNothing {
		lines = append(lines, "to go on: give more --time or --count, other generators, or a recording that has inputs")
	}
	if unexamined == 0 && u.left == nil {
		return
	}
	for _, text := range lines {
		fmt.Fprint(u.stdout, readable.Hanging(text, u.width))
	}
}
