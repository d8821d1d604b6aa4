package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// compareCmd is mmafuzz compare.
type compareCmd struct {
	*app
	knownFlags
	baseline   string
	policy     policyFlags
	workers    int
	out        string
	allBundles bool
	maxBundles int
	format     string
	noInfer    bool
}

func newCompare(a *app) *cobra.Command {
	c := &compareCmd{app: a}
	cmd := &cobra.Command{
		Use:   "compare RECORDING RECORDING|TARGET...",
		Short: "compare recordings of different machines, with each other and with an earlier result",
		Long: `compare finds the inputs that recordings have in common, counts where the results
differ, finds the cause of every differing case and shrinks one case of each (using the
models that explain the recordings, since a recording cannot be asked again). Each
recording is compared with each other one, and with each target that is named; changes are told
from what is named first to what is named later.

  mmafuzz compare h100.rec mi300.rec a100.rec
  mmafuzz compare h100.rec sim:hopper
  mmafuzz compare *.rec --baseline yesterday/compare.json --known known.json --out today

Of recordings that are equal, the first by name stands for the others: these are compared
with it alone. Pairs of machines are compared one after the other, so that many take little more
memory than two, and the same command goes on after an interruption.

Two recordings are compared bit by bit, whatever was recorded. By class, any NaN
equals any other: so are compared, of a recording and a live target, the NaNs that
a model leaves open (mmafuzz list instructions --unverified) and those of a program
of yours, and of any two sides with --nan class; a line counts what differs in
codes alone, and what the baseline has of that is not compared.

A difference is new if it is neither in the baseline, which is the compare.json of
an earlier directory or what --json wrote, nor in the list of known differences
(mmafuzz help known). --update-known makes that list or adds the differences that are new
or have expired; what it has already stays as it is. To add what is in the baseline, too, leave
--baseline out.

Exit status: 0 nothing new, 1 something new, 2 trouble, 75 incomplete, even if
something is new: a recording is not complete, or it was interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return hint.New(fmt.Sprintf("usage: %s; see %s --help", cmd.UseLine(), cmd.CommandPath()), "name two recordings at least, or a recording and a target")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if strings.HasPrefix(prefix, "sim:") || strings.HasPrefix(prefix, "ref:") {
				return open.Names(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error { return c.checkFlags(cmd.Flags()) },
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.baseline, "baseline", "", "`file` with the result of an earlier compare")
	c.knownFlags.add(f)
	c.policy.add(cmd, "", "how NaNs are compared: `bits|class` (default: bits; beside a live target class, where the codes of a side are not known)",
		"how signs of zeros are compared: `bits|class` (default: bits; beside a live target class, where those of a side are not known)")
	f.IntVar(&c.workers, "workers", 0, "`number` of goroutines (default: one per processor, and two more for units that compute elsewhere)")
	f.StringVar(&c.out, "out", envOr("MMAFUZZ_OUT", ""), "`directory` of compare.json and the bundles (default: mmafuzz-out/compare-HASH)")
	f.BoolVar(&c.allBundles, "all-bundles", false, "make bundles of known differences and of those in the baseline too")
	f.IntVar(&c.maxBundles, "max-bundles", fuzz.DefaultFindings, "`number` of bundles for each pair of machines; one of each cause comes first")
	formatFlag(f, &c.format, "text")
	c.figuresFlag(f)
	addNoInfer(cmd, &c.noInfer)
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func (c *compareCmd) checkFlags(f *pflag.FlagSet) error {
	return cmp.Or(c.policy.check(f), checkWorkers(c.workers), upTo(mostBundles, "max-bundles", c.maxBundles), c.knownFlags.check(), checkFormat(c.format))
}

// compareMemory is the size in bytes that the garbage collector tries to stay below. Two machines
// and the results so far take about 300 MB, which without a limit becomes twice as much.
const compareMemory = 400 << 20

func (c *compareCmd) run(ctx context.Context, args []string) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(compareMemory))
	}
	comparison, err := c.open(args)
	if err != nil {
		return err
	}
	defer comparison.Close()
	if c.out == "" {
		c.out = ownDir("compare-", func(w io.Writer) {
			for _, arg := range args {
				fmt.Fprintln(w, arg)
			}
			if c.noInfer {
				fmt.Fprintln(w, c.noInfer)
			}
		})
	}
	if err := ownModule(c.out); err != nil {
		return err
	}
	defer c.knownFlags.release(c.app)
	comparison.Out = c.out
	dir, err := c.hold(comparison)
	if err != nil {
		return err
	}
	defer dir.Release()
	ui := newCompareUI(c.app)
	comparison.Observer = ui
	r, err := comparison.Run(ctx)
	ui.line.clear()
	if errors.Is(err, compare.ErrNothing) {
		return hint.Add(err, "record with the same plan, and with this version of the program")
	} else if err != nil {
		return err
	}
	if !r.CutOff { // as the next baseline it would make differences that were not compared look as if they had gone
		if err := dir.Save(r); err != nil {
			return err
		}
		if err := c.knownFlags.write(c.app, r.Differences, r.Counts.Still); err != nil {
			return err
		}
	}
	if c.json {
		err = c.writeJSON(r)
	} else {
		err = c.write(r, dir.File())
	}
	if err == nil && c.figures != "" {
		err = c.export(comparePage(r, dir.File()))
	}
	if err != nil {
		return err
	}
	switch r.Exit {
	case exitTrouble:
		return errors.New(r.Trouble[0])
	case exitIncomplete:
		err := errors.New(r.Incomplete[0])
		if r.CutOff {
			err = hint.Add(err, "the same command goes on; "+compare.ResultFile+" was not written")
		}
		return incomplete(err)
	case exitMismatch:
		return errMismatch
	}
	return nil
}

// open reads the known differences and opens what is compared.
func (c *compareCmd) open(args []string) (*compare.Comparison, error) {
	if err := c.knownFlags.open(); err != nil {
		return nil, err
	}
	o := compare.Options{
		Known: c.knownFlags.Known, Workers: c.workers, MaxFindings: c.maxBundles, AllFindings: c.allBundles, NoInfer: c.noInfer,
	}
	o.NaN, o.Zero = c.policy.strictness()
	return compare.OpenAll(args, c.baseline, o, c.note)
}

// write shows a result.
func (c *compareCmd) write(r *compare.Result, file string) error {
	for _, l := range r.LeftOut {
		c.say("%s", l.String())
	}
	for _, t := range r.Trouble[min(1, len(r.Trouble)):] { // the first is returned as the error
		c.say("%s", t)
	}
	if c.format != "text" {
		return c.writeDocument(comparePage(r, file), c.format, c.verbose)
	}
	if err := r.Write(c.stdout, c.compareText()); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "result: %s\n", file)
	return nil
}

func comparePage(r *compare.Result, file string) *document.Document {
	return compare.Page([]compare.Night{{Result: r, Dir: filepath.Dir(file)}})
}

// compareText says how differences are shown.
func (a *app) compareText() compare.TextOptions {
	return compare.TextOptions{Width: a.width, Verbose: a.verbose, Bold: a.bolden, Command: command()}
}

// compareUI shows how far a comparison has got.
type compareUI struct {
	*app
	began time.Time
	line  statusLine
	what  string // which machines are compared
}

func newCompareUI(a *app) *compareUI {
	return &compareUI{app: a, began: time.Now(), line: newStatusLine(a)}
}

// Models leaves mismatches out: they are those of a recording and a model that is tried.
func (u *compareUI) Models(s *fuzz.State) {
	dots, _, _ := s.Totals()
	u.show("looking for models", dots)
}

func (u *compareUI) Progress(s *fuzz.State) {
	dots, mismatches, causes := s.Totals()
	if dots == 0 { // the first dot products may take as long as the search for the causes
		u.show("comparing", dots)
		return
	}
	u.show("comparing", dots, statusField{fmt.Sprintf("mismatch %s by %s", readable.Count(mismatches), readable.Plural(causes, "cause")), 1})
}

func (u *compareUI) Machines(n, of int, a, b string) {
	u.what = fmt.Sprintf("%d of %d, %s ~ %s: ", n, of, a, b)
}

func (u *compareUI) show(what string, dots uint64, more ...statusField) {
	if u.json {
		return
	}
	what = u.what + what
	if dots > 0 {
		what += fmt.Sprintf(": %s dots", readable.Count(dots))
	}
	u.line.show(append([]statusField{{fmt.Sprintf("%6s", readable.Clock(time.Since(u.began))), 3}, {what, 2}}, more...)...)
}

// hold opens and locks the files that the comparison writes at its end, so that no other
// comparison writes them at the same time, and resumes a comparison that was interrupted, or
// removes what another one left there.
func (c *compareCmd) hold(comparison *compare.Comparison) (*compare.Directory, error) {
	if err := c.knownFlags.hold(); err != nil { // first: it makes no directory
		return nil, err
	}
	dir, err := compare.Hold(c.out)
	if err == nil {
		err = comparison.Resume(dir)
	}
	var foreign *compare.ForeignError
	switch {
	case err == nil:
		return dir, nil
	case errors.Is(err, corpus.ErrInUse):
		err = hint.Add(err, "wait for the other mmafuzz compare, or name another directory with --out")
	case errors.As(err, &foreign), errors.As(err, new(*corpus.ForeignError)), errors.As(err, new(*journal.WriterError)):
		err = hint.Add(err, anotherOut)
	case errors.As(err, new(*bundle.LostError)):
		err = hint.Add(err, moveAway)
	default:
		err = hint.New("name a directory with --out that can be made or written", "cannot use the directory %s: %w", c.out, hint.Bare(err))
	}
	dir.Release()
	return nil, err
}
