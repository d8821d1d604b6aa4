package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

func newReplay(a *app) *cobra.Command {
	var t *trust
	c := &cobra.Command{
		Use:   "replay BUNDLE",
		Short: "run the case of a bundle again and say whether it is reproduced",
		Long: `replay runs the case of a bundle on both targets: once, or if it is unstable (it did not
repeat itself when it was found) as often as it was run then, at most 1000 times. If a
target is a command (exec:), it is shown, and run only if you agree: on the terminal, or by
--allow-exec. minimize and triage ask in the same way.

Exit status: 0 the two sides agree now, 1 they still differ, 2 trouble, 75 interrupted.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), t, args[0]) },
	}
	t = trusting(a, c)
	return c
}

// replayed is the outcome of replay.
type replayed struct {
	Bundle     string `json:"bundle"`
	A          string `json:"a"` // results now
	B          string `json:"b"`
	RecordedA  string `json:"recorded_a"`
	RecordedB  string `json:"recorded_b"`
	Class      string `json:"class"`
	Reproduced bool   `json:"reproduced"`
	Through    string `json:"through_model,omitempty"` // the side that a model stands in for: a, b or both
	Runs       int    `json:"runs,omitempty"`          // of a case that does not repeat itself
	Differed   int    `json:"differed,omitempty"`      // runs in which the sides differ

	differed int // as Differed, but counted for stable cases too
}

func (a *app) replay(ctx context.Context, t *trust, dir string) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if err := t.bundle(ctx, dir, &b.Mismatch); err != nil {
		return err
	}
	m := bundle.Local(&b.Mismatch, dir)
	r := replayed{Bundle: dir, RecordedA: m.A.Result, RecordedB: m.B.Result}
	runs := 1
	unstable := m.Bucket == fuzz.Unstable
	if unstable {
		r.Runs = min(bundle.Repetitions(m), mostRuns)
		runs = r.Runs
	}
	if err := r.run(ctx, m, runs); err != nil {
		return err
	}
	switch {
	case a.json:
		err = a.writeJSON(r)
	case unstable:
		r.writeUnstable(a, m)
	default:
		r.write(a, m)
	}
	if err == nil && r.differed > 0 {
		err = errMismatch
	}
	return err
}

// mostRuns is how often a case is replayed at most, whatever number the bundle has.
const mostRuns = 1000

// run runs the case. The results that are shown are those of the first run that differed,
// or the last.
func (r *replayed) run(ctx context.Context, m *corpus.Mismatch, runs int) error {
	rerun, err := bundle.Open(m)
	if err != nil {
		return err
	}
	for range runs {
		res, err := rerun.Run(ctx)
		if err != nil {
			return err
		}
		if r.differed == 0 {
			r.A, r.B, r.Class, r.Through = mma.FormatCode(m.Formats.D, res.A), mma.FormatCode(m.Formats.D, res.B), res.Class.String(), res.Through
		}
		if res.Class != oracle.Same {
			r.differed++
		}
	}
	if r.Reproduced = r.A == r.RecordedA && r.B == r.RecordedB; r.Runs > 0 {
		r.Reproduced, r.Differed = r.differed > 0, r.differed
	}
	return nil
}

// writeSides writes the case and both results.
func (r *replayed) writeSides(a *app, m *corpus.Mismatch) {
	fmt.Fprintf(a.stdout, "%s  (%s)\n", m.Case, m.A.Instruction)
	for _, s := range []struct{ name, target, now, then string }{{"A", m.A.Target, r.A, r.RecordedA}, {"B", m.B.Target, r.B, r.RecordedB}} {
		note := ""
		if s.now != s.then {
			note = "  (was " + s.then + ")"
		}
		if r.Through == strings.ToLower(s.name) || r.Through == "both" {
			note += "  (computed by the model that stands in for this recording)"
		}
		fmt.Fprintf(a.stdout, "  %s  %-24s %s%s\n", s.name, printable.Line(s.target), s.now, note)
	}
}

func (r *replayed) write(a *app, m *corpus.Mismatch) {
	r.writeSides(a, m)
	switch {
	case r.Reproduced:
		fmt.Fprintln(a.stdout, "reproduced")
	case r.Class == oracle.Same.String():
		fmt.Fprintln(a.stdout, "not reproduced: the two sides agree")
	default:
		fmt.Fprintln(a.stdout, "not reproduced: the two sides still differ, but with other results")
	}
}

// writeUnstable writes the outcome of a case that does not repeat itself.
func (r *replayed) writeUnstable(a *app, m *corpus.Mismatch) {
	r.writeSides(a, m)
	if r.Differed > 0 {
		fmt.Fprintf(a.stdout, "unstable: the two sides differ in %d of %d runs\n", r.Differed, r.Runs)
		return
	}
	fmt.Fprintf(a.stdout, "unstable: the two sides agree in all of %d runs; when it was found, %d of %d repetitions gave the results of the bundle\n",
		r.Runs, m.Stable, bundle.Repetitions(m))
}
