package main

import (
	"context"

	"github.com/spf13/cobra"

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
	t = trusting(a, c, "bundles")
	return c
}

func (a *app) replay(ctx context.Context, t *trust, dir string) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if err := t.bundle(ctx, dir, &b.Mismatch); err != nil {
		return err
	}
	r, err := bundle.Replay(ctx, b, dir)
	if err != nil {
		return err
	}
	if err := a.result(r, r.Write); err != nil {
		return err
	}
	if r.Differ() {
		return errMismatch
	}
	return nil
}
