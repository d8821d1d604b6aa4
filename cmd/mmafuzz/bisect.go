package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/bisect"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// bisectCmd is mmafuzz bisect.
type bisectCmd struct {
	*app
	a, b, inst string
	versions   []string
	git, repo  string
	build      string
	out        string
	count      uint64
	seed       uint64
	policy     policyFlags
	trust      *trust
	noInfer    bool
	tested     map[string]bool // the versions of which it was said
	schedule   string          // in what the schedules of A and the last version differ, once they were compared
}

func newBisect(a *app) *cobra.Command {
	b := &bisectCmd{app: a, tested: map[string]bool{}}
	c := &cobra.Command{
		Use:   "bisect --a A --b B --versions LIST | --git RANGE --build COMMAND",
		Short: "the first version of a unit whose results changed, with the input that shows it",
		Long: `bisect finds out which version of a unit changed its results. A is a target that
computes as before. The versions are in order, and the last one computes otherwise:
the inputs on which it differs from A, one of each cause, are what the other versions
are asked.

  mmafuzz bisect --a sim:hopper --versions v1/unit,v2/unit,v3/unit
  mmafuzz bisect --a may.rec --versions june.rec,july.rec
  mmafuzz bisect --a exec:./released --b "exec:{}/unit" --git v1.0..main --build make

A version is a program that speaks the protocol of exec: (mmafuzz help protocol), a
recording, a model file, the plan of a campaign, which stands for the second of its
targets, or the name of a target. A command (exec:) that a plan names is shown, and run only if
you agree: on the terminal, or by --allow-exec. In --b the word {} stands for the version.
With --git the versions are the commits of a range, oldest first, {} is a checkout, and
--build is run by sh in it. A version that cannot be built or opened is passed over.
So is one that changes its answers; if A or the last one does, bisect says so and ends with 2.
--out makes a bundle of each input, with A and the last version as its sides.
--git and --build run the commands of that repository: only with one that you trust.

Exit status: 0 the last version computes as A, 1 a version was found, 2 trouble, 75
interrupted, or untestable versions leave several candidates.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&b.a, "a", "", "`target` that computes as before, or a file as in --versions (required)")
	f.StringVar(&b.b, "b", bisect.Word, "`target` of a version: {} is the version or its checkout")
	selecting(f, &b.inst, "(default: all that A and the last version have)")
	f.StringSliceVar(&b.versions, "versions", nil, "`list` of versions, the oldest first")
	f.StringVar(&b.git, "git", "", "`range` of commits, as in git log")
	f.StringVar(&b.repo, "repo", ".", "`directory` of the repository of --git")
	f.StringVar(&b.build, "build", "", "`command` that builds a checkout")
	f.StringVar(&b.out, "out", "", "`directory` of bundles of the inputs (default: none are made)")
	f.Uint64Var(&b.count, "count", defaultCount, "`number` of inputs for each instruction")
	f.Uint64Var(&b.seed, "seed", 1, "`seed` of the inputs")
	b.policy.add(c, "", "how NaNs are compared: `bits|class`", "how signs of zeros are compared: `bits|class`")
	b.trust = trusting(a, c, "plans")
	addNoInfer(c, &b.noInfer)
	completeTargets(c, "a", "b")
	_ = c.MarkFlagDirname("repo")
	_ = c.MarkFlagDirname("out")
	return c
}

func (b *bisectCmd) run(ctx context.Context) error {
	switch {
	case b.a == "":
		return hint.New("name a target that computes as before, such as sim:hopper or exec:./released", "--a is missing")
	case (b.git == "") == (len(b.versions) == 0):
		return hint.New("name versions with --versions, or commits with --git", "one of --versions and --git is needed")
	case b.count == 0:
		return hint.New("leave --count out, or give a number of inputs", "--count is 0")
	case b.git == "" && b.build != "":
		return hint.New("leave it out, or name commits with --git", "--build is for --git")
	case !strings.Contains(b.b, bisect.Word):
		return hint.New(`write {} for the version or its checkout, as in --b "exec:{}/unit"`, "--b %s is the same for every version", b.b)
	}
	work := bisect.Bisection{A: b.a, Target: b.b, Versions: b.versions, Instruction: b.inst, Testing: b.testing, PassedOver: b.passedOver}
	work.May = func(plan, target string) error { return hint.Add(b.trust.targets(ctx, plan, target), allowHint) }
	if b.git != "" {
		work.Commits = &bisect.Commits{Repo: b.repo, Range: b.git, Build: b.build}
	}
	work.Campaign = fuzz.Config{Seed: b.seed, Count: b.count, NoInfer: b.noInfer}
	work.Campaign.NaN, work.Campaign.Zero = b.policy.strictness()
	found := false
	exact, err := work.Run(ctx, func(c *bisect.Change) error {
		if found && !b.json {
			fmt.Fprintln(b.stdout)
		}
		found = true
		if !b.noInfer && (c.Cause == string(triage.Unexplained) || c.Cause == string(triage.Schedule)) {
			if err := b.schedules(ctx, &work, c); err != nil {
				return err
			}
		}
		if b.out != "" {
			if err := c.Save(b.out); err != nil {
				return occupied(err)
			}
		}
		return b.result(c, c.Write)
	})
	switch {
	case err != nil:
		return err
	case !exact:
		return incomplete(errors.New("versions that could not be tested leave a choice"))
	case found:
		return errMismatch
	case !b.json:
		text := fmt.Sprintf("%s computes as %s on %s inputs of each instruction", work.Versions[len(work.Versions)-1], b.a, readable.Thousands(b.count))
		fmt.Fprint(b.stdout, readable.Hanging(text, b.width))
	}
	return nil
}

// schedules makes the cause of a change what the schedules of A and the last version differ in, if both are products of
// matrices.
func (b *bisectCmd) schedules(ctx context.Context, work *bisect.Bisection, c *bisect.Change) error {
	first, last, err := work.Sides(ctx)
	if err != nil || !study.AreProducts(first, last) {
		return err
	}
	if b.schedule == "" {
		r := &runCmd{app: b.app, a: first, b: last, seed: b.seed, count: defaultProducts}
		sides, done, err := study.Sides(ctx, first, last)
		if err != nil {
			return err
		}
		defer done()
		z, line := r.kernelFuzz(sides)
		found, err := z.Run(ctx)
		line.clear()
		if err != nil {
			return err
		}
		b.schedule = cmp.Or(found.Label(), c.Cause)
	}
	c.Cause = b.schedule
	return nil
}

// testing says which version is tested, for the first input that it is asked.
func (b *bisectCmd) testing(version string) {
	if b.tested[version] {
		return
	}
	b.tested[version] = true
	fmt.Fprintf(b.stderr, "testing %s\n", printable.Line(version))
}

func (b *bisectCmd) passedOver(version string, why error) {
	b.say("%s is passed over: %v", version, why)
}
