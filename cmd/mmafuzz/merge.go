package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
)

func newMerge(a *app) *cobra.Command {
	r := &runCmd{app: a}
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "merge what the shards of a campaign have found",
		Long: `merge brings the units of all directories together in the directory of --out, explains
what they have found, and shrinks a case of each cause, as run does. In what order
directories are merged, in how many steps, and how often each, makes no difference.

  mmafuzz merge DIR --out RESULT               shards that shared a directory
  mmafuzz merge DIR1 DIR2 DIR3 --out RESULT    shards with directories of their own
  mmafuzz merge DIR1 DIR2 DIR3 --out DIR1      gives shard 1, run with --own-units, what the next round needs

If the plan has a command (exec:) as target, it is shown, and run only if you agree: on the
terminal, or by --allow-exec.

With units missing it only brings together what there is, and says what is missing: exit
status 75.

Exit status: 0 no mismatches, 1 mismatches, 2 trouble, 75 units are missing, or it was
interrupted.`,
		Args: takes("DIR..."),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if r.out == "" {
				return hint.New("for example --out result", "--out is missing")
			}
			return checkWorkers(r.workers)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.merge(cmd.Context(), args) },
	}
	c.Flags().StringVar(&r.out, "out", "", "`directory` of the result (required)")
	c.Flags().IntVar(&r.workers, "workers", 0, "`number` of goroutines (default: as in run)")
	r.list.add(c.Flags())
	r.trust = trusting(a, c, "plans")
	_ = c.MarkFlagDirname("out")
	return c
}

func (r *runCmd) merge(ctx context.Context, dirs []string) error {
	defer r.targets.Close()
	if err := r.list.check(); err != nil {
		return err
	}
	if err := r.list.open(); err != nil {
		return err
	}
	m, err := fleet.Merge(ctx, dirs, r.out)
	if err != nil {
		return planError(err)
	}
	if n := len(m.Missing); n > 0 {
		return incomplete(hint.New(m.Advice+"; then merge again",
			"%d of %s have no result yet: %s", n, readable.Plural(len(m.Plan.Units()), "unit"), fleet.Ranges(m.Missing)))
	}
	cfg, err := r.openPlan(ctx, dirs[0], m.Plan)
	if err != nil {
		return err
	}
	cfg.Workers = r.workers
	ui := r.display(&cfg, r.out)
	if err := r.list.hold(); err != nil {
		return err
	}
	defer r.list.release(r.app)
	c, err := fuzz.New(cfg)
	if errors.Is(err, journal.ErrDamaged) {
		if err = m.StartOver(err); err == nil {
			ui = r.display(&cfg, r.out)
			c, err = fuzz.New(cfg)
		}
	}
	if err == nil {
		err = corpus.RemoveStale(r.out, 1)
	}
	if err != nil {
		return r.outError(r.out, err)
	}
	if err := m.Finish(ctx, c); err != nil {
		return hint.Add(occupied(err), "the same command goes on: what is done is in %s", readable.ShellPath(r.out))
	}
	// Time stays unset: the summary must not depend on who computed the units, when, and how fast.
	left := c.Unfinished(context.WithoutCancel(ctx), nil) // it has come to its end
	sum := summary.New(summary.Input{Config: &cfg, State: c.State(), Unexplained: c.Unexplained, Findings: ui.findings, Left: left, Known: r.list.Known})
	exit := exitAgree
	switch {
	case left != nil:
		exit = exitIncomplete
	case sum.HasNews():
		exit = exitMismatch
	}
	ui.summarize(sum, exit)
	if left != nil {
		return incomplete(errors.New(left.Why))
	}
	return r.written(sum)
}
