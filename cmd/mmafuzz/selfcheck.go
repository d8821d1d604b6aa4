package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/fuzz/study"
)

func newSelfcheck(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "selfcheck",
		Short: "measure the models, the generators, the triage, the minimizer and inference",
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.json {
				return hinted("standard output takes the table, of columns that tabs separate: > FILE", "--json: selfcheck makes tables")
			}
			return a.setUp()
		},
	}
	c.AddCommand(newSelfcheckModels(a), newSelfcheckGenerators(a), newSelfcheckTriage(a), newSelfcheckMinimizer(a), newSelfcheckInfer(a))
	return c
}

func newSelfcheckModels(a *app) *cobra.Command {
	var raw, directed uint64
	var out string
	c := &cobra.Command{
		Use:   "models",
		Short: "compare the fast models with the slow oracle",
		Long: `models runs the fast models and the oracle, which share no code, on the same
inputs: --raw dot products of raw bits for each elementary operation, and
--directed ones of every other generator for each arithmetic.

Exit status: 0 all equal, 1 mismatches, 2 trouble, 75 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkModels(cmd.Context(), raw, directed, out) },
	}
	c.Flags().Uint64Var(&raw, "raw", 1_000_000, "dot products of raw bits for each operation")
	c.Flags().Uint64Var(&directed, "directed", 10_000, "dot products of every other generator for each arithmetic")
	outFlag(c, &out)
	return c
}

func (a *app) checkModels(ctx context.Context, raw, directed uint64, out string) error {
	began := time.Now()
	checks, err := study.Models(ctx, raw, directed, func(c *study.ModelCheck) {
		a.progress(began, c.Operation)
		if c.Mismatches > 0 {
			a.log.Error().Str("operation", c.Operation).Uint64("mismatches", c.Mismatches).Str("first", c.First).Msg("model and oracle differ")
		}
	})
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := study.WriteModels(&table, checks); err != nil {
		return err
	}
	if err := a.saveTable(out, table.Bytes()); err != nil {
		return err
	}
	if slices.ContainsFunc(checks, func(c *study.ModelCheck) bool { return c.Mismatches > 0 }) {
		return errMismatch
	}
	return nil
}

// outFlag adds --out to a command that makes a table.
func outFlag(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "", "`file` of the table (default: standard output)")
}

// saveTable writes a table to a file, all of it or nothing, or to stdout.
func (a *app) saveTable(out string, table []byte) error {
	if out == "" {
		_, err := a.stdout.Write(table)
		return err
	}
	return replaceFile(out, table)
}

// progress reports a long table's progress on stderr.
func (a *app) progress(began time.Time, what string) {
	fmt.Fprintf(a.stderr, "%6s  %s\n", clock(time.Since(began)), what)
}

func newSelfcheckGenerators(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "generators",
		Short: "how many inputs each generator needs to tell arithmetics apart",
		Long: `generators makes the separation table: for every arithmetic of the catalogue,
its one-parameter mutants and the arithmetics of other architectures, the number
of inputs that each generator needs until the first one on which the results
differ. It takes about half an hour on two cores.

Exit status: 0 every mutant is separated or has an argument why it cannot be, 1
some are not, 2 trouble, 75 interrupted.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkGenerators(cmd.Context(), out) },
	}
	outFlag(c, &out)
	return c
}

func (a *app) checkGenerators(ctx context.Context, out string) error {
	began := time.Now()
	all := study.Arithmetics()
	var seps []*study.Separation
	open := 0
	for n := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mutants, err := study.Mutants(&all[n])
		if err != nil {
			return err
		}
		pairs, err := study.Pairs(&all[n], all[n+1:])
		if err != nil {
			return err
		}
		for _, s := range append(mutants, pairs...) {
			if !s.Separated() && s.Argument == "" {
				open++
				a.log.Warn().Str("base", s.Base).Str("other", s.Other).Interface("change", s.Change).Msg("not separated")
			}
		}
		seps = append(append(seps, mutants...), pairs...)
		a.progress(began, fmt.Sprintf("%d of %d  %s", n+1, len(all), all[n].FullName()))
	}
	var table bytes.Buffer
	if err := study.WriteSeparations(&table, seps); err != nil {
		return err
	}
	if err := a.saveTable(out, table.Bytes()); err != nil {
		return err
	}
	if open > 0 {
		return errMismatch
	}
	return nil
}

func newSelfcheckTriage(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "triage",
		Short: "whether triage names the change that was made",
		Long: `triage makes the confusion table: every one-parameter mutant of every arithmetic
is presented to triage as an anonymous unit. It takes about two hours on two
cores.

Exit status: 0 no confident wrong answer, 1 some, 2 trouble, 75 interrupted.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkTriage(cmd.Context(), out) },
	}
	outFlag(c, &out)
	return c
}

func (a *app) checkTriage(ctx context.Context, out string) error {
	began := time.Now()
	all := study.Arithmetics()
	var outs []*study.Outcome
	wrong := 0
	for n := range all {
		os, err := study.ConfuseAll(ctx, &all[n])
		if err != nil {
			return err
		}
		for _, o := range os {
			if o.Result == study.Wrong {
				wrong++
			}
		}
		outs = append(outs, os...)
		a.progress(began, fmt.Sprintf("%d of %d  %s", n+1, len(all), all[n].FullName()))
	}
	var table bytes.Buffer
	if err := study.WriteOutcomes(&table, outs); err != nil {
		return err
	}
	if err := a.saveTable(out, table.Bytes()); err != nil {
		return err
	}
	if wrong > 0 {
		return errMismatch
	}
	return nil
}

func newSelfcheckMinimizer(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "minimizer",
		Short: "what the minimizer spends and achieves",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := study.Shrink(cmd.Context())
			if err != nil {
				return err
			}
			var table bytes.Buffer
			if err := study.WriteShrinkings(&table, all); err != nil {
				return err
			}
			return a.saveTable(out, table.Bytes())
		},
	}
	outFlag(c, &out)
	return c
}
