package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
)

// newCampaign makes the commands of campaigns that are split over machines; the others
// are run --campaign, merge and status.
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
which ran twice. There is no server: shards share a directory, or have one each. Where
there are many causes, shards that share one explain and shrink them in the end; merge
takes what they have done.
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
plan gives the same findings on any number of machines.

In the second round and those after it the inputs with new features of all rounds
before are mutated, and causes are known that take a verdict first: where the arithmetic of a
side is not known, all mismatches of the first round beyond a few samples stay
unexamined. With --rounds 1 there is no such feedback, and shards need not see each
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
	f.Uint64Var(&r.count, "count", 0, "`number` of dot products for each pair (required)")
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
	line := newStatusLine(r.app)
	rule.Tell = func(done, of int) {
		if !r.json {
			line.show(statusField{fmt.Sprintf("measured %d of %s", done, readable.Plural(of, "pair")), 1})
		}
	}
	p, err := fleet.NewPlan(ctx, cfg, rule)
	line.clear()
	if err != nil {
		return err
	}
	body, err := p.Encode()
	if err == nil {
		err = corpus.ReplaceFile(r.out, body)
	}
	if err != nil {
		return err
	}
	n := len(p.Units())
	if r.json {
		return r.writeJSON(planned{p.Digest(), r.out, len(pairs), p.Count, n, p.Rounds})
	}
	fmt.Fprintf(r.stdout, "%s: plan %s: %s with %s dot products each, in %s and %s\n", r.out, p.Digest(), readable.Plural(len(pairs), "pair"),
		readable.Thousands(p.Count), readable.Plural(n, "unit"), readable.Plural(p.Rounds, "round"))
	fmt.Fprintf(r.stdout, "next: %s run --campaign %s --shard 0/N --out DIR, and 1/N to N-1/N elsewhere\n", command(), readable.ShellPath(r.out))
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
}

// shardFlags are those of run for a part of a campaign.
type shardFlags struct {
	campaign string
	shard    string
	lease    time.Duration

	index, of int
}

func (s *shardFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.campaign, "campaign", "", "`file` of a plan: work on its units (mmafuzz campaign --help)")
	f.StringVar(&s.shard, "shard", "0/1", "`I/N`: with --campaign, the units whose number modulo N is I, then those of others")
	f.DurationVar(&s.lease, "lease", fleet.DefaultLease, "with --campaign, take over units of a shard that has been silent for this `time`")
}

// check returns an error if flags do not go together.
func (s *shardFlags) check(f *pflag.FlagSet) error {
	if s.campaign == "" {
		for _, name := range []string{"shard", "lease"} {
			if f.Changed(name) {
				return hint.New("add --campaign FILE: mmafuzz campaign plan makes one", "--%s is given without --campaign", name)
			}
		}
		return nil
	}
	var given []string
	f.Visit(func(one *pflag.Flag) {
		switch one.Name {
		case "campaign", "shard", "lease", "workers", "out", "json", "color", "verbose", "width":
		default:
			given = append(given, "--"+one.Name)
		}
	})
	if given != nil {
		return hint.New("leave it out, or make another plan", "%s does not go with --campaign, whose plan says what is compared", strings.Join(given, ", "))
	}
	index, of, ok := strings.Cut(s.shard, "/")
	var err, err2 error
	s.index, err = strconv.Atoi(index)
	s.of, err2 = strconv.Atoi(of)
	switch {
	case !ok || err != nil || err2 != nil:
		return hint.New("for example --shard 0/7 to --shard 6/7", "--shard is %q, not I/N", s.shard)
	case s.of < 1 || s.index < 0 || s.index >= s.of:
		return hint.New("numbers of shards begin with 0", "--shard is %s, which is none of 0/%d to %d/%d", s.shard, max(s.of, 1), max(s.of, 1)-1, max(s.of, 1))
	case s.lease < time.Second:
		return hint.New("heartbeats may take seconds on a file system that is shared", "--lease is %s, at least 1s is needed", s.lease)
	}
	return nil
}

// openPlan reads a plan and opens its pairs.
func (r *runCmd) openPlan(p *fleet.Plan) (fuzz.Config, error) {
	pairs, err := p.Open(r.targets.Target)
	if err != nil {
		return fuzz.Config{}, err
	}
	return p.Config(pairs)
}

// runShard works on the units of a plan.
func (r *runCmd) runShard(ctx context.Context) error {
	defer r.targets.Close()
	if r.out == "" {
		return hint.New("name one that all shards see, or one for each shard", "--campaign needs --out, the directory of the units")
	}
	p, err := fleet.ReadPlan(r.shard.campaign)
	if err != nil {
		return planError(err)
	}
	cfg, err := r.openPlan(p)
	if err != nil {
		return err
	}
	if cfg.Workers = r.workers; r.workers == 0 {
		cfg.Workers = fuzz.Workers(cfg.Pairs)
	}
	if !r.json {
		fmt.Fprintf(r.stderr, "mmafuzz: plan %s: shard %s of %s, out=%s\n", p.Digest(), r.shard.shard, readable.Plural(len(p.Units()), "unit"), r.out)
	}
	u := shardUI{app: r.app, began: time.Now(), line: newStatusLine(r.app)}
	s := fleet.Shard{Plan: p, Pairs: cfg.Pairs, Dir: r.out, Index: r.shard.index, Of: r.shard.of, Workers: cfg.Workers, Lease: r.shard.lease, Observe: u.progress}
	err = s.Run(ctx)
	u.line.clear()
	if result := u.summarize(p, r.shard.shard, err); result != nil {
		return result
	}
	further := fmt.Sprintf("the same command goes on: what is done is in %s", readable.ShellPath(r.out))
	switch {
	case errors.Is(err, fleet.ErrRound):
		return incomplete(hint.New(fmt.Sprintf("where shards share no directory: mmafuzz merge DIR... --out %s, then the same command", readable.ShellPath(r.out)), "%w", err))
	case isIncomplete(err):
		return incomplete(hint.New(further, "%s", why(err)))
	}
	return planError(err)
}

// why says what has ended a shard.
func why(err error) string {
	if errors.Is(err, context.Canceled) {
		return fuzz.Interrupted
	}
	return err.Error()
}

// planError adds what to do about an error of a plan or of a directory of units.
func planError(err error) error {
	var other *fleet.OtherPlanError
	switch {
	case errors.As(err, &other):
		return hint.Add(err, "a directory is of one plan: name another one")
	case errors.Is(err, corpus.ErrOtherVersion):
		return hint.Add(err, "%s", otherVersionHint)
	case errors.Is(err, fs.ErrNotExist):
		return hint.Add(err, "mmafuzz campaign --help shows how a campaign is split")
	}
	return err
}

// shardUI shows how far a shard is.
type shardUI struct {
	*app
	began time.Time
	line  statusLine
	last  fleet.Progress
}

func (u *shardUI) progress(p fleet.Progress) {
	u.last = p
	if u.json {
		return
	}
	t := time.Since(u.began)
	waiting := ""
	switch {
	case p.Triaging:
		waiting = "explaining and shrinking: " + readable.Plural(p.Triaged, "step")
	case p.Waiting:
		waiting = "waiting for other shards"
	}
	u.line.show(
		statusField{fmt.Sprintf("%6s", readable.Clock(t)), 6},
		statusField{fmt.Sprintf("%d of %d units, %d here", p.Done, p.Of, p.Here), 7},
		statusField{readable.Count(p.Dots) + " dots", 5},
		statusField{readable.Count(readable.Rate(p.Dots, t)) + "/s", 4},
		statusField{"mismatch " + readable.Count(p.Mismatches), 3},
		statusField{waiting, 2},
	)
}

// shardEvent is the event that comes last in run --campaign.
type shardEvent struct {
	eventHead
	*fleet.ShardSummary
}

func (u *shardUI) summarize(p *fleet.Plan, shard string, err error) error {
	sum := u.last.Summary(p, shard, time.Since(u.began), err == nil)
	return u.result(&shardEvent{newEvent("shard"), sum}, sum.Write)
}
