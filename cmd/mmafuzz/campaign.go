package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
)

// newCampaign makes the command campaign, which has plan alone below it. Campaigns that
// are split over machines also need run --campaign (shard.go), merge and status.
func newCampaign(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "campaign",
		Short: "split a campaign over machines",
		Long: `A campaign that is too large for one machine is cut into units by a plan, worked on
by shards on as many machines as there are, and merged:

  mmafuzz campaign plan --a sim:ampere --b sim:hopper --count 10000000000 --out campaign.json
  mmafuzz run --campaign campaign.json --shard 0/7 --out DIR      on each machine, 0/7 to 6/7
  mmafuzz status DIR
  mmafuzz merge DIR --out RESULT

What is found does not depend on the number of shards, on which were killed, or on
which ran twice. There is no server: shards share a directory, or have one each. A shard
does its own units, and those that these need if no other shard works on them. Shards with
directories of their own do not see each other's: plan one round, or give them --own-units
and merge between rounds. A shard that was killed is to be started again.
A plan may have commands (exec:) as targets: run and merge show them, and run them only with
--allow-exec, or after a yes on the terminal. Shards of a plan of yours that has some need
--allow-exec, since nobody answers there.
Launchers for Slurm, Kubernetes and GitHub Actions are in cmd/mmafuzz/deploy.`,
	}
	c.AddCommand(newPlan(a))
	return c
}

func newPlan(a *app) *cobra.Command {
	r := &runCmd{app: a}
	rule := fleet.Rule{}
	c := &cobra.Command{
		Use:   "plan",
		Short: "cut a campaign into units",
		Long: `plan writes what a campaign compares, on which inputs, and how that is cut into units of
about ` + fleet.UnitTime.String() + ` each, for which it measures how fast the two targets are here. The same
plan gives the same findings on any number of machines. Where the same command has made the
plan already, it stays.

From the second round on, the inputs with new features of all rounds before are
mutated, and causes can be named that need the verdict of an earlier round: where the
arithmetic of a side is not known, all mismatches of the first round beyond a few
samples stay unexamined. With --rounds 1 there is no such feedback, and shards need not see each
other's files.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case r.count == 0:
				return hint.New("for example --count 1000000000", "--count is missing")
			case r.out == "":
				return hint.New("for example --out campaign.json", "--out is missing")
			}
			return cmp.Or(atLeastOne("rounds", rule.Rounds), r.checkFlags(cmd.Flags()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return r.plan(cmd.Context(), rule) },
	}
	r.addTargets(c)
	f := c.Flags()
	f.Uint64Var(&r.count, "count", 0, "`number` of dot products for each pair, in whole tiles (required)")
	f.IntVar(&rule.Rounds, "rounds", fleet.DefaultRounds, "`number` of rounds: each learns from those before it")
	f.Uint64Var(&rule.Unit, "unit", 0, "`number` of dot products of a unit (default: what takes "+fleet.UnitTime.String()+" here)")
	f.StringVar(&r.out, "out", "", "`file` of the plan (required)")
	return c
}

func (r *runCmd) plan(ctx context.Context, rule fleet.Rule) error {
	defer r.targets.Close()
	pairs, err := r.pairs()
	if err != nil {
		return err
	}
	cfg, err := r.config(pairs)
	if err != nil {
		return err
	}
	r.note(cfg.Partial)
	r.notes(r.targets.LeftOut())
	line := newStatusLine(r.app)
	rule.Tell = func(done, of int) {
		if !r.json {
			line.show(statusField{fmt.Sprintf("measured %d of %s", done, readable.Plural(of, "pair")), 1})
		}
	}
	p, there, err := fleet.WritePlan(ctx, r.out, cfg, rule)
	line.clear()
	if err != nil {
		return err
	}
	n := len(p.Units())
	if r.json {
		return r.writeJSON(planned{p.Digest(), r.out, len(pairs), p.Count, n, p.Rounds, there})
	}
	already := ""
	if there {
		already = " is there already"
	}
	all := ""
	if dots := p.Dots(); dots != p.Count*uint64(len(pairs)) {
		all = fmt.Sprintf(" (in whole tiles %s in all)", readable.Thousands(dots))
	}
	text := fmt.Sprintf("%s: plan %s%s: %s with %s dot products each%s, in %s and %s", r.out, p.Digest(), already, readable.Plural(len(pairs), "pair"),
		readable.Thousands(p.Count), all, readable.Plural(n, "unit"), readable.Plural(p.Rounds, "round"))
	fmt.Fprint(r.stdout, readable.Hanging(text, r.width))
	units := strings.TrimSuffix(r.out, filepath.Ext(r.out)) + "-units"
	fmt.Fprintf(r.stdout, "next: %s run --campaign %s --shard 0/2 --out %s%s\n", command(), readable.ShellPath(r.out), readable.ShellPath(units), p.Allow())
	elsewhere := "and --shard 1/2 elsewhere"
	if p.Rounds > 1 { // in a directory of its own it would do all units
		elsewhere += " with the same --out, which all shards have to see"
	}
	fmt.Fprint(r.stdout, readable.Hanging(elsewhere+"; of N shards, the numbers are 0/N to N-1/N", r.width))
	return nil
}

// planned is what campaign plan --json writes.
type planned struct {
	Plan   string `json:"plan"`
	File   string `json:"file"`
	Pairs  int    `json:"pairs"`
	Count  uint64 `json:"count"`
	Units  int    `json:"units"`
	Rounds int    `json:"rounds"`
	There  bool   `json:"there"`
}
