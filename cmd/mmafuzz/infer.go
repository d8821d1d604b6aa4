package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/infer/kernel"
)

// mostEffort bounds --effort: more than any machine computes.
const mostEffort = 1_000_000_000

// inferCmd is mmafuzz infer.
type inferCmd struct {
	*app
	unitFlags
	out             string
	seed            uint64
	checks, queries int
	effort          int
	time            time.Duration
	workers         int
	policy          policyFlags
	line            statusLine
	format          string
	shape           string // "": no matrix product
	nanGiven        bool
}

func newInfer(a *app) *cobra.Command {
	n := &inferCmd{app: a}
	c := &cobra.Command{
		Use:   "infer --target T --inst I",
		Short: "find the arithmetic of an unknown unit: a model that reproduces it bit for bit",
		Long: `infer asks a unit questions until one parameter program explains all answers, and
then tries to prove it wrong. It is told the operand formats and K, nothing else.

  mmafuzz infer --target cpu:0 --inst vdpbf16ps
  mmafuzz infer --target "exec:python3 double.py"

With --shape the instruction of the target is a product of matrices, and what is found is
its schedule: in which order, in which accumulators and formats the products of each
element of D, and C, are added, for every position in D. The directory of --out gets kernel.json,
which mmafuzz gemm computes, report.md and report.json; an inference that was interrupted
begins again.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 matmul.py 64x64x1000"

Without --shape it gets

  model.json   the program, for model:FILE targets; only if it passed every test
  best.json    instead, if none did: the best so far, which is wrong or not tested
  report.md    every parameter with the inputs that rule out other values, what no
               input told, and on how many inputs of each kind it was tested
  report.json  the same as JSON, for scripts
  tree.svg     the summation tree; tree.dot for Graphviz
  journal      what was asked and answered

An inference that was interrupted, even by kill -9, goes on when the same command
is given again. A damaged journal is set aside as journal.damaged, and what is lost is
asked again. An inference that runs out of queries or time keeps an earlier run's
result if that got further. A directory with files of these names and no journal is
refused: no inference wrote them. Behaviour that no program explains, that changes
from one time to the next, or that is a failure, is reported with the smallest input
that was found to show it.

Exit status: 0 a model was found, 1 none was, 2 trouble, 75 incomplete: it was
interrupted, or the unit stopped answering.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE:           func(cmd *cobra.Command, _ []string) error { return n.checkFlags(cmd.Flags()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return n.run(cmd.Context()) },
	}
	f := c.Flags()
	n.unitFlags.add(c, "cpu:0 or exec:COMMAND")
	f.StringVar(&n.out, "out", "", "`directory` of what is found (default: mmafuzz-out/infer-...)")
	f.Uint64Var(&n.seed, "seed", 1, "`seed` of all questions")
	f.StringVar(&n.shape, "shape", "", "`rows` x columns x K of matrix products whose schedule is to be found, such as 64x64x1000")
	f.IntVar(&n.checks, "checks", infer.DefaultChecks, "`inputs` of every generator that a model must pass; with --shape, elements of D in all, 1000000 unless given")
	f.IntVar(&n.queries, "queries", 0, "`dots` to ask at most (0: no limit); those that the journal answers count, but are not asked again")
	f.IntVar(&n.effort, "effort", infer.DefaultEffort, "about how many `millions` of dot products models compute in search of an explanation, before it gives up; to these come half as many in the last attempt, about 15 that every search takes, and more where programs are refuted again and again")
	f.DurationVar(&n.time, "time", 0, "`time` to spend at most by the clock, such as 10m (0: no limit)")
	formatFlag(f, &n.format, "text")
	n.figuresFlag(f)
	f.IntVar(&n.workers, "workers", 0, "`number` of goroutines (default: one per processor); the result does not depend on it")
	n.policy.add(c, comparisons[0], "compare NaNs by `bits` or class (default: bits; class of a program of which nothing else is known)", "compare zeros by `bits` or class")
	return c
}

func (n *inferCmd) checkFlags(f *pflag.FlagSet) error {
	if err := cmp.Or(n.policy.check(f), checkWorkers(n.workers), atLeastOne("checks", n.checks), upTo(mostEffort, "effort", n.effort), checkFormat(n.format)); err != nil {
		return err
	}
	n.nanGiven = f.Changed("nan")
	if n.shape != "" && !f.Changed("checks") {
		n.checks = kernel.DefaultChecks
	}
	switch {
	case n.queries < 0:
		return fmt.Errorf("--queries is %d; 0 is no limit", n.queries)
	case n.time < 0:
		return hint.New("give a time such as 90s, 10m or 8h, or 0 for no limit", "--time is %s, it must not be negative", n.time)
	}
	return nil
}

// longProduct says what there is for an instruction with more products than programs have.
func longProduct(i *mma.Instruction) string {
	if i.C == fp.None {
		return fmt.Sprintf("--shape %dx%dx%d finds the schedule of a product of matrices: in which order its products are added", cmp.Or(i.M.Min, 8), cmp.Or(i.N.Min, 8), i.K)
	}
	return fmt.Sprintf("infer a shorter one: with K = %d or less and the same c and d", mma.MaxK)
}

func (n *inferCmd) run(ctx context.Context) error {
	if n.shape != "" {
		return n.kernel(ctx)
	}
	t, u, err := n.openLive()
	if err != nil {
		return err
	}
	defer t.Close()
	i := u.Instruction()
	if i.K > mma.MaxK {
		return hint.New(longProduct(i), "%s has k = %d; programs have up to %d products", i.Name, i.K, mma.MaxK)
	}
	if err := i.Formats.Validate(); err != nil && i.A.Integer() {
		return hint.Add(err, "offer the sum of integers as an instruction of its own, with d=s32: infer finds how it is added up; mmafuzz run --b ref:exact compares the whole with the exact result, rounded once")
	}
	if !n.nanGiven && u.Model() == nil && i.Unknown&mma.FacetNaN != 0 && i.D.Get().HasNaN() {
		n.policy.nan = oracle.ByClass.String()
		n.say("codes of NaNs are not compared, for nobody has said which this program gives: --nan bits infers their rule, too")
	}
	dir := n.dir(t, i.Name)
	like, _ := devices.Split(n.like)
	if err := infer.CheckDir(dir, t.Name(), like); err != nil {
		return hint.Add(err, anotherOut)
	}
	r, err := infer.Infer(ctx, u, n.options(t, dir))
	n.line.clear()
	if err != nil {
		return n.explain(dir, err)
	}
	report, err := r.Report(ctx, t.Name(), i.Name, n.seed)
	if err != nil {
		return err
	}
	stays, err := r.Save(dir, report)
	if err != nil {
		return err
	}
	where := "report: " + filepath.Join(dir, "report.md")
	if stays != "" {
		where = fmt.Sprintf("%s keeps the earlier result (%s), which got further", dir, stays)
		if n.json {
			n.log.Warn().Msg(where)
		}
	}
	if n.json {
		err = n.writeJSON(report)
	} else if err = n.writeDocument(report.Document(), n.format, n.verbose); err == nil && n.format == "text" {
		_, err = fmt.Fprintln(n.stdout, where)
	}
	if err == nil {
		err = n.export(report.Document())
	}
	if err == nil && r.Verdict != infer.Found {
		err = errMismatch
	}
	return err
}

// dir is the directory of what is found: the one that was asked for, or one named
// after what is inferred.
func (n *inferCmd) dir(t devices.Target, inst string) string {
	if n.out != "" {
		return n.out
	}
	return ownDir("infer-", func(w io.Writer) {
		fmt.Fprintln(w, t.Name(), devices.DigestOf(t), inst, n.seed, n.checks, n.effort, n.policy.nan, n.policy.zero, versions.Program(), versions.Current())
	})
}

func (n *inferCmd) options(t devices.Target, dir string) infer.Options {
	began := time.Now()
	n.line.app, n.line.last = n.app, began
	o := infer.Options{
		Seed: n.seed, Checks: n.checks, Queries: n.queries, Time: n.time, Effort: n.effort, Workers: n.workers,
		Journal: filepath.Join(dir, infer.JournalFile), Target: t.Name(), Digest: devices.DigestOf(t),
		Trace: func(format string, args ...any) {
			if n.verbose {
				n.line.clear()
			}
			n.log.Debug().Msgf(format, args...)
		},
		Show: func(p infer.Progress) {
			n.line.show(statusField{text: fmt.Sprintf("%6s  %s", readable.Clock(time.Since(began)), p)})
		},
	}
	nan, zero := n.policy.strictness()
	o.Policy = oracle.Policy{NaN: *nan, Zero: *zero} // never nil: the flags default to bits
	return o
}

// explain adds a remedy to an error of an inference.
func (n *inferCmd) explain(dir string, err error) error {
	switch {
	case errors.Is(err, corpus.ErrOtherVersion):
		return hint.Add(err, "%s", otherVersionHint)
	case errors.Is(err, infer.ErrOtherInference):
		return hint.Add(err, "name another directory with --out, or give the flags with which this one was begun")
	case errors.Is(err, infer.ErrGone):
		return incomplete(hint.Add(err, "what was asked so far is in %s: when the unit answers again, the same command goes on from there", dir))
	case errors.Is(err, corpus.ErrInUse):
		return hint.Add(err, "wait for it, or name another directory with --out")
	case errors.Is(err, context.Canceled):
		return incomplete(hint.New("the same command goes on from here", "interrupted; what was asked so far is in %s", dir))
	}
	return err
}
