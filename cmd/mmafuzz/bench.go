package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck/measure"
)

// benchCmd is mmafuzz bench.
type benchCmd struct {
	*app
	only   string
	target string
	inst   string
	count  int
	time   time.Duration
	list   bool
	soak   time.Duration
	every  time.Duration
	out    string

	pattern *regexp.Regexp
	here    *measure.Machine
	line    statusLine
	notes   []string // what could not be measured, and why
}

// sections are the parts of bench, in order.
var sections = []string{"models", "targets", "loop"}

func newBench(a *app) *cobra.Command {
	b := &benchCmd{app: a, line: statusLine{app: a}}
	c := &cobra.Command{
		Use:   "bench [SECTION]...",
		Short: "measure the speed of models, targets and the whole loop on this machine",
		Long: `bench measures on this machine, all of it or the sections that are named:

  models   every operation, on each path that this processor has: Go, AVX2, AVX-512;
           processor time of one core, on raw bits and on finite numbers
  targets  what can be compared here: simulators, the processor, a child process,
           GPUs, and how much of the time passes outside of the computation itself
  loop     end to end: generate, evaluate two units, compare, take features

Every measurement is repeated; the table has medians and, after ±, half of the distance
between the quartiles. Inputs are always the same.

  mmafuzz bench
  mmafuzz bench models --only 'fp16.*avx' --time 1m --count 21
  mmafuzz bench targets --target cuda:0 --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz bench loop --soak 1h --out curve.tsv

With --soak it runs the loop for that time and looks at the memory: the verdict is
"growing" if the least heap of the last third of the time, after garbage collection,
is above the largest of the second third by more than 5 % and 1 MiB, else "flat".

Exit status: 0 measured, 1 the memory grows, 2 trouble, 75 incomplete: interrupted.`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: sections,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.check(args, cmd.Flags()); err != nil {
				return err
			}
			if b.soak > 0 {
				return b.runSoak(cmd.Context())
			}
			return b.run(cmd.Context(), args)
		},
	}
	f := c.Flags()
	f.StringVar(&b.only, "only", "", "only measurements whose name matches this `regexp`; --list lists the names")
	f.BoolVar(&b.list, "list", false, "list what would be measured")
	f.IntVar(&b.count, "count", 7, "`number` of runs of each measurement, of which the median counts")
	f.DurationVar(&b.time, "time", 10*time.Second, "about the `time` for everything")
	f.StringVar(&b.target, "target", "", "measure this `target` in place of all that are found")
	f.StringVar(&b.inst, "inst", "", "its `instruction`")
	f.DurationVar(&b.soak, "soak", 0, "run the loop for this `time` and watch the memory")
	f.DurationVar(&b.every, "every", 0, "`time` between looks at the memory (0: a hundredth of --soak)")
	f.StringVar(&b.out, "out", "", "`file` of the curve of --soak, as a table")
	completeTargets(c, "target")
	completeInstructions(c, "inst", &b.target)
	return c
}

// check settles the flags.
func (b *benchCmd) check(args []string, f *pflag.FlagSet) error {
	for _, s := range args {
		if err := checkWord("section", s, sections...); err != nil {
			return hinted("usage: mmafuzz bench [models] [targets] [loop]", "%s", strings.TrimPrefix(err.Error(), "--"))
		}
	}
	var err error
	switch {
	case b.count < 1:
		return fmt.Errorf("--count is %d, at least 1 is needed", b.count)
	case b.time <= 0:
		return fmt.Errorf("--time is %s, more than 0 is needed", b.time)
	case b.inst != "" && b.target == "":
		return hinted("name its target, for example --target sim:hopper", "--inst %s is an instruction of no target", b.inst)
	case b.out != "" && b.soak <= 0:
		return hinted("standard output takes the table: > FILE", "--out is for --soak")
	}
	if err := b.checkSoak(args, f); err != nil {
		return err
	}
	if b.pattern, err = regexp.Compile(b.only); err != nil {
		return hinted("regexp/syntax is documented at go doc regexp/syntax", "--only: %v", err)
	}
	return nil
}

// checkSoak settles the flags of --soak, which measures nothing else than the loop.
func (b *benchCmd) checkSoak(args []string, f *pflag.FlagSet) error {
	switch {
	case f.Changed("every") && !f.Changed("soak"):
		return errors.New("--every is for --soak")
	case !f.Changed("soak"):
		return nil
	case b.soak <= 0:
		return hinted("give a time such as 10m or 8h", "--soak is %s, which is no time at all", b.soak)
	case b.every < 0:
		return fmt.Errorf("--every is %s; 0 is a hundredth of --soak", b.every)
	}
	for _, s := range args {
		if s != "loop" {
			return hinted("leave it out, or measure it in a command of its own", "--soak runs the loop and not the section %s", s)
		}
	}
	err := excluded(f, "soak", "only", "list", "count", "time", "target", "inst")
	return withHint(err, "--soak runs one pair of simulators, for the time that it is given")
}

// measured is one measurement.
type measured struct {
	Name    string         `json:"name"`
	Unit    string         `json:"unit"`  // ns/tile or dots/s
	Clock   string         `json:"clock"` // thread or wall
	Runs    int            `json:"runs"`
	Median  float64        `json:"median"`
	Low     float64        `json:"low"`  // quartiles
	High    float64        `json:"high"` //
	Cycles  float64        `json:"cycles_per_product,omitempty"`
	Kernel  string         `json:"kernel,omitempty"`
	Outside *float64       `json:"outside,omitempty"`
	Shape   string         `json:"shape,omitempty"`
	series  measure.Series // of Unit
	group   string         // row of the table
	column  string
}

// benchmark is a measurement that is to be made.
type benchmark struct {
	name string
	run  func(context.Context, measure.Timing) (*measured, error)
}

// run measures sections.
func (b *benchCmd) run(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = sections
		if b.target != "" {
			names = []string{"targets"}
		}
	}
	all, done, err := b.plan(names)
	defer done()
	if err != nil {
		return err
	}
	if b.list {
		var rows [][]string
		for _, m := range all {
			rows = append(rows, []string{m.name})
		}
		return b.table([]string{"name"}, rows)
	}
	b.here = measure.Here()
	if b.json {
		if err := b.writeJSON(map[string]*measure.Machine{"machine": b.here}); err != nil {
			return err
		}
	}
	results, err := b.measureAll(ctx, all)
	if !b.json {
		b.write(results)
	}
	if err != nil {
		return err
	}
	return b.stdout.err
}

// plan returns what is to be measured, and a function that gives back what it opened.
func (b *benchCmd) plan(names []string) (all []benchmark, done func(), err error) {
	var closers []func()
	done = func() {
		for _, f := range closers {
			f()
		}
	}
	for _, s := range sections {
		if !slices.Contains(names, s) {
			continue
		}
		var some []benchmark
		switch s {
		case "models":
			some, err = b.models()
		case "targets":
			var release func()
			some, release, err = b.targets()
			closers = append(closers, release)
		case "loop":
			some = b.loops()
		}
		if err != nil {
			return nil, done, err
		}
		for _, m := range some {
			if m.name = s + "/" + m.name; b.pattern.MatchString(m.name) {
				all = append(all, m)
			}
		}
	}
	if len(all) == 0 {
		return nil, done, hinted("mmafuzz bench --list lists them", "no measurement has a name that matches %q", b.only)
	}
	return all, done, nil
}

// measureAll makes measurements. What it has until an error it returns with it.
func (b *benchCmd) measureAll(ctx context.Context, all []benchmark) ([]*measured, error) {
	defer b.line.clear()
	b.line.last = time.Now()
	each := b.time / time.Duration(len(all)*(b.count+3)) // some are spent to find out how many calls that are
	timing := measure.Timing{Runs: b.count, Each: min(max(each, 100*time.Microsecond), time.Second)}
	var results []*measured
	for n, m := range all {
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		b.line.show(statusField{text: fmt.Sprintf("%d/%d  %s", n+1, len(all), m.name)})
		r, err := m.run(ctx, timing)
		if err != nil {
			return results, fmt.Errorf("%s: %w", m.name, err)
		}
		r.Name = m.name
		r.fill()
		results = append(results, r)
		if b.json {
			if err := b.writeJSON(r); err != nil {
				return results, err
			}
		}
	}
	return results, nil
}

// fill sets the fields that follow from the series.
func (m *measured) fill() {
	m.Runs, m.Median = len(m.series), m.series.Median()
	m.Low, m.High = m.series.Quartiles()
}
