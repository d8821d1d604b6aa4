package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// selfcheckInfer is mmafuzz selfcheck infer.
type selfcheckInfer struct {
	*app
	catalog     bool
	match       string
	first, seed uint64
	count, dots int
	checks      int
	out         string
	all         bool
}

func newSelfcheckInfer(a *app) *cobra.Command {
	s := &selfcheckInfer{app: a}
	c := &cobra.Command{
		Use:   "infer",
		Short: "whether inference finds arithmetics that are known",
		Long: `infer has inference examine units without telling it what they are: with --catalog
every arithmetic of the catalogue, else made-up ones, drawn by their seeds from a
distribution over the whole parameter program (go doc ./sim/mma MadeUp). A unit is
recovered if the program found and the true one give the same bits on --dots dot
products of every generator.

  mmafuzz selfcheck infer --first 123456 --count 100

Exit status: 0 every unit is recovered, 1 some are not, 2 trouble, 75 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.checkFlags(cmd.Flags()); err != nil {
				return err
			}
			return s.run(cmd.Context())
		},
	}
	f := c.Flags()
	f.BoolVar(&s.catalog, "catalog", false, "the arithmetics of the catalogue")
	f.StringVar(&s.match, "match", "", "with --catalog: only those whose ARCH/INSTRUCTION contains this `text`")
	f.Uint64Var(&s.first, "first", 1, "`seed` of the first made-up unit")
	f.IntVar(&s.count, "count", 20, "`number` of made-up units")
	f.Uint64Var(&s.seed, "seed", 1, "`seed` of the inference")
	f.IntVar(&s.checks, "checks", infer.DefaultChecks, "`inputs` of every generator on which inference checks a program")
	f.IntVar(&s.dots, "dots", 1_000_000, "`dots` of every generator on which the programs are compared")
	outFlag(c, &s.out)
	allFlag(c, &s.all)
	return c
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
	return cmp.Or(atLeastOne("count", s.count), atLeastOne("checks", s.checks), atLeastOne("dots", s.dots))
}

func (s *selfcheckInfer) run(ctx context.Context) error {
	which := fmt.Sprintf("--first %d --count %d", s.first, s.count)
	units := selfcheck.MadeUpUnits(s.first, s.count)
	if s.catalog {
		which, units = "--catalog", nil
		for _, i := range mma.Arithmetics() {
			if strings.Contains(i.FullName(), s.match) {
				units = append(units, i)
			}
		}
	}
	if len(units) == 0 {
		return hint.New("mmafuzz list instructions lists them", "the catalogue has no arithmetic whose ARCH/INSTRUCTION contains %q", s.match)
	}
	command := fmt.Sprintf("%s %s --seed %d --checks %d --dots %d", selfcheck.InferenceCommand, which, s.seed, s.checks, s.dots)
	old := &selfcheck.Table{}
	if s.out != "" && !s.all {
		var err error
		if old, err = selfcheck.ReadTableFile(s.out); err != nil {
			return hint.Add(err, "--all makes the table anew")
		}
		if old.Command != command { // other units or limits
			old = &selfcheck.Table{}
		}
	}
	began := time.Now()
	var all []*selfcheck.Inference
	recovered := 0
	var saved error
	err := selfcheck.Infer(ctx, old, units, infer.Options{Seed: s.seed, Checks: s.checks, Workers: 1}, s.dots, func(i *selfcheck.Inference) {
		all = append(all, i)
		if i.Recovered() {
			recovered++
		} else if !i.Kept() {
			s.log.Warn().Str("unit", i.Unit).Str("verdict", string(i.Verdict)).Str("differ", i.Differ).
				Str("found", programText(&i.Found)).Str("true", programText(&i.True)).Msg("not recovered")
		}
		s.progress(began, fmt.Sprintf("%d of %d  %s %s, %d queries", len(all), len(units), i.Unit, i.Verdict, i.Queries))
		if s.out != "" { // save after each unit, so that nothing is lost if the run is stopped
			saved = s.save(command, append(slices.Clip(all), selfcheck.KeptInferences(old, units[len(all):])...))
		}
	})
	if err == nil && s.out == "" {
		saved = s.save(command, all)
	}
	if err = errors.Join(err, saved); err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "recovered %d of %d\n", recovered, len(all))
	if recovered < len(all) {
		return errMismatch
	}
	return nil
}

// save writes the table.
func (s *selfcheckInfer) save(command string, all []*selfcheck.Inference) error {
	var table bytes.Buffer
	if err := selfcheck.InferenceTable(command, all).Write(&table); err != nil {
		return err
	}
	return s.saveTable(s.out, table.Bytes())
}

// programText lists the parameters that a program sets.
func programText(p *mma.Params) string { return mma.Brief(mma.Diff(&mma.Params{}, p)) }
