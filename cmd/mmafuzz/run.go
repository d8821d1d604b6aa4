package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// The demonstration that run without flags gives: two generations of GPUs on
// every instruction that both have.
const demoA, demoB = "sim:ampere", "sim:hopper"

// defaultCount is the number of dot products for each pair, without --count.
const defaultCount = 100_000

// mostBundles bounds the cases that a campaign keeps in memory until its end.
const mostBundles = 100_000

// runCmd is mmafuzz run.
type runCmd struct {
	*app
	a, b, inst, instB string
	several           []string
	all               bool
	count             uint64
	time              time.Duration
	seed              uint64
	workers           int
	generators        []string
	policy            policyFlags
	perBucket         int
	maxBundles        int
	out               string
	list              knownFlags
	accept            acceptFlag
	shard             shardFlags
	trust             *trust // of the plan's targets

	noInfer bool
	targets open.Set
}

func newRun(a *app) *cobra.Command {
	r := &runCmd{app: a}
	c := &cobra.Command{
		Use:   "run",
		Short: "compare units and explain where they differ",
		Long: `run feeds the same inputs to pairs of matrix units, counts where their results differ,
finds the cause of every differing case, and shrinks one case of each cause.

  mmafuzz run                                               ` + demoA + ` and ` + demoB + `
  mmafuzz run --a sim:hopper --b ref:exact --inst wgmma.m64n8k32.f32.e4m3.e4m3
  mmafuzz run --a replay:FILE --b sim:hopper                a recording and a model
  mmafuzz run --a "exec:python3 mine.py" --b ref:exact      a program of yours (mmafuzz help exec)
  mmafuzz run --targets sim:ampere,sim:hopper,sim:cdna3 --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz run --a sim:hopper --all --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz run --a openblas-sgemm --b "exec:python3 matmul.py"   whole matrix products
  mmafuzz run --a "exec:./old" --b "exec:./new"             the same of two builds, if K is large

With --count the findings depend on the flags alone, not on the machine or the
number of workers. With --time the run may go on for another 2 seconds or 3 % of that
time, whichever is longer, to explain what it has found, and the summary gives the
--count that reproduces the findings; with both, the limit that is reached first ends
the run. Ctrl-C ends a run with its summary. A run that was
interrupted, even by kill -9, continues when it is started again with the same --out,
by a program with the same digests (mmafuzz version): a few seconds of work are lost.

With --campaign, run is one of many shards: it works on parts of a plan, its units of work,
and merge explains what the shards found (mmafuzz campaign --help). If the plan has a command
(exec:) as target, it is shown, and run only if you agree: on the terminal, or by --allow-exec.

Where nothing is known of a side, such as a program of yours, and no change of the other side's
arithmetic explains it, its arithmetic is looked for, and the two are compared. Of long sums
without C it is the schedule: in which order, accumulators and formats the products are
added. --no-infer leaves that out.

With --known, differences on a list are reported but do not change the exit status.
--update-known makes such a list for the next run, or adds the differences that it does not
cover (mmafuzz help known).

With --accept, units that do not promise bits may be apart: by N codes (ulp=N), or by
EXPRESSION (bound=EXPRESSION) in u, the unit roundoff of the result, eta, its smallest
positive number, K, the products, S, the sum of the absolute values of the products and c,
X, the absolute exact value, and A and B, the absolute results. There are + - * / ^ max
and min. The input that comes nearest to the limit, or goes furthest beyond it, is hunted
for and shrunk:

  mmafuzz run --a sim:cdna3 --b ref:exact --inst v_mfma_f32_16x16x16_f16 --accept "bound=(K+1)*u*S"
  mmafuzz run --a "exec:./mine" --b ref:exact --accept "bound=1e-5+1e-3*B"

If --a or --b is a kernel, an instruction with a schedule or a schedule (mmafuzz gemm --help),
matrix products are compared, as --count says: M, N and K are drawn, aligned and not, skinny and
deep; operands are normal, spread over 20 binades, ones, marks, one-hot rows or special values.
Of ones and marks, which are powers of two, the result is known: it tells which k are missing or
taken twice. The other side may be a black box: a target exec: whose instructions have no C, each
of which is a product of its K. So may both, if K is beyond ` + fmt.Sprint(mma.MaxK) + `: their schedules are inferred then. What
differs is explained by the field of the kernel's schedule whose change gives the other's bits, shrunk to a small shape with simple values, and written to a
bundle: the matrices as .npy, both results, the schedules, and a program in Python that computes
the case again.

Exit status: 0 no mismatches, 1 mismatches, 2 trouble, 75 incomplete, even if
differences were found: the run was interrupted, a target stopped answering, or nothing
was compared.
With --campaign: 0 the units of this shard are done, whatever was found, and even if those of
others are not (mmafuzz status), 2 trouble, 75 some of them are left.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return r.checkFlags(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch kernels, err := r.ofKernels(cmd.LocalNonPersistentFlags()); {
			case err != nil:
				return err
			case kernels:
				return r.kernels(cmd.Context())
			}
			if r.accept.text != "" && r.accept.text != "bits" {
				return r.hunt(cmd.Context(), cmd.Flags())
			}
			if r.shard.campaign != "" {
				return r.runShard(cmd.Context())
			}
			return r.run(cmd.Context())
		},
	}
	r.addTargets(c)
	f := c.Flags()
	f.Uint64Var(&r.count, "count", 0, fmt.Sprintf("`number` of dot products for each pair, in whole tiles (default %d, or no limit with --time)", defaultCount))
	f.DurationVar(&r.time, "time", 0, "stop after this `time`, such as 90s, 10m or 8h")
	f.IntVar(&r.workers, "workers", 0, "`number` of goroutines (default: one per processor, and two more for units that compute elsewhere)")
	f.StringVar(&r.out, "out", envOr("MMAFUZZ_OUT", ""), "`directory` of the journal and the bundles (default: mmafuzz-out/CAMPAIGN)")
	addNoInfer(c, &r.noInfer)
	r.list.add(f)
	r.accept.add(f)
	r.shard.add(f)
	r.trust = trusting(a, c, "plans")
	_ = c.MarkFlagDirname("out")
	fewFlags(c, "a b inst targets count time out nan accept seed known")
	return c
}

// addTargets adds the flags that say what is compared, and how.
func (r *runCmd) addTargets(c *cobra.Command) {
	f := c.Flags()
	// The completion of cobra looks for a flag of one letter among the short ones.
	f.StringVarP(&r.a, "a", "a", "", "first `target`: KIND:ARGUMENT[/INSTRUCTION] (with neither --a nor --b: "+demoA+")")
	f.StringVarP(&r.b, "b", "b", "", "second `target` (with neither: "+demoB+")")
	selecting(f, &r.inst, "(default: all that both targets have if one is a recording or a child process; else sums of floating-point products, and of two simulators those whose rules were checked against hardware)")
	f.StringVar(&r.instB, "inst-b", "", "`instruction` of the second target, if it is another one")
	f.StringSliceVar(&r.several, "targets", nil, "compare all pairs of these `targets`")
	f.BoolVar(&r.all, "all", false, "compare --a with the simulator of every architecture that takes the same operands")
	f.Uint64Var(&r.seed, "seed", 1, "random seed: a `number` that determines all inputs")
	f.StringSliceVar(&r.generators, "gen", nil, "`generators` to use (default: all; mmafuzz list generators)")
	r.policy.add(c, "", "how NaNs are compared: `bits|class` (default: bits where both sides' codes are known)",
		"how signs of zeros are compared: `bits|class` (default: bits where both sides' signs are known)")
	f.IntVar(&r.perBucket, "per-bucket", 1, "`number` of cases to shrink and keep for each cause and kind of difference, on each instruction")
	f.IntVar(&r.maxBundles, "max-bundles", fuzz.DefaultFindings, "at most this `number` of bundles for each pair of targets; a third of them are kept for causes, seen or not yet; further cases are only counted")
	completeTargets(c, "a", "b", "targets")
	completeInstructions(c, "inst", &r.a)
	completeInstructions(c, "inst-b", &r.b)
	_ = c.RegisterFlagCompletionFunc("gen", completeGenerators)
}

func (r *runCmd) run(ctx context.Context) error {
	defer r.targets.Close()
	if err := r.list.open(); err != nil {
		return err
	}
	pairs, err := r.pairs()
	if err != nil {
		return err
	}
	cfg, err := r.config(pairs)
	if err != nil {
		return err
	}
	ui := r.display(&cfg, r.dir(&cfg))
	if err := ownModule(ui.dir); err != nil {
		return r.outError(ui.dir, err)
	}
	if err := r.list.hold(); err != nil {
		return err
	}
	defer r.list.release(r.app)
	c, err := r.open(cfg)
	if err == nil {
		err = corpus.RemoveStale(ui.dir, 1) // one level down: bundles lie in a directory per instruction
	}
	if err != nil {
		return r.outError(ui.dir, err)
	}
	ui.start(c.State(), c.Resumed())
	r.notes(r.targets.LeftOut())
	r.notePairs(pairs)
	ui.line.expect("comparing the first inputs")
	err = c.Run(ctx)
	left := c.Unfinished(ctx, err)
	leftOut := r.targets.LeftOutInShort()
	if r.all || len(r.several) > 0 { // of which targets?
		leftOut = ""
	}
	sum := summary.New(summary.Input{
		Config: &cfg, State: c.State(), Unexplained: c.Unexplained, Findings: ui.findings, Left: left, Known: r.list.Known, LeftOut: leftOut, Time: time.Since(ui.began),
	})
	exit := exitAgree
	switch {
	case left != nil:
		exit = exitIncomplete
	case err != nil:
		exit = exitTrouble
	case sum.HasNews():
		exit = exitMismatch
	}
	ui.summarize(sum, exit)
	further := fmt.Sprintf("what was found is kept: the same command with --out %s goes on from here", readable.ShellPath(ui.dir))
	switch {
	case left != nil && (left.Why == fuzz.NothingCompared || left.Why == cfg.Partial):
		return incomplete(errors.New(left.Why))
	case left != nil:
		return incomplete(hint.New(further, "%s", left.Why))
	case err != nil:
		return hint.Add(occupied(err), "%s", further)
	}
	return r.written(sum)
}

// notePairs says what formats that are compared by value do not have in common, of which
// instructions publications disagree, and what shares of inputs that aim at differences are not.
func (r *runCmd) notePairs(pairs []devices.Pair) {
	var notes, disputes []string
	where := map[string][]string{} // by dispute
	for i := range pairs {
		p := &pairs[i]
		notes = append(notes, p.ByValue()...)
		for _, u := range []devices.Unit{p.A, p.B} {
			if _, why, ok := strings.Cut(u.Instruction().Evidence, "disputed: "); ok && u.Model() != nil {
				if where[why] == nil {
					disputes = append(disputes, why)
				}
				where[why] = append(where[why], "sim:"+u.Instruction().Arch)
			}
		}
		if strings.HasPrefix(p.TargetA, "ref:") || strings.HasPrefix(p.TargetB, "ref:") {
			notes = append(notes, "inputs are made to show differences: how often ordinary numbers differ, mmafuzz study discrepancy says")
		}
	}
	for _, why := range disputes {
		slices.Sort(where[why])
		notes = append(notes, fmt.Sprintf("disputed on %s: %s", strings.Join(slices.Compact(where[why]), ", "), why))
	}
	said := map[string]bool{}
	for _, note := range notes {
		if !said[note] {
			said[note] = true
			r.note(note)
		}
	}
}

// display makes the display of a campaign, whose journal and bundles are to be in a directory.
func (r *runCmd) display(cfg *fuzz.Config, dir string) *runUI {
	ui := newRunUI(r.app, *cfg, dir)
	ui.list = &r.list
	cfg.Observe, cfg.Searching, cfg.Slow = ui, ui.searching, ui.slow
	cfg.Bundles, cfg.Journal = dir, filepath.Join(dir, fuzz.JournalFile)
	return ui
}

// written writes the list of --update-known. It returns an error if there were differences that
// are news.
func (r *runCmd) written(sum *summary.Summary) error {
	if err := r.list.write(r.app, sum.Differences(), 0); err != nil {
		return err
	}
	if sum.HasNews() {
		return errMismatch
	}
	return nil
}

// open prepares the campaign. A complete campaign in the default directory is started
// over, not resumed.
func (r *runCmd) open(cfg fuzz.Config) (*fuzz.Campaign, error) {
	c, err := fuzz.New(cfg)
	if err != nil || r.out != "" || cfg.Count == 0 || !c.State().Complete(cfg.Count) {
		return c, err
	}
	c.Close()
	if err := fuzz.RemoveDir(filepath.Dir(cfg.Journal)); err != nil {
		return nil, err
	}
	cfg.Observe.(*runUI).forget()
	return fuzz.New(cfg)
}

// outError explains why a directory cannot be used.
func (r *runCmd) outError(dir string, err error) error {
	var path *fs.PathError
	err = occupied(err)
	switch {
	case errors.Is(err, corpus.ErrOtherVersion):
		return hint.Add(err, "%s", otherVersionHint)
	case errors.Is(err, fuzz.ErrOtherCampaign):
		return hint.Add(err, "name another directory with --out, or give the flags with which this one was begun")
	case errors.Is(err, fuzz.ErrInUse):
		return hint.Add(err, "wait for it, or name another directory with --out")
	case errors.As(err, &path):
		return hint.New("name a directory with --out that can be made or written", "cannot use the directory %s: %w", dir, path.Err)
	}
	return hint.Add(err, anotherOut)
}

// moveAway is the hint where something that a person has written is in the way.
const moveAway = "move it away, or name another directory with --out"

// occupied adds a hint to err if something else is in the way of a bundle.
func occupied(err error) error {
	if errors.As(err, new(*bundle.OccupiedError)) || errors.As(err, new(*bundle.LostError)) {
		return hint.Add(err, moveAway)
	}
	return err
}

// config makes the campaign's configuration from the flags.
func (r *runCmd) config(pairs []devices.Pair) (fuzz.Config, error) {
	cfg := fuzz.Config{
		Pairs: pairs, Seed: r.seed, Generators: r.generators, Count: r.count, Time: r.time,
		Workers: r.workers, PerBucket: r.perBucket, MaxFindings: r.maxBundles, Partial: r.targets.Partial(),
		NoInfer: r.noInfer,
	}
	if cfg.Count == 0 && cfg.Time == 0 {
		cfg.Count = defaultCount
	}
	cfg.NaN, cfg.Zero = r.policy.strictness()
	return cfg, r.checkGenerators(pairs)
}

// pairs makes the pairs that the flags ask for.
func (r *runCmd) pairs() ([]devices.Pair, error) {
	if len(r.several) > 0 {
		return r.targets.AllPairs(r.several, r.inst, r.leftOut)
	}
	r.a = cmp.Or(r.a, demoA)
	if r.all {
		return r.targets.WithAll(r.a, r.inst, func(a, b string, why error) {
			if r.verbose {
				r.leftOut(a, b, why)
			}
		})
	}
	inst := r.inst
	if spec, own := devices.Split(r.a); r.instB != "" && r.inst == "" && own == "" {
		a, err := r.targets.Target(spec)
		if err != nil {
			return nil, err
		}
		all := a.Instructions()
		if len(all) != 1 {
			return nil, hint.New("add --inst, the instruction of the first target", "--inst-b is given without --inst")
		}
		inst = all[0].Name
	}
	return r.targets.Pairs(r.a, cmp.Or(r.b, demoB), inst, r.instB)
}

func (r *runCmd) leftOut(a, b string, why error) {
	r.say("%s and %s are left out: %v", a, b, why)
}

// dir is the campaign's directory: the one that was asked for, or one named
// after what the campaign does.
func (r *runCmd) dir(cfg *fuzz.Config) string {
	if r.out != "" {
		return r.out
	}
	return ownDir("", func(w io.Writer) {
		for i := range cfg.Pairs {
			p := &cfg.Pairs[i]
			fmt.Fprintln(w, p.TargetA, p.TargetB, p.A.Instruction().Name, p.B.Instruction().Name)
			if p.DigestA+p.DigestB != "" {
				fmt.Fprintln(w, p.DigestA, p.DigestB)
			}
		}
		fmt.Fprintln(w, cfg.Seed, cfg.Generators, cfg.Count, cfg.Time > 0, cfg.PerBucket, cfg.MaxFindings, r.policy.nan, r.policy.zero, r.noInfer, versions.Program(), versions.Current())
	})
}
