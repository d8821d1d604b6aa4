package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/triage/diff"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

func newDiff(a *app) *cobra.Command {
	var inst string
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "where the arithmetics of two targets differ, with a witness each",
		Long: `diff compares the parameters of two simulated targets, instruction by
instruction: for each that differs, what it is on either side, and the smallest
input that shows it, computed by A's arithmetic with that one change; and on
what the models rest: rows are recorded results of that GPU (arXiv:2512.07004),
001 is arXiv:2511.10909, whose authors compared their model with it. Of many
instructions, those that differ by the same changes are one entry, and only the
shortest of their inputs is shown; -v shows each, and JSON has them all.

  mmafuzz diff ampere hopper
  mmafuzz diff hopper cdna3 --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz diff naive openblas-sgemm

Of two kernels, instructions with a schedule or schedules (mmafuzz gemm --help), it lists the
fields that differ, says for which K they are the same function because they add the same
numbers in the same tree, and gives the smallest product found that differs, and by how many ulp
products of normal operands do.

Exit status: 0 the same arithmetic, 1 differences, 2 trouble, 75 of kernels: no difference
was found, and it is not proved that there is none.`,
		Args: takes("A", "B"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd.Context(), args[0], args[1], inst)
		},
	}
	selecting(c.Flags(), &inst, "(default: all of A)")
	return c
}

func (a *app) diff(ctx context.Context, nameA, nameB, inst string) error {
	if _, instA := devices.Split(nameA); instA != "" && inst != "" {
		return hint.New("leave one out", "%s and --inst %s both name A's instruction", nameA, inst)
	}
	if inst == "" && (study.IsKernel(nameA) || study.IsKernel(nameB)) {
		return a.diffKernels(ctx, nameA, nameB)
	}
	var targets open.Set
	defer targets.Close()
	pairs, err := targets.Pairs(nameA, nameB, inst, "")
	if err != nil {
		return err
	}
	a.notes(targets.LeftOut())
	all, err := a.diffPairs(ctx, pairs)
	if err != nil {
		return err
	}
	if !a.json && !a.verbose && len(all) > 1 {
		diff.WriteGroups(a.stdout, a.width, a.bolden, pairs[0].TargetA, pairs[0].TargetB, all)
		if err := a.stdout.Err(); err != nil {
			return err
		}
	}
	differ := slices.ContainsFunc(all, func(d *diff.Difference) bool { return len(d.Parts) > 0 })
	if differ {
		return errMismatch
	}
	return nil
}

// diffPairs compares the arithmetics of pairs. It writes each at once if it is asked for as JSON or
// in full, or is the only one.
func (a *app) diffPairs(ctx context.Context, pairs []devices.Pair) (all []*diff.Difference, err error) {
	line := newStatusLine(a)
	defer line.clear()
	for i := range pairs {
		if !a.json {
			line.show(statusField{fmt.Sprintf("%d of %d  comparing %s", i+1, len(pairs), pairs[i].Name()), 1})
		}
		d, err := diff.Pair(ctx, &pairs[i])
		if err != nil {
			return nil, err
		}
		all = append(all, d)
		if a.json || a.verbose || len(pairs) == 1 {
			line.clear()
			if err := a.result(d, func(w io.Writer, width int) { d.Write(w, width, a.bolden) }); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
