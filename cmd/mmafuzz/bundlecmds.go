package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

func newReplay(a *app) *cobra.Command {
	var t *trust
	c := &cobra.Command{
		Use:   "replay BUNDLE",
		Short: "run the case of a bundle again and say whether it is reproduced",
		Long: `replay runs the case of a bundle on both targets; one that did not repeat itself when
it was found (unstable) as often as it was run then. If a target is a command (exec:), it
is shown, and run only if you say so: on the terminal, or by --allow-exec. So do
minimize and triage.

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
	Differed   int    `json:"differed,omitempty"`      // of these, those in which the sides differ

	differed int // runs of any case
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
		if runs = m.Of; runs <= 0 || runs > 1000 {
			runs = unstableRuns
		}
		r.Runs = runs
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

// unstableRuns is how often a case that does not repeat itself is replayed, if the
// bundle does not say how often it was run when it was found.
const unstableRuns = 8

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
			note += "  (by the model that explains it)"
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
		r.Runs, m.Stable, r.Runs)
}

func newShow(a *app) *cobra.Command {
	var trace bool
	c := &cobra.Command{
		Use:   "show BUNDLE",
		Short: "draw the picture of a bundle",
		Long: `show draws what the two sides of a bundle did with its case: the terms of each
sum by weight, the bits that one side kept and the other dropped, the results,
and the cause.

With --json it writes the bundle's mismatch.json in a line.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE:              func(_ *cobra.Command, args []string) error { return a.show(args[0], trace) },
	}
	c.Flags().BoolVar(&trace, "all", false, "draw every sum, not only those that decide")
	return c
}

func (a *app) show(dir string, all bool) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(&b.Mismatch)
	}
	pic, err := bundle.Picture(&b.Mismatch, dir)
	if err != nil {
		return err
	}
	o := a.textOptions()
	o.All = all
	return report.Text(printable.Raw(a.stdout), pic, o)
}

func (a *app) textOptions() report.TextOptions {
	return report.TextOptions{Width: a.width, Color: a.color}
}

func newMinimize(a *app) *cobra.Command {
	var out string
	var t *trust
	c := &cobra.Command{
		Use:   "minimize BUNDLE",
		Short: "shrink the case of a bundle again, from the one that was found",
		Long: `minimize shrinks the case that a bundle was made of, with this version of the
program, and replaces the bundle, or writes a new one with --out.

Exit status: 0 the two sides agree now, 1 they differ, 2 trouble, 75 interrupted.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.minimize(cmd.Context(), t, args[0], out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`directory` of the new bundle (default: the old one)")
	_ = c.MarkFlagDirname("out")
	t = trusting(a, c)
	return c
}

func (a *app) minimize(ctx context.Context, t *trust, dir, out string) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if err := t.bundle(ctx, dir, &b.Mismatch); err != nil {
		return err
	}
	if out == "" {
		out = dir
	} else if err := placeForBundle(out); err != nil {
		return err
	}
	m := &b.Mismatch
	f, err := examine(ctx, bundle.Local(m, dir))
	if errors.Is(err, fuzz.ErrAgree) {
		if a.json {
			return a.writeJSON(retriaged{Bundle: dir, Was: m.Bucket, Problem: err.Error()})
		}
		fmt.Fprintf(a.stdout, "%s: the two sides agree now\n", dir)
		return nil
	}
	if err != nil {
		return err
	}
	n := f.Mismatch
	n.Origin, n.A.Target, n.B.Target = m.Origin, m.A.Target, m.B.Target
	if err := bundle.Write(out, n, nil); err != nil {
		return err
	}
	if a.json {
		err = a.writeJSON(n)
	} else {
		fmt.Fprintf(a.stdout, "was  %s\nnow  %s  (%d queries in %d batches, %s)\nbundle %s\n", m.Case, n.Case, f.Queries, f.Batches, f.Bucket, out)
	}
	if err != nil {
		return err
	}
	return errMismatch
}

// examine explains and shrinks a bundle's case from the beginning.
func examine(ctx context.Context, m *corpus.Mismatch) (*fuzz.Case, error) {
	dot, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(cmp.Or(m.Found, m.Case)))
	if err != nil {
		return nil, err
	}
	ua, err := bundle.Unit(m, "a")
	if err != nil {
		return nil, err
	}
	ub, err := bundle.Unit(m, "b")
	if err != nil {
		return nil, err
	}
	policy := bundle.Policy(m)
	return fuzz.TriageCase(ctx, fuzz.Config{Seed: m.Origin.Seed, NaN: &policy.NaN, Zero: &policy.Zero, Workers: 1,
		Pairs: []devices.Pair{{A: devices.WithK(ua, m.K), B: devices.WithK(ub, m.K), TargetA: m.A.Target, TargetB: m.B.Target, K: m.K}}}, dot)
}

func newTriage(a *app) *cobra.Command {
	var t *trust
	c := &cobra.Command{
		Use:   "triage DIR",
		Short: "explain all bundles below a directory again",
		Long: `triage looks anew for the cause of each bundle below a directory, with fresh
evidence, and says where it comes to another result than the bundle.

Exit status: 0 every label is confirmed, 1 some are not, 2 trouble, 75 interrupted.`,
		Args:              takes("DIR"),
		ValidArgsFunction: directories,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.triage(cmd.Context(), t, args[0]) },
	}
	t = trusting(a, c)
	return c
}

// retriaged is a line of triage.
type retriaged struct {
	Bundle  string       `json:"bundle"`
	Was     string       `json:"was"`
	Now     string       `json:"now"`
	Changes []mma.Change `json:"changes,omitempty"`
	Problem string       `json:"problem,omitempty"`
}

func (a *app) triage(ctx context.Context, trust *trust, root string) error {
	dirs, err := bundle.Below(root)
	if err != nil {
		return hinted("name a directory with bundles: one that mmafuzz run has written", "%s: %w", root, bare(err))
	}
	if len(dirs) == 0 {
		return hinted("name a directory with bundles: one that mmafuzz run has written", "there is no bundle in %s", root)
	}
	t := tally{}
	for _, dir := range dirs {
		r, err := a.retriage(ctx, trust, dir)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.count(&r, err)
		if a.json {
			err = a.writeJSON(r)
		} else {
			err = r.write(a)
		}
		if err != nil {
			return err
		}
	}
	if !a.json {
		fmt.Fprintf(a.stdout, "%s: %d confirmed\n", readable.Plural(len(dirs), "bundle"), t.confirmed)
	}
	switch {
	case t.trouble > 0:
		return withHint(fmt.Errorf("%s could not be examined", readable.Plural(t.trouble, "bundle")), "%s", t.hint)
	case t.confirmed < len(dirs):
		return errMismatch
	}
	return nil
}

// tally counts what triage came to.
type tally struct {
	confirmed, trouble int
	hint               string // what to do about some of the trouble
}

func (t *tally) count(r *retriaged, err error) {
	switch {
	case err != nil && !errors.Is(err, fuzz.ErrAgree):
		t.trouble++
		if h := new(hintError); errors.As(err, &h) {
			t.hint = h.hint
		}
	case r.confirmed():
		t.confirmed++
	}
}

// confirmed reports whether the primary cause is the one that it was. Earlier versions
// named all labels.
func (r *retriaged) confirmed() bool {
	was, _, _ := strings.Cut(r.Was, ":")
	return r.Was == r.Now || string(triage.PrimaryIn(was)) == r.Now
}

// write writes two lines: the bundle, and what is the matter with it.
func (r *retriaged) write(a *app) error {
	var text string
	switch {
	case r.Problem != "":
		text = r.Problem
	case r.confirmed():
		text = "confirmed: " + r.Now
	default:
		text = "now " + r.Now + ", was " + r.Was
	}
	if len(r.Changes) > 0 {
		text += " (" + readable.Changes(r.Changes, 4) + ")"
	}
	const indent = 2
	fmt.Fprintln(a.stdout, r.Bundle)
	for _, l := range readable.Wrap(text, a.width-indent) {
		fmt.Fprintf(a.stdout, "%*s%s\n", indent, "", l)
	}
	return a.stdout.Err()
}

func (a *app) retriage(ctx context.Context, t *trust, dir string) (retriaged, error) {
	r := retriaged{Bundle: dir}
	b, err := corpus.ReadBundle(dir)
	if err == nil {
		err = t.bundle(ctx, dir, &b.Mismatch)
	}
	if err != nil {
		r.Problem = err.Error()
		return r, err
	}
	a.noteVersions("bundle "+dir, b.Mismatch.Versions, "simulators may compute otherwise now")
	r.Was = b.Mismatch.Bucket
	f, err := examine(ctx, bundle.Local(&b.Mismatch, dir))
	if err != nil {
		r.Problem = err.Error()
		return r, err
	}
	r.Now = f.Bucket
	if f.Verdict != nil {
		r.Changes = f.Verdict.Changes
	}
	return r, nil
}
