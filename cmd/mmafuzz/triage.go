package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/cases"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

func newTriage(a *app) *cobra.Command {
	var t *trust
	noInfer := false
	c := &cobra.Command{
		Use:   "triage DIR",
		Short: "explain all bundles below a directory again",
		Long: `triage looks anew for the cause of each bundle below a directory, with fresh
evidence, and says where it comes to a different result than the bundle.

Exit status: 0 every label is confirmed, 1 some are not, 2 trouble, 75 interrupted.`,
		Args:              takes("DIR"),
		ValidArgsFunction: directories,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.triage(cmd.Context(), t, noInfer, args[0]) },
	}
	t = trusting(a, c, "bundles")
	addNoInfer(c, &noInfer)
	return c
}

func (a *app) triage(ctx context.Context, trust *trust, noInfer bool, root string) error {
	dirs, err := bundle.Below(root)
	if err != nil {
		return hint.New("name a directory with bundles: one that mmafuzz run has written", "%s: %w", root, hint.Bare(err))
	}
	if products, _ := bundle.Products(root); len(dirs) == 0 && len(products) > 0 {
		return hint.New("mmafuzz report "+readable.ShellPath(products[0])+" shows the cause that the run has found, and mmafuzz replay computes the product again",
			"%s has bundles of matrix products, and triage explains those of instructions", root)
	}
	if len(dirs) == 0 {
		return hint.New("name a directory with bundles: one that mmafuzz run has written", "there is no bundle in %s", root)
	}
	t := tally{}
	for _, dir := range dirs {
		o, err := cases.Triage(ctx, dir, noInfer, func(m *corpus.Mismatch) error { return trust.bundle(ctx, dir, m) }, a.note)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.count(o, err)
		if err := a.result(o, o.Write); err != nil {
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

func (t *tally) count(o *cases.Outcome, err error) {
	switch {
	case err != nil && !errors.Is(err, fuzz.ErrAgree):
		t.trouble++
		t.hint = cmp.Or(hint.Of(err), t.hint)
	case o.Confirmed():
		t.confirmed++
	}
}
