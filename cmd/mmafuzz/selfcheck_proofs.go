package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

func newSelfcheckProofs(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	var solver string
	var limit time.Duration
	c := &cobra.Command{
		Use:   "proofs",
		Short: "check the arguments that mutants are equivalent, by proof",
		Long: fmt.Sprintf(`proofs makes the table of proofs: for every mutant that a written argument says is the
same function as its arithmetic, whether that is proved, refuted or too hard. It needs
a SAT solver (Debian: apt-get install cadical). Most of the time goes to the mutants that
are too hard, about a hundred, each of which takes --time.

Exit status: 0 nothing is refuted and at least %d %% are proved, 1 otherwise, 2 trouble,
75 interrupted.`, selfcheck.DecidedLeast),
	}
	solverFlag(c, &solver)
	c.Flags().DurationVar(&limit, "time", time.Minute, "how long to try, at most, for each mutant")
	return s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		words, missing, err := prove.SolverWords(solver)
		if err != nil {
			return nil, false, err
		}
		if missing {
			return nil, false, hint.New(`apt-get install cadical, or name another with --solver; --solver "" makes a table without one`, "there is no solver")
		}
		t, err := selfcheck.ProofTable(ctx, old, words, limit, func(p *selfcheck.Proofs) {
			a.progress(s.began, p.Base)
			for _, text := range p.Refuted {
				a.log.Error().Str("base", p.Base).Msg("refuted: " + text)
			}
		})
		if err != nil {
			return nil, false, err
		}
		cells := make([][]string, len(t.Rows))
		for n, r := range t.Rows {
			cells[n] = r[1:]
		}
		counts, err := selfcheck.ProofCounts(cells)
		return t, !selfcheck.Decided(counts), err
	})
}
