package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
)

func newSelfcheckCauses(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	return s.command(&cobra.Command{
		Use:   "causes",
		Short: "by how few causes architectures of GPUs differ",
		Long: fmt.Sprintf(`causes makes the table of primary causes: it compares each two architectures of GPUs
on all instructions that they share, %d dot products each, in both orders.
It takes about a quarter of an hour on two cores.

Exit status: 0 every pair has at most %d primary causes, less than %d %% of its
mismatches in catch-alls, and the same causes with the sides turned; 1 some do not, 2
trouble.`, selfcheck.CausesCount, selfcheck.CausesMost, selfcheck.CatchAllMost),
	}, func(ctx context.Context, old *selfcheck.Table) (t *selfcheck.Table, bad bool, err error) {
		t, err = selfcheck.CausesTable(ctx, old, func(p *selfcheck.PairCauses) {
			a.progress(s.began, fmt.Sprintf("%s and %s: %s", p.A, p.B, readable.Plural(len(p.Causes), "cause")))
		})
		if err != nil {
			return nil, false, err
		}
		for _, row := range t.Rows {
			p, err := selfcheck.ParsePairCauses(row)
			if err != nil {
				return nil, false, err
			}
			if fault := p.Fault(); fault != "" {
				bad = true
				a.log.Error().Str("a", p.A).Str("b", p.B).Msg(fault)
			}
		}
		return t, bad, nil
	})
}
