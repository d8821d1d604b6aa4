package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
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

A case that depends on the question before it is asked right after such a question, one that depends on
its tile in the tile that was recorded. If the bundle has none, or one that did not show the
mismatch when it was written, nothing is decided where both sides agree.
Of a matrix product, replay does what mmafuzz gemm does.

Exit status: 0 the two sides agree now, 1 they still differ, 2 trouble, or nothing is decided,
75 interrupted.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), t, args[0]) },
	}
	t = trusting(a, c, "bundles")
	return c
}

func (a *app) replay(ctx context.Context, t *trust, dir string) error {
	if words := productIn(dir); words != nil {
		return a.replayProduct(ctx, t, dir, words)
	}
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
	switch {
	case r.Differ():
		return errMismatch
	case r.Undecided:
		m := &b.Mismatch
		return hint.New("the run that found it asks everything again: "+readable.ShellCommand("mmafuzz", "run", "--a", m.A.Target, "--b", m.B.Target, "--seed", fmt.Sprint(m.Origin.Seed)),
			"bundle %s: the replay decides nothing", dir)
	}
	return nil
}

// productIn returns the words by which mmafuzz gemm computes a bundle's matrix product again; nil: it is no bundle of one.
func productIn(dir string) []string {
	if bundle.Is(dir) {
		return nil
	}
	return kernel.Rerun(dir)
}

// replayProduct computes a matrix product again, by the words of mmafuzz gemm.
func (a *app) replayProduct(ctx context.Context, t *trust, dir string, words []string) error {
	if err := t.targets(ctx, dir, words[:2]...); err != nil {
		return hint.Add(err, allowHint+"; mmafuzz show writes what is in a bundle without running anything")
	}
	c := newGEMM(a)
	c.SetContext(ctx)
	if err := c.ParseFlags(words[2:]); err != nil {
		return err
	}
	return c.RunE(c, words[:2])
}
