package main

import (
	"context"
	"io"

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
001 is arXiv:2511.10909, whose authors compared their model with it.

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
	differ := false
	for i := range pairs {
		d, err := diff.Pair(ctx, &pairs[i])
		if err != nil {
			return err
		}
		differ = differ || len(d.Parts) > 0
		if err := a.result(d, func(w io.Writer, width int) { d.Write(w, width, a.bolden) }); err != nil {
			return err
		}
	}
	if differ {
		return errMismatch
	}
	return nil
}
