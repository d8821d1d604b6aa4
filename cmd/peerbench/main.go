package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// errDiffers reports that the peer computes something else.
var errDiffers = errors.New("results differ")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := newCommand(stdout, stderr)
	c.SetArgs(args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	switch err := c.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, errDiffers):
		return 1
	default:
		fmt.Fprintf(stderr, "peerbench: %v\n", err)
		return 2
	}
}

// options are the flags.
type options struct {
	only, python, cache, version string
	json                         bool
	count, dots                  int
	each                         time.Duration
}

func newCommand(stdout, stderr io.Writer) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "peerbench",
		Short: "compare the results and the speed of MMA-Sim with those of mmafuzz",
		Long: `peerbench installs MMA-Sim where that can be done, runs it and the models of mmafuzz
on the same inputs, one thread each, and compares results and speed.
go doc ./cmd/peerbench tells more.

Exit status: 0 the same bits, 1 MMA-Sim computes something else, 2 trouble.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), stdout, stderr) },
	}
	f := c.Flags()
	f.StringVar(&o.only, "only", "", "only operations whose name matches this `regexp`")
	f.BoolVar(&o.json, "json", false, "write JSON lines")
	f.IntVar(&o.count, "count", 7, "`number` of runs that are timed")
	f.DurationVar(&o.each, "time", 50*time.Millisecond, "`time` of a run, at least")
	f.IntVar(&o.dots, "dots", 2048, "`number` of dot products of each generator that are compared")
	f.StringVar(&o.python, "python", "", "`interpreter` that has mmasim (default: one is made)")
	f.StringVar(&o.cache, "cache", "", "`directory` of what is installed (default: below the user's cache)")
	f.StringVar(&o.version, "mmasim", mmasimVersion, "`version` to install")
	return c
}

// run compares all that is asked for.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	if o.count < 1 || o.dots < 1 {
		return errors.New("--count and --dots are 1 at least")
	}
	p, err := o.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer p.Close()
	here := measure.Here()
	if o.json {
		if err := json.NewEncoder(stdout).Encode(map[string]any{"v": 1, "machine": here, "peer": p.versions}); err != nil {
			return err
		}
	}
	b := &bench{peer: p, runs: o.count, each: o.each, dots: o.dots}
	var all []*comparison
	for _, op := range instructions() {
		if !only.MatchString(op.Name) {
			continue
		}
		fmt.Fprintf(stderr, "%s\n", op.Name)
		c, err := b.compare(ctx, op)
		if err != nil {
			return fmt.Errorf("%s: %w", op.Name, err)
		}
		all = append(all, c)
		if o.json {
			if err := json.NewEncoder(stdout).Encode(c); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("no operation has a name that matches %q", o.only)
	}
	if !o.json {
		if err := write(stdout, here, p.versions, all); err != nil {
			return err
		}
	}
	for _, c := range all {
		if c.Differ > 0 {
			return errDiffers
		}
	}
	return nil
}

// start starts the peer.
func (o *options) start(ctx context.Context, log io.Writer) (*peer, error) {
	if o.cache == "" {
		var err error
		if o.cache, err = cacheDir(); err != nil {
			return nil, err
		}
	}
	if o.python == "" {
		var err error
		if o.python, err = interpreter(ctx, o.cache, o.version, log); err != nil {
			return nil, err
		}
	}
	python, err := exec.LookPath(o.python)
	if err == nil {
		python, err = filepath.Abs(python) // the peer starts elsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("--python: %w", err)
	}
	return startPeer(ctx, python, o.cache)
}

// write writes the table for people.
func write(w io.Writer, here *measure.Machine, versions map[string]string, all []*comparison) error {
	fmt.Fprintf(w, "%s; MMA-Sim %s, PyTorch %s, Python %s; processor time of one thread, MMA-Sim's by that of mmafuzz\n\n",
		here.Processor, versions["mmasim"], versions["torch"], versions["python"])
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "OPERATION\tONE TILE\tBATCHED\tRESULTS\tDIFFER\tUNKNOWN\tINSTRUCTION")
	for _, c := range all {
		if c.Lacks != "" {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%s: %s\n", c.Operation, c.Instruction, c.Lacks)
			continue
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%d\t%d\t%d\t%s\n", c.Operation, c.Single.Ratio, c.Batched.Ratio, c.Dots, c.Differ, c.Unknown, c.Instruction)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range all {
		if c.Witness != "" {
			fmt.Fprintf(w, "\n%s/%s differs, first on %s\n", c.Arch, c.Instruction, c.Witness)
		}
	}
	return nil
}
