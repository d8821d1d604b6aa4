package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	choose "github.com/mmafuzz/mmafuzz/fuzz/vectors"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/tolerance"
)

// vectorsCmd is mmafuzz vectors.
type vectorsCmd struct {
	*app
	unitFlags
	arch    string
	all     bool
	check   string
	score   string
	accept  acceptFlag
	policy  policyFlags
	out     string
	formats []string
	workers int
	screen  bool
	time    time.Duration
}

func newVectors(a *app) *cobra.Command {
	v := &vectorsCmd{app: a}
	c := &cobra.Command{
		Use:   "vectors --arch A --inst I --out DIR",
		Short: "test vectors of an instruction, for others to load",
		Long: `vectors writes test vectors: few inputs with their results, chosen so that units of
other arithmetics fail one of them. Every parameter (mmafuzz list parameters) is given
each of its other values, all else being equal, and so is every decision that sets
several together. So is every pair of parameters of the sum to which c is added (join.*,
without join.post.*) of which one at least is not a number. The set says how many of these
arithmetics fail a test, how many are proved to compute the same function, how many differ
only in what nobody knows of the instruction, and of which values neither is known: these
pass. Other parameters changed at once may pass, too. The catalogue's other instructions of
the same formats fail, if any of the inputs that were tried tells them apart. Each test says what it is for and which known
arithmetics fail it. The files are JSON, CSV, a header of C,
$readmemh of Verilog and .npz of NumPy (mmafuzz help vectorfiles).

  mmafuzz vectors --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32 --out DIR
  mmafuzz vectors --target model:mine.json --out DIR
  mmafuzz vectors --all --out DIR
  mmafuzz vectors --check DIR/hopper/FILE.json --target "exec:./mine"

--all makes the sets of all instructions that were checked against results, with --arch
of one architecture, and table.tsv with a row for each set that DIR has. Sets that it has
already are kept, so that the same command goes on after an interruption. All take about an
hour on two cores.

--score finds out what tests of yours are worth: FILE has the operands of a dot product on
each line, as mmafuzz eval reads them, or is a set, and --accept says which results they
take for right (mmafuzz run --help). Units that do not compute (all zeros, all results one
code too large, shuffled results and others), the arithmetics that a changed decision
makes, and the catalogue's other instructions are tried on them; those that pass are
listed. Arithmetics that are known to compute the same function are left out.

  mmafuzz vectors --score tests.txt --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32 --accept "bound=1e-5+1e-3*B"

--check runs the tests of a set on a target. One that fails is run 8 times; if it passes in
some of them, it is unstable. With --nan class any NaN passes where a NaN is expected, with
--zero class a zero of either sign.

--screen is for devices that compute wrong now and then, or in one lane: it ranks inputs by
the stuck-at faults of the data path that they reveal, says how many faults of other kinds
the first of them reveal beside random inputs, and with --time gives them to every lane of
the target for that long. Each wrong result is shown at once with its lane, bits and time.
At the end it says how many of the other faults are killed in a microsecond, at the speed of
this target. With --out FILE, the same command goes on after an interruption, or for a longer
--time. The arithmetic is that of the target's instruction, or of --arch.

  mmafuzz vectors --screen --target cuda:0 --inst mma.m16n8k16.f32.f16.f16.f32 --time 8h --out screen.json

Exit status: 0 done, or all tests passed, 1 some failed or are unstable, something wrong
passes the tests of --score, or --screen saw a wrong result, 2 trouble, 75 interrupted.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			for _, flag := range []string{"nan", "zero"} {
				if cmd.Flags().Changed(flag) && v.check == "" {
					return hint.New("leave it out, or name a set with --check", "--%s is for --check", flag)
				}
			}
			return v.policy.check(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&v.arch, "arch", "", "`architecture`: --arch hopper is --target sim:hopper")
	f.StringVar(&v.target, "target", "", "`target` whose arithmetic is known, sim:ARCH or model:FILE; with --check, any")
	f.StringVar(&v.inst, "inst", "", "`instruction` (required, unless the target has only one)")
	completeTargets(c, "target")
	completeInstructions(c, "inst", &v.target)
	f.BoolVar(&v.all, "all", false, "all instructions of the catalogue that were checked against results")
	f.StringVar(&v.check, "check", "", "`file` of a set, JSON, whose tests to run on the target")
	f.StringVar(&v.score, "score", "", "`file` of tests to find out what wrong results they let pass")
	v.accept.add(f)
	v.policy.add(c, comparisons[0], "with --check, compare NaNs by `bits` or class", "with --check, compare zeros by `bits` or class")
	f.StringVar(&v.out, "out", "", "`directory` of the files: DIR/ARCH/NAME.json and so on; with --screen, a file that keeps what was done")
	f.StringSliceVar(&v.formats, "format", formatNames(), "`forms` of the files")
	f.IntVar(&v.workers, "workers", 0, "`number` of sets that --all makes at a time (default: one per processor); the sets do not depend on it")
	f.BoolVar(&v.screen, "screen", false, "inputs that find defective units")
	f.DurationVar(&v.time, "time", 0, "how `long` --screen runs them on the target (default: not at all)")
	_ = c.MarkFlagDirname("out")
	return c
}

func formatNames() []string {
	var names []string
	for _, f := range vectors.Formats {
		names = append(names, f.Name)
	}
	return names
}

func (v *vectorsCmd) run(ctx context.Context) error {
	if v.screen {
		return v.screenUnit(ctx)
	}
	if v.arch != "" && !v.all {
		if v.target != "" {
			return hint.New("leave one out", "--arch %s and --target %s both name the target", v.arch, v.target)
		}
		v.target = "sim:" + v.arch
	}
	for _, name := range v.formats {
		if err := checkWord("format", name, formatNames()...); err != nil {
			return err
		}
	}
	if err := checkWorkers(v.workers); err != nil {
		return err
	}
	switch {
	case v.check != "" && v.score != "":
		return hint.New("leave one out", "--check and --score exclude each other")
	case v.check != "":
		return v.checkSet(ctx)
	case v.accept.text != "" && v.score == "":
		return hint.New("leave it out, or name a file of tests with --score", "--accept is for --score")
	case v.score != "":
		return v.scoreTests(ctx)
	case v.out == "":
		return hint.New("name a directory, which is made if need be", "--out is missing")
	case v.all && v.target != "":
		return hint.New("leave one out", "--all makes the sets of all targets, not of %s", v.target)
	case v.all && v.inst != "":
		return hint.New("leave one out", "--all makes the sets of all instructions, not of %s", v.inst)
	case v.all:
		return v.makeAll(ctx)
	}
	i, err := v.known()
	if err != nil {
		return err
	}
	if err := cmp.Or(v.directory().Check(i), v.directory().Writable()); err != nil {
		return hint.Add(err, anotherOut)
	}
	line := newStatusLine(v.app)
	line.expect("choosing inputs of " + i.FullName() + " on which changed units fail")
	s, err := choose.Choose(ctx, &i, mma.Catalog())
	line.clear()
	if err != nil {
		return err
	}
	if err := v.directory().Save(s); err != nil {
		return err
	}
	return v.summary([]*vectors.Set{s})
}

// known returns the instruction of a target whose arithmetic is known.
func (v *vectorsCmd) known() (mma.Instruction, error) {
	t, u, err := v.open()
	if err != nil {
		return mma.Instruction{}, err
	}
	defer t.Close()
	i := *u.Instruction()
	if u.Model() == nil {
		return i, hint.New("mmafuzz infer finds the arithmetic of a unit and writes a model file, which is a target", "the arithmetic of %s is not known: there are no right answers", v.target)
	}
	i.Params = *u.Model()
	return i, nil
}

// scoreTests finds out what tests of somebody let pass.
func (v *vectorsCmd) scoreTests(ctx context.Context) error {
	accept, err := tolerance.Parse(cmp.Or(v.accept.text, "bits"))
	if err != nil {
		return err
	}
	i, err := v.known()
	if err != nil {
		return err
	}
	dots, err := choose.Inputs(v.score, &i)
	if err != nil {
		return hint.Add(err, "a line has the operands of a dot product, as mmafuzz eval reads them")
	}
	s, err := choose.ScoreInputs(ctx, &i, dots, accept)
	if err != nil {
		return err
	}
	if err := v.result(s, func(w io.Writer, width int) { s.Write(w, width, v.verbose) }); err != nil {
		return err
	}
	if s.LetPass() {
		return errMismatch
	}
	return nil
}

// screenUnit ranks inputs that find defective units, and runs them on the target.
func (v *vectorsCmd) screenUnit(ctx context.Context) error {
	if v.check != "" || v.score != "" || v.all {
		return hint.New("leave the others out", "--screen excludes --check, --score and --all")
	}
	if v.out != "" && v.time == 0 {
		return hint.New("say how long to screen the target, for example --time 10m", "--out keeps what --screen --time has done")
	}
	if v.time < 0 {
		return hint.New("give a time such as 90s, 10m or 8h", "--time is %s", v.time)
	}
	if v.target == "" && v.arch != "" {
		v.target = "sim:" + v.arch
	}
	t, u, err := v.open()
	if err != nil {
		return err
	}
	defer t.Close()
	i := *u.Instruction()
	if u.Model() != nil {
		i.Params = *u.Model()
	} else if v.arch == "" {
		return hint.New("--arch names the architecture whose arithmetic is right", "the arithmetic of %s is not known", v.target)
	}
	if v.arch != "" {
		known, err := mma.Lookup(v.arch, i.Name)
		if err != nil {
			return err
		}
		if known.Formats != i.Formats || known.K != i.K {
			return fmt.Errorf("%s takes %s with K = %d, %s takes %s with K = %d", known.FullName(), known.Formats, known.K, v.target, i.Formats, i.K)
		}
		i = *known
	}
	screening := &choose.Screening{Time: v.time, Target: v.target, File: v.out,
		Wrong: func(r *choose.ScreenWrong) error { return v.result(r, r.Write) }}
	if err := screening.Check(); err != nil {
		return hint.Add(err, "another --out begins anew")
	}
	line := newStatusLine(v.app)
	line.expect("ranking inputs by the faults that they reveal")
	s, err := choose.NewScreen(ctx, &i)
	line.clear()
	if err != nil {
		return hint.Add(err, "--arch names the architecture whose arithmetic is right")
	}
	if err := v.result(s, s.Write); err != nil || v.time == 0 {
		return err
	}
	done, err := s.Run(ctx, u, screening)
	if done == nil {
		return hint.Add(err, "another --out begins anew")
	}
	if told := v.result(done, done.Write); told != nil {
		return told
	}
	switch {
	case ctx.Err() != nil:
		return incomplete(errors.New("interrupted"))
	case err != nil:
		return err
	case done.Wrong > 0:
		return errMismatch
	}
	return nil
}

func (v *vectorsCmd) directory() *choose.Directory {
	return &choose.Directory{Path: v.out, Forms: v.formats}
}

// makeAll makes the sets of all instructions that were checked.
func (v *vectorsCmd) makeAll(ctx context.Context) error {
	all := choose.Instructions()
	if v.arch != "" {
		all = slices.DeleteFunc(all, func(i mma.Instruction) bool { return i.Arch != v.arch })
		if len(all) == 0 {
			return hint.New("mmafuzz list instructions lists them", "no instruction of an architecture %s was checked against results", v.arch)
		}
	}
	began := time.Now()
	sets, err := v.directory().MakeAll(ctx, all, v.workers, func(done int, i *mma.Instruction) {
		v.progress(began, fmt.Sprintf("%d of %d  %s", done, len(all), i.FullName()))
	})
	if errors.As(err, new(*corpus.ForeignError)) {
		return hint.Add(err, anotherOut)
	}
	if err != nil {
		return err
	}
	return v.summary(sets)
}

// summary shows what sets come to.
func (v *vectorsCmd) summary(sets []*vectors.Set) error {
	totals, err := choose.Totals(sets)
	if err != nil {
		return err
	}
	if v.json {
		return writeAll(v.app, totals)
	}
	d := choose.Document(totals)
	d.Add("", choose.Decide(sets)...)
	if err := v.writeDocument(d, "text", v.verbose); err != nil {
		return err
	}
	fmt.Fprintf(v.stdout, "files: %s\n", v.out)
	return v.stdout.Err()
}

// checkSet runs the tests of a set on the target.
func (v *vectorsCmd) checkSet(ctx context.Context) error {
	s, err := vectors.Open(v.check)
	if err != nil {
		return hint.Add(err, "mmafuzz vectors makes sets")
	}
	cases, err := s.Cases()
	if err != nil {
		return err
	}
	if v.target == "" {
		return hint.New("for example --target \"exec:./mine\"", "--target is missing")
	}
	if _, inst := devices.Split(v.target); v.inst == "" && inst == "" {
		_, v.inst, _ = strings.Cut(s.Instruction, "/")
	}
	t, u, err := v.openToCheck()
	if err != nil {
		return err
	}
	defer t.Close()
	if i := u.Instruction(); i.Formats != s.Formats || i.K != s.K {
		return fmt.Errorf("%s is about %s with K = %d, %s/%s takes %s with K = %d", v.check, s.Formats, s.K, v.target, i.Name, i.Formats, i.K)
	}
	failed, unstable, codes := 0, 0, 0
	nan, zero := v.policy.strictness()
	err = choose.Check(ctx, s, cases, u, oracle.Policy{NaN: *nan, Zero: *zero}, func(f *choose.Failed) error {
		switch {
		case f.Unstable():
			unstable++
		case f.Codes:
			codes++
			fallthrough
		default:
			failed++
		}
		return v.result(f, f.Write)
	})
	if err != nil {
		return err
	}
	if !v.json {
		text := fmt.Sprintf("%s of %s, %d failed", readable.Plural(len(cases), "test"), s.Instruction, failed)
		if unstable > 0 {
			text += fmt.Sprintf(", %d unstable", unstable)
		}
		if codes > 0 {
			text += fmt.Sprintf("; %d only in the code of a NaN or the sign of a zero, which --nan class --zero class lets pass", codes)
		}
		if failed > 0 {
			text += "; after the colon stands what a test is for, not why it failed"
		}
		fmt.Fprint(v.stdout, readable.Hanging(text, v.width))
	}
	if failed+unstable > 0 {
		return errMismatch
	}
	return v.stdout.Err()
}

// openToCheck opens the unit that is to run a set: the instruction that was named, or the
// target's only one.
func (v *vectorsCmd) openToCheck() (devices.Target, devices.Unit, error) {
	t, u, err := v.open()
	if err == nil {
		return t, u, nil
	}
	if target, openErr := open.Target(v.target); openErr == nil {
		only := len(target.Instructions()) == 1
		target.Close()
		if only {
			return open.Unit(v.target, "", "")
		}
	}
	return nil, nil, err
}

// progress reports a long table's progress on stderr.
func (a *app) progress(began time.Time, what string) {
	fmt.Fprintf(a.stderr, "%6s  %s\n", readable.Clock(time.Since(began)), what)
}
