package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// selfcheckInfer is mmafuzz selfcheck infer.
type selfcheckInfer struct {
	tableCmd
	catalog     bool
	match       string
	first, seed uint64
	count, dots int
	checks      int
}

func newSelfcheckInfer(a *app) *cobra.Command {
	s := &selfcheckInfer{tableCmd: tableCmd{app: a}}
	c := &cobra.Command{
		Use:   "infer",
		Short: "whether inference finds arithmetics that are known",
		Long: `infer has inference examine units without telling it what they are: with --catalog
every arithmetic of the catalogue, else made-up ones, drawn by their seeds from a
distribution over the whole parameter program (go doc ./sim/testdata/madeup). A unit is
recovered if the program found and the true one give the same bits on --dots dot
products of every generator.

  mmafuzz selfcheck infer --first 123456 --count 100

Exit status: 0 every unit is recovered, 1 some are not, 2 trouble, 75 interrupted.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return s.checkFlags(cmd.Flags()) },
	}
	f := c.Flags()
	f.BoolVar(&s.catalog, "catalog", false, "the arithmetics of the catalogue")
	f.StringVar(&s.match, "match", "", "with --catalog: only those whose ARCH/INSTRUCTION contains this `text`")
	f.Uint64Var(&s.first, "first", 1, "`seed` of the first made-up unit")
	f.IntVar(&s.count, "count", 20, "`number` of made-up units")
	f.Uint64Var(&s.seed, "seed", 1, "`seed` of the inference")
	f.IntVar(&s.checks, "checks", infer.DefaultChecks, "`inputs` of every generator on which inference checks a program")
	f.IntVar(&s.dots, "dots", 1_000_000, "`dots` of every generator on which the programs are compared")
	return s.command(c, s.measure)
}

// checkFlags returns an error for flags that contradict each other or have impossible
// values.
func (s *selfcheckInfer) checkFlags(f *pflag.FlagSet) error {
	if err := excluded(f, "catalog", "first", "count"); err != nil {
		return hint.Add(err, "--match chooses from the catalogue; made-up units have seeds")
	}
	if f.Changed("match") && !s.catalog {
		return hint.New("add --catalog", "--match is given without --catalog")
	}
	const mostUnits = 100_000 // all are made at the beginning
	return cmp.Or(upTo(mostUnits, "count", s.count), atLeastOne("checks", s.checks), atLeastOne("dots", s.dots))
}

// measure infers the units and says how many were recovered.
func (s *selfcheckInfer) measure(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
	which := fmt.Sprintf("--first %d --count %d", s.first, s.count)
	units := selfcheck.MadeUpUnits(s.first, s.count)
	if s.catalog {
		which = "--catalog"
		units = slices.DeleteFunc(slices.Clone(mma.Arithmetics()), func(i mma.Instruction) bool { return !strings.Contains(i.FullName(), s.match) })
	}
	if len(units) == 0 {
		return nil, false, hint.New("mmafuzz list instructions lists them", "the catalogue has no arithmetic whose ARCH/INSTRUCTION contains %q", s.match)
	}
	arguments := fmt.Sprintf("%s --seed %d --checks %d --dots %d", which, s.seed, s.checks, s.dots)
	done, recovered := 0, 0
	t, err := selfcheck.InferenceTable(ctx, old, arguments, units, infer.Options{Seed: s.seed, Checks: s.checks, Workers: 1}, s.dots, func(i *selfcheck.Inference) {
		done++
		if i.Recovered() {
			recovered++
		} else if !i.Kept() {
			s.log.Warn().Str("unit", i.Unit).Str("verdict", string(i.Verdict)).Str("differ", i.Differ).
				Str("found", programText(&i.Found)).Str("true", programText(&i.True)).Msg("not recovered")
		}
		s.progress(s.began, fmt.Sprintf("%d of %d  %s %s, %d queries", done, len(units), i.Unit, i.Verdict, i.Queries))
	})
	if err == nil {
		fmt.Fprintf(s.stderr, "recovered %d of %d\n", recovered, done)
	}
	return t, recovered < done, err
}

// programText lists the parameters that a program sets.
func programText(p *mma.Params) string { return mma.Brief(mma.Diff(&mma.Params{}, p)) }
