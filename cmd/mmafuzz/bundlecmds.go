package main

import (
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
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
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
}

func (a *app) replay(ctx context.Context, t *trust, dir string) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if err := t.bundle(ctx, dir, &b.Mismatch); err != nil {
		return err
	}
	m := withModels(&b.Mismatch, dir)
	if m.Bucket == fuzz.Unstable {
		return a.replayUnstable(ctx, m, dir)
	}
	r := replayed{Bundle: dir, RecordedA: m.A.Result, RecordedB: m.B.Result}
	codeA, throughA, err := runSide(ctx, m, &m.A, "a")
	if err != nil {
		return err
	}
	codeB, throughB, err := runSide(ctx, m, &m.B, "b")
	if err != nil {
		return err
	}
	switch {
	case throughA && throughB:
		r.Through = "both"
	case throughA:
		r.Through = "a"
	case throughB:
		r.Through = "b"
	}
	class := oracle.Compare(m.Formats.D, bundlePolicy(m), codeA, codeB)
	r.A, r.B, r.Class = mma.FormatCode(m.Formats.D, codeA), mma.FormatCode(m.Formats.D, codeB), class.String()
	r.Reproduced = r.A == r.RecordedA && r.B == r.RecordedB
	if a.json {
		err = a.writeJSON(r)
	} else {
		r.write(a, m)
	}
	if err == nil && class != oracle.Same {
		err = errMismatch
	}
	return err
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

func bundlePolicy(m *corpus.Mismatch) oracle.Policy {
	var p oracle.Policy
	if m.NaN == "class" {
		p.NaN = oracle.ByClass
	}
	if m.Zero == "class" {
		p.Zero = oracle.ByClass
	}
	return p
}

// runSide runs a bundle's case on one of its targets. Where a recording cannot
// answer, the program that explains it does.
func runSide(ctx context.Context, m *corpus.Mismatch, s *corpus.SideRecord, which string) (code uint64, through bool, err error) {
	dot, err := m.Dot()
	if err != nil {
		return 0, false, err
	}
	unit, err := devices.OpenUnit(s.Target, s.Instruction, likeOf(m, which))
	if err != nil {
		return 0, false, err
	}
	if err := devices.Comparable(m.Formats, unit.Instruction().Formats); err != nil {
		return 0, false, fmt.Errorf("%s %s no longer takes the bundle's operands: %w", s.Target, s.Instruction, err)
	}
	b := mma.NewBatch(m.Formats, mma.Shape{M: 1, N: 1, K: m.K, Tiles: 1})
	b.Set(0, dot)
	out := make([]byte, m.Formats.D.Width())
	err = unit.Run(ctx, b, out)
	if errors.Is(err, devices.ErrNoRecording) {
		if p, k := explainingProgram(m, which); p != nil {
			model, err := sim.New(m.Formats, k, *p)
			if err != nil {
				return 0, false, err
			}
			return model.Dot(dot, nil), true, nil
		}
	}
	return mma.Load(out, m.Formats.D.Width(), 0), false, err
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
	pic, err := pictureOf(&b.Mismatch, dir)
	if err != nil {
		return err
	}
	o := a.textOptions()
	o.All = all
	return report.Text(raw(a.stdout), pic, o)
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
	ui, f, err := a.examine(ctx, withModels(m, dir))
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
	n := ui.mismatch(f)
	n.Origin, n.A.Target, n.B.Target = m.Origin, m.A.Target, m.B.Target
	if err := saveBundle(out, n, nil); err != nil {
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
func (a *app) examine(ctx context.Context, m *corpus.Mismatch) (*runUI, *fuzz.Finding, error) {
	text := m.Found
	if text == "" {
		text = m.Case
	}
	dot, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(text))
	if err != nil {
		return nil, nil, err
	}
	ua, err := devices.OpenUnit(m.A.Target, m.A.Instruction, likeOf(m, "a"))
	if err != nil {
		return nil, nil, err
	}
	ub, err := devices.OpenUnit(m.B.Target, m.B.Instruction, likeOf(m, "b"))
	if err != nil {
		return nil, nil, err
	}
	policy := bundlePolicy(m)
	cfg := fuzz.Config{Seed: m.Origin.Seed, NaN: &policy.NaN, Zero: &policy.Zero, Workers: 1,
		Pairs: []devices.Pair{{A: devices.WithK(ua, m.K), B: devices.WithK(ub, m.K), TargetA: m.A.Target, TargetB: m.B.Target, K: m.K}}}
	f, err := fuzz.Examine(ctx, cfg, dot)
	return newRunUI(a, cfg, ""), f, err
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
	dirs, err := bundlesBelow(root)
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
	return a.stdout.err
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
	_, f, err := a.examine(ctx, withModels(&b.Mismatch, dir))
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
