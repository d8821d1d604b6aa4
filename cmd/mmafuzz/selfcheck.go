package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
)

func newSelfcheck(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "selfcheck",
		Short: "measure the models, the generators, the proofs, the pairs, the triage, the minimizer, inference, causes and changes",
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := notNegative(cmd.Flags()); err != nil {
				return err
			}
			if a.json {
				return hint.New("leave --json out: the table is written tab-separated to standard output (redirect it with > FILE)", "selfcheck has no JSON output")
			}
			return a.setUp()
		},
	}
	c.AddCommand(newSelfcheckModels(a), newSelfcheckGenerators(a), newSelfcheckProofs(a), newSelfcheckPairs(a), newSelfcheckTriage(a),
		newSelfcheckMinimizer(a), newSelfcheckInfer(a), newSelfcheckCauses(a), newSelfcheckChanges(a))
	return c
}

// tableCmd is a command that makes a table. With the file of an earlier one it measures
// only what has changed since.
type tableCmd struct {
	*app
	out, fullName string
	all           bool
	began         time.Time
	full          bytes.Buffer // every single measurement
}

// command makes the command of a table. measure returns the table, given the rows of an
// earlier one; bad reports whether the table shows something that must not happen.
func (s *tableCmd) command(c *cobra.Command, measure func(ctx context.Context, old *selfcheck.Table) (t *selfcheck.Table, bad bool, err error)) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		s.began = time.Now()
		old := &selfcheck.Table{}
		if s.out != "" && !s.all {
			var err error
			if old, err = selfcheck.ReadTableFile(s.out); err != nil {
				return hint.Add(err, "--all makes the table anew")
			}
		}
		if s.out != "" {
			old.Save = s.save // after each row, so that nothing is lost if it is stopped
		}
		t, bad, err := measure(cmd.Context(), old)
		if err != nil {
			return err
		}
		if err := s.save(t); err != nil {
			return err
		}
		if bad {
			return errMismatch
		}
		return nil
	}
	c.Flags().StringVar(&s.out, "out", "", "`file` of the table (default: standard output)")
	c.Flags().BoolVar(&s.all, "all", false, "measure all rows, also those of --out that are not stale")
	return c
}

// fullFlag adds --full to a command that has more to tell than its table.
func (s *tableCmd) fullFlag(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&s.fullName, "full", "", "`file` for every single measurement (not of rows kept from --out)")
	return c
}

// detail adds a row to the text for the file of --full.
func (s *tableCmd) detail(cells []string) { fmt.Fprintln(&s.full, strings.Join(cells, "\t")) }

// save writes the table and what --full asks for, each whole or not at all.
func (s *tableCmd) save(t *selfcheck.Table) error {
	var table bytes.Buffer
	if err := t.Write(&table); err != nil {
		return err
	}
	if err := s.saveTable(s.out, table.Bytes()); err != nil || s.fullName == "" {
		return err
	}
	return corpus.ReplaceFile(s.fullName, s.full.Bytes())
}

// saveTable writes a table to a file, all of it or nothing, or to stdout.
func (a *app) saveTable(out string, table []byte) error {
	if out == "" {
		_, err := a.stdout.Write(table)
		return err
	}
	return corpus.ReplaceFile(out, table)
}

// progress reports a long table's progress on stderr.
func (a *app) progress(began time.Time, what string) {
	fmt.Fprintf(a.stderr, "%6s  %s\n", readable.Clock(time.Since(began)), what)
}

func newSelfcheckModels(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	var raw, directed uint64
	c := &cobra.Command{
		Use:   "models",
		Short: "compare the fast models with the slow oracle",
		Long: `models runs the fast models and the oracle, which share no code, on the same
inputs: for each elementary operation at least --raw dot products of raw bits,
shared among its arithmetics, and for each arithmetic at least --directed from every
other generator.

Exit status: 0 all equal, 1 mismatches, 2 trouble, 75 interrupted.`,
	}
	c.PreRunE = func(*cobra.Command, []string) error {
		if raw == 0 && directed == 0 {
			return hint.New("give one of them a number", "--raw and --directed are 0: nothing would be compared")
		}
		return nil
	}
	c.Flags().Uint64Var(&raw, "raw", 1_000_000, "dot products of raw bits for each operation")
	c.Flags().Uint64Var(&directed, "directed", 10_000, "dot products of every other generator for each arithmetic")
	return s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		bad := false
		t, err := selfcheck.ModelTable(ctx, old, raw, directed, func(c *selfcheck.ModelCheck) {
			a.progress(s.began, c.Base)
			if c.Mismatches > 0 {
				bad = true
				a.log.Error().Str("arithmetic", c.Base).Uint64("mismatches", c.Mismatches).Str("first", c.First).Msg("model and oracle differ")
			}
		})
		if err == nil {
			t.Command = fmt.Sprintf("%s --raw %d --directed %d", selfcheck.ModelsCommand, raw, directed)
		}
		return t, bad, err
	})
}

func newSelfcheckGenerators(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	c := &cobra.Command{
		Use:   "generators",
		Short: "how many mutants of the arithmetics each generator finds",
		Long: `generators makes the separation table: how many of the one-parameter mutants of
every arithmetic of the catalogue each generator tells from it, and with how many
inputs. It takes about half an hour on two cores.

Exit status: 0 every mutant is separated or has an argument why it cannot be, 1
some are not, 2 trouble, 75 interrupted.`,
	}
	return s.fullFlag(s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		all := selfcheck.Arithmetics()
		n, open := 0, 0
		s.detail(selfcheck.SeparationColumns())
		t, err := selfcheck.MutantTable(ctx, old, all, func(m *selfcheck.MutantSummary, seps []*selfcheck.Separation) {
			n++
			open += m.Open()
			a.progress(s.began, fmt.Sprintf("%d of %d  %s", n, len(all), m.Base))
			s.separations(seps)
		})
		return t, open > 0, err
	}))
}

// separations keeps the rows of --full, and warns of pairs that are neither separated nor
// argued to be the same function.
func (s *tableCmd) separations(seps []*selfcheck.Separation) {
	for _, sep := range seps {
		s.detail(sep.FullCells())
		if !sep.Separated() && sep.Argument == "" {
			s.log.Warn().Str("base", sep.Base).Str("other", sep.Other).Interface("change", sep.Change).Msg("not separated")
		}
	}
}

func newSelfcheckPairs(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	c := &cobra.Command{
		Use:   "pairs",
		Short: "how many inputs each generator needs to tell architectures apart",
		Long: `pairs makes the table of pairs: for every two arithmetics of the catalogue that
take the same operands, the number of inputs that each generator needs until the
first one on which the results differ.

Exit status: 0 every pair is separated or has an argument why it cannot be, 1
some are not, 2 trouble, 75 interrupted.`,
	}
	return s.fullFlag(s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		open := false
		s.detail(selfcheck.SeparationColumns())
		t, err := selfcheck.PairTable(ctx, old, selfcheck.Arithmetics(), func(sep *selfcheck.Separation) {
			open = open || !sep.Separated() && sep.Argument == ""
			a.progress(s.began, sep.Base+"  "+sep.Other)
			s.separations([]*selfcheck.Separation{sep})
		})
		return t, open, err
	}))
}

func newSelfcheckTriage(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	c := &cobra.Command{
		Use:   "triage",
		Short: "whether triage names the change that was made",
		Long: `triage makes the confusion table: every one-parameter mutant of every arithmetic
is presented to triage as an anonymous unit. A mutant's letter is x if triage names
its change, a if its answer is a set with the right change and others that some input
tells from it, u if triage has no explanation, W if it names another change, and = if
no input told the mutant from its arithmetic. It takes about two hours on two cores.

Exit status: 0 no W, 1 some W, 2 trouble, 75 interrupted.`,
	}
	return s.fullFlag(s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		all := selfcheck.Arithmetics()
		n, wrong := 0, 0
		s.detail(selfcheck.OutcomeColumns())
		t, err := selfcheck.ConfusionTable(ctx, old, all, func(base, letters string, outs []*selfcheck.Outcome) {
			n++
			wrong += selfcheck.WrongVerdicts(letters)
			a.progress(s.began, fmt.Sprintf("%d of %d  %s", n, len(all), base))
			for _, o := range outs {
				s.detail(o.FullCells())
			}
		})
		return t, wrong > 0, err
	}))
}

func newSelfcheckChanges(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	c := &cobra.Command{
		Use:   "changes",
		Short: "whether triage explains changes drawn from the whole range of every field",
		Long: `changes presents triage with anonymous units that differ from an arithmetic in one,
two or three changes, drawn from all values that the fields of a program can have. A
unit's letter is x if what triage finds gives its results on inputs that triage has
not seen, u if it finds nothing, W if what it finds gives others, and = if no input
told the unit from its arithmetic.

Exit status: 0 no wrong answer, 1 some, 2 trouble, 75 interrupted.`,
	}
	return s.fullFlag(s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		wrong := 0
		all := selfcheck.ChangesArithmetics()
		t, err := selfcheck.ChangesTable(ctx, old, all, func(base string, outs []*selfcheck.Changed) {
			a.progress(s.began, base)
			for _, o := range outs {
				s.detail(o.FullCells())
				if o.Result == selfcheck.Wrong {
					wrong++
				}
			}
		})
		return t, wrong > 0, err
	}))
}

func newSelfcheckMinimizer(a *app) *cobra.Command {
	s := &tableCmd{app: a}
	c := &cobra.Command{Use: "minimizer", Short: "what the minimizer spends and achieves"}
	return s.command(c, func(ctx context.Context, old *selfcheck.Table) (*selfcheck.Table, bool, error) {
		t, err := selfcheck.MinimizerTable(ctx, old)
		return t, false, err
	})
}
