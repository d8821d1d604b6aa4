package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

func newTriage(a *app) *cobra.Command {
	var t *trust
	c := &cobra.Command{
		Use:   "triage DIR",
		Short: "explain all bundles below a directory again",
		Long: `triage looks anew for the cause of each bundle below a directory, with fresh
evidence, and says where it comes to a different result than the bundle.

Exit status: 0 every label is confirmed, 1 some are not, 2 trouble, 75 interrupted.`,
		Args:              takes("DIR"),
		ValidArgsFunction: directories,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.triage(cmd.Context(), t, args[0]) },
	}
	t = trusting(a, c)
	return c
}

// retriaged is what triage says about one bundle.
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
		return hint.New("name a directory with bundles: one that mmafuzz run has written", "%s: %w", root, hint.Bare(err))
	}
	if len(dirs) == 0 {
		return hint.New("name a directory with bundles: one that mmafuzz run has written", "there is no bundle in %s", root)
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
		return hint.Add(fmt.Errorf("%s could not be examined", readable.Plural(t.trouble, "bundle")), "%s", t.hint)
	case t.confirmed < len(dirs):
		return errMismatch
	}
	return nil
}

// tally counts the outcomes of triage.
type tally struct {
	confirmed, trouble int
	hint               string // what to do about some of the trouble
}

func (t *tally) count(r *retriaged, err error) {
	switch {
	case err != nil && !errors.Is(err, fuzz.ErrAgree):
		t.trouble++
		t.hint = cmp.Or(hint.Of(err), t.hint)
	case r.confirmed():
		t.confirmed++
	}
}

// confirmed reports whether the primary cause is still the bundle's. Bundles of earlier
// versions list all labels; only the primary one is compared.
func (r *retriaged) confirmed() bool {
	was, _, _ := strings.Cut(r.Was, ":")
	return r.Was == r.Now || string(triage.PrimaryIn(was)) == r.Now
}

// write writes the bundle and, indented below it, the outcome.
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
	a.note(bundle.VersionNote(dir, &b.Mismatch))
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
