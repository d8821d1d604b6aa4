package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

func newMinimize(a *app) *cobra.Command {
	var out string
	var t *trust
	c := &cobra.Command{
		Use:   "minimize BUNDLE",
		Short: "shrink the case of a bundle again, starting from the original case",
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
	if err := bundle.Write(out, n, bundle.Tiles(b)); err != nil {
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

// placeForBundle returns an error if a bundle cannot be written to a directory: it must not
// exist, or be empty or another bundle, which is replaced.
func placeForBundle(dir string) error {
	const remedy = "name a new directory with --out, or a bundle to be replaced"
	if parent := filepath.Dir(filepath.Clean(dir)); bundle.Is(parent) {
		return hint.New(remedy, "--out %s is inside the bundle %s", dir, parent)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return hint.New(remedy, "--out %s: %w", dir, hint.Bare(err))
	case len(entries) > 0 && !bundle.Is(dir):
		return hint.New(remedy, "--out %s: the directory has other files in it", dir)
	}
	if name, err := bundle.Stranger(dir); err != nil || name != "" {
		return hint.New(remedy, "--out %s: the directory has other files in it: %s", dir, name)
	}
	return nil
}
