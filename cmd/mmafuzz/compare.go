package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// compareCmd is mmafuzz compare.
type compareCmd struct {
	*app
	knownFlags
	baseline   string
	nan, zero  string
	workers    int
	out        string
	allBundles bool
	maxBundles int

	last   *comparison // of --baseline; nil: none
	sides  []*side
	ui     *compareUI
	result comparison
	file   *corpus.Replacement // of the result, held from the beginning on
	cutOff bool                // the campaign did not come to its end
}

func newCompare(a *app) *cobra.Command {
	c := &compareCmd{app: a}
	cmd := &cobra.Command{
		Use:   "compare RECORDING RECORDING|TARGET...",
		Short: "compare recordings of machines that never met, and with last night",
		Long: `compare finds the inputs that recordings have in common, counts where the results
differ, finds the cause of every differing case and shrinks one case of each, on the
models that explain the recordings. Each recording is compared with each other one,
and with each target that is named.

  mmafuzz compare h100.rec mi300.rec a100.rec
  mmafuzz compare h100.rec sim:hopper
  mmafuzz compare *.rec --baseline yesterday/compare.json --known known.json --out today

A difference is new if it is neither in the baseline, which is the compare.json of
an earlier directory or what --json wrote, nor in the list of known differences
(go doc ./corpus Known). --write-known makes such a list of what is left; what its
file has already stays as it is.

Exit status: 0 nothing new, 1 something new, 2 trouble, 75 incomplete, whatever is
new: a recording is not complete, or it was interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return hinted(fmt.Sprintf("usage: %s; see %s --help", cmd.UseLine(), cmd.CommandPath()), "name two recordings at least, or a recording and a target")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if strings.HasPrefix(prefix, "sim:") || strings.HasPrefix(prefix, "ref:") {
				return targetNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		PreRunE: func(*cobra.Command, []string) error { return c.checkFlags() },
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.baseline, "baseline", "", "`file` with the result of an earlier compare")
	c.knownFlags.add(f)
	f.StringVar(&c.nan, "nan", "", "how NaNs are compared: `bits|class` (default: bits, but for what a model leaves open)")
	f.StringVar(&c.zero, "zero", "", "how signs of zeros are compared: `bits|class` (default: bits, but for what a model leaves open)")
	f.IntVar(&c.workers, "workers", 0, "`number` of goroutines (default: one per processor, and two more for units that compute elsewhere)")
	f.StringVar(&c.out, "out", envOr("MMAFUZZ_OUT", ""), "`directory` of compare.json and the bundles (default: mmafuzz-out/compare-HASH)")
	f.BoolVar(&c.allBundles, "all-bundles", false, "make bundles of known differences and of last night's too")
	f.IntVar(&c.maxBundles, "max-bundles", fuzz.DefaultFindings, "`number` of bundles for each two machines; one of each cause comes first")
	_ = cmd.MarkFlagDirname("out")
	oneOf(cmd, "nan", comparisons...)
	oneOf(cmd, "zero", comparisons...)
	return cmd
}

func (c *compareCmd) checkFlags() error {
	for flag, value := range map[string]string{"nan": c.nan, "zero": c.zero} {
		if value != "" {
			if err := checkWord(flag, value, comparisons...); err != nil {
				return err
			}
		}
	}
	if err := checkWorkers(c.workers); err != nil {
		return err
	}
	if c.maxBundles < 1 {
		return fmt.Errorf("--max-bundles is %d, at least 1 is needed", c.maxBundles)
	}
	return c.knownFlags.check()
}

func (c *compareCmd) run(ctx context.Context, args []string) error {
	defer c.closeSides()
	if err := c.open(args); err != nil {
		return err
	}
	if c.out == "" {
		c.out = defaultOut(args)
	}
	if err := ownModule(c.out); err != nil {
		return err
	}
	defer c.release()
	if err := c.hold(); err != nil {
		return err
	}
	if err := clearOut(c.out); err != nil {
		return err
	}
	if err := c.compare(ctx); err != nil {
		return err
	}
	if c.ui.cfg.Pairs == nil && ctx.Err() != nil {
		return ctx.Err() // the models were not found: nothing is compared yet
	}
	if !c.cutOff { // what was not compared would be gone, for the next night
		if err := c.save(); err != nil {
			return err
		}
	}
	if c.json {
		if err := c.writeJSON(&c.result); err != nil {
			return err
		}
	} else {
		c.write()
	}
	switch c.result.Exit {
	case exitTrouble:
		return errors.New(c.result.Trouble[0])
	case exitIncomplete:
		err := errors.New(c.result.Incomplete[0])
		if c.cutOff {
			err = hinted("the same command compares them again; "+compareFile+" was not written", "%s", c.result.Incomplete[0])
		}
		return incomplete(err)
	case exitMismatch:
		return errMismatch
	}
	return nil
}

// open reads all files.
func (c *compareCmd) open(args []string) (err error) {
	if err := c.knownFlags.open(); err != nil {
		return err
	}
	if c.baseline != "" {
		if c.last, err = readComparison(c.baseline); err != nil {
			return withHint(err, "a baseline is the compare.json in the directory of an earlier compare")
		}
		c.noteVersions("the baseline "+c.baseline, c.last.Versions, "differences may be new or gone for that reason alone")
	}
	return c.openSides(args)
}

// defaultOut is a directory named after what is compared.
func defaultOut(args []string) string {
	h := fnv.New32a()
	for _, a := range args {
		fmt.Fprintln(h, a)
	}
	return filepath.Join(outRoot, fmt.Sprintf("compare-%08x", h.Sum32()))
}

// What compare leaves in its directory.
const (
	compareFile   = "compare.json"
	compareBundle = "bundles"
	compareMark   = ".compare" // in the directory of bundles: it is ours
)

// clearOut removes the bundles that an earlier compare has left in a directory, and
// nothing else.
func clearOut(dir string) error {
	bundles := filepath.Join(dir, compareBundle)
	mark := filepath.Join(bundles, compareMark)
	if _, err := os.Stat(bundles); err == nil {
		if _, err := os.Stat(mark); err != nil {
			return hinted("name another directory with --out", "%s is there, but no compare has made it: it is not replaced", bundles)
		}
		if err := os.RemoveAll(bundles); err != nil {
			return err
		}
	}
	err := os.MkdirAll(bundles, 0o777)
	if err == nil {
		err = os.WriteFile(mark, nil, 0o666)
	}
	if err != nil {
		return noCompareDir(dir, err)
	}
	return nil
}
