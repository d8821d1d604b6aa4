package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/cases"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

func newMinimize(a *app) *cobra.Command {
	var out string
	var t *trust
	noInfer := false
	c := &cobra.Command{
		Use:   "minimize BUNDLE",
		Short: "shrink the case of a bundle again, starting from the original case",
		Long: `minimize shrinks the case that a bundle was made of, with this version of the
program, and replaces the bundle, or writes a new one with --out.

A case that is unstable, because a unit changes its answers, is not shrunk.

Exit status: 0 the two sides agree now, 1 they differ, 2 trouble, 75 interrupted.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.minimize(cmd.Context(), t, noInfer, args[0], out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`directory` of the new bundle (default: the old one)")
	_ = c.MarkFlagDirname("out")
	t = trusting(a, c, "bundles")
	addNoInfer(c, &noInfer)
	return c
}

func (a *app) minimize(ctx context.Context, t *trust, noInfer bool, dir, out string) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if err := t.bundle(ctx, dir, &b.Mismatch); err != nil {
		return err
	}
	if err := checkMinimized(b, out); err != nil {
		return hint.Add(err, "name a new directory with --out, or a bundle to be replaced that has no other files in it")
	}
	out = cmp.Or(out, dir)
	release, err := fuzz.HoldCampaignOf(out)
	if err != nil {
		return hint.Add(err, "wait for it, or name another directory with --out")
	}
	defer release()
	f, err := cases.Minimize(ctx, b, dir, out, noInfer)
	stays := cases.IsFinding(err)
	if stays || errors.Is(err, fuzz.ErrAgree) {
		text := err.Error()
		if err == fuzz.ErrAgree {
			text = "the two sides agree now"
		}
		err = a.result(cases.NewOutcome(dir, b.Mismatch.Bucket, err), func(w io.Writer, width int) { fmt.Fprint(w, readable.Hanging(dir+": "+text, width)) })
		if err == nil && stays {
			err = errMismatch
		}
		return err
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeJSON(f.Mismatch)
	} else {
		now := fmt.Sprintf("%s (%d queries in %d batches, %s)", f.Mismatch.Case, f.Queries, f.Batches, f.Bucket)
		(&readable.Table{Width: a.width, Rows: [][]string{{"was", b.Mismatch.Case}, {"now", now}}}).Write(a.stdout, nil)
		fmt.Fprintf(a.stdout, "bundle %s\n", out)
	}
	if err != nil {
		return err
	}
	return errMismatch
}

// checkMinimized returns an error if the new bundle, in the directory out or in place of the old
// one, would remove what a person has written.
func checkMinimized(b *corpus.Bundle, out string) error {
	if out == "" && len(b.Added) > 0 {
		return &bundle.OccupiedError{Dir: b.Dir, Name: b.Added[0]}
	}
	if out == "" {
		return nil
	}
	if err := bundle.CheckPlace(out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	return nil
}
