package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/bench"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// benchCmd is mmafuzz bench.
type benchCmd struct {
	*app
	only   string
	target string
	inst   string
	like   string
	count  int
	time   time.Duration
	list   bool
	device bool
	soak   time.Duration
	every  time.Duration
	out    string

	pattern *regexp.Regexp
	line    statusLine
}

func newBench(a *app) *cobra.Command {
	b := &benchCmd{app: a, line: statusLine{app: a}}
	c := &cobra.Command{
		Use:   "bench [SECTION]...",
		Short: "measure the speed of models, targets and the whole loop on this machine",
		Long: `bench measures on this machine, all of it or the sections that are named:

  models   every operation and the references, on each path that this processor has:
           Go, AVX2, AVX-512; processor time of one core, on raw bits and on finite
           numbers
  targets  what can be compared here: simulators, the processor, a child process,
           GPUs, and how much of the time passes outside of the computation itself
  loop     end to end: generate, evaluate two units, compare, take features

Every measurement is repeated; the table has medians and, after ±, half of the distance
between the quartiles. Inputs are always the same.

  mmafuzz bench
  mmafuzz bench models --only 'fp16.*avx' --time 1m --count 21
  mmafuzz bench targets --target cuda:0 --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz bench targets --target ref:exact --like sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz bench loop --soak 1h --out curve.tsv

With --device it measures instructions of an NVIDIA GPU on one multiprocessor, as Sun et
al. do: the cycles from an instruction's issue to its result, and the multiplications
with additions a cycle of 1 to 16 warps with an instruction-level parallelism
(ILP) of 1 to 6; then loads from shared memory, ldmatrix and ld.shared, in bytes a cycle,
by the number of words that they ask one bank for. The table has the least ILP at which 4 and 8 warps get nearly all of
their throughput, and under it what the paper prints for this GPU; -v has all
combinations, with the latency in parentheses.

  mmafuzz bench --device --target cuda:0 --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz bench --device --inst ldmatrix

With --soak it runs the loop for that time and looks at the memory: the verdict is
"growing" if the least heap of the last third of the time, after garbage collection,
is above the largest of the second third by more than 5 % and 1 MiB, else "flat".

Exit status: 0 measured, 1 the memory grows, 2 trouble, 75 incomplete: interrupted.`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: bench.Sections,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.check(args, cmd.Flags()); err != nil {
				return err
			}
			switch {
			case b.device:
				return b.runDevice(cmd.Context(), args, cmd.Flags())
			case b.soak > 0:
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
	f.StringVar(&b.inst, "inst", "", "`instruction` of --target")
	f.StringVar(&b.like, "like", "", "for reference arithmetic: a `target` whose instruction gives the formats, such as sim:hopper")
	f.BoolVar(&b.device, "device", false, "measure latency and throughput of a GPU's instructions (without --target, of cuda:0)")
	f.DurationVar(&b.soak, "soak", 0, "run the loop for this `time` and watch the memory")
	f.DurationVar(&b.every, "every", 0, "`time` between looks at the memory (0: a hundredth of --soak)")
	f.StringVar(&b.out, "out", "", "`file` of the curve of --soak, as a table")
	completeTargets(c, "target", "like")
	completeInstructions(c, "inst", &b.target)
	return c
}

// check checks the flags.
func (b *benchCmd) check(args []string, f *pflag.FlagSet) error {
	for _, s := range args {
		if err := checkWord("section", s, bench.Sections...); err != nil {
			return hint.New("usage: mmafuzz bench [models] [targets] [loop]", "%s", strings.TrimPrefix(err.Error(), "--"))
		}
	}
	const mostRuns = 1_000_000 // all times are kept
	err := upTo(mostRuns, "count", b.count)
	switch {
	case err != nil:
		return err
	case b.time <= 0:
		return fmt.Errorf("--time is %s, more than 0 is needed", b.time)
	case b.inst != "" && b.target == "" && !b.device:
		return hint.New("name its target, for example --target sim:hopper", "--inst %s is an instruction of no target", b.inst)
	case b.like != "" && b.target == "":
		return hint.New("name it, for example --target ref:exact", "--like %s is for reference arithmetic, and --target names none", b.like)
	case b.out != "" && b.soak <= 0:
		return hint.New("standard output takes the table: > FILE", "--out is for --soak")
	}
	if err := b.checkSoak(args, f); err != nil {
		return err
	}
	if b.pattern, err = regexp.Compile(b.only); err != nil {
		return hint.New("https://pkg.go.dev/regexp/syntax describes the syntax", "--only: %v", err)
	}
	return nil
}

// checkSoak checks the flags of --soak, which measures only the loop.
func (b *benchCmd) checkSoak(args []string, f *pflag.FlagSet) error {
	switch {
	case f.Changed("every") && !f.Changed("soak"):
		return errors.New("--every is for --soak")
	case !f.Changed("soak"):
		return nil
	case b.soak <= 0:
		return hint.New("give a time such as 10m or 8h", "--soak is %s, it must be positive", b.soak)
	case b.every < 0:
		return fmt.Errorf("--every is %s; 0 is a hundredth of --soak", b.every)
	}
	for _, s := range args {
		if s != "loop" {
			return hint.New("leave it out, or measure it in a command of its own", "--soak runs the loop and not the section %s", s)
		}
	}
	err := excluded(f, "soak", "only", "list", "count", "time", "target", "inst", "like")
	return hint.Add(err, "--soak runs one pair of simulators, for the time that it is given")
}

// run measures sections.
func (b *benchCmd) run(ctx context.Context, sections []string) error {
	if len(sections) == 0 {
		sections = bench.Sections
		if b.target != "" {
			sections = []string{"targets"}
		}
	}
	o := bench.Options{Only: b.pattern, Runs: b.count, Time: b.time, Child: serveChild}
	if b.target != "" && slices.Contains(sections, "targets") {
		var err error
		if o.Target, o.Unit, err = open.Unit(b.target, b.inst, b.like); err != nil {
			return err
		}
		defer o.Target.Close()
	}
	m, err := bench.New(sections, o)
	if errors.Is(err, bench.ErrNoMatch) {
		return hint.Add(err, "mmafuzz bench --list lists them")
	} else if err != nil {
		return err
	}
	defer m.Close()
	if b.list {
		var rows [][]string
		for _, name := range m.Names() {
			rows = append(rows, []string{name})
		}
		return b.table([]string{"name"}, rows)
	}
	if err := b.writeMachine(m.Machine); err != nil {
		return err
	}
	b.line.last = time.Now()
	results, err := m.Run(ctx, func(n int, name string) {
		b.line.show(statusField{text: fmt.Sprintf("%d/%d  %s", n+1, len(m.Names()), name)})
	}, func(r *bench.Measurement) error {
		if b.json {
			return b.writeJSON(r)
		}
		return nil
	})
	b.line.clear()
	if !b.json {
		err = cmp.Or(err, b.writeDocument(m.Document(results), "text", b.verbose))
	}
	return err
}

// serveChild starts this program as a child process that serves sim:hopper.
func serveChild(name string) (devices.Target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Isolate(name, self, "serve", "sim:hopper")
}

// saveTable writes a table to a file, all of it or nothing, or to stdout.
func (a *app) saveTable(out string, table []byte) error {
	if out == "" {
		_, err := a.stdout.Write(table)
		return err
	}
	return corpus.ReplaceFile(out, table)
}

// writeMachine, with --json, writes a description of this machine.
func (b *benchCmd) writeMachine(m *measure.Machine) error {
	if !b.json {
		return nil
	}
	return b.writeJSON(map[string]*measure.Machine{"machine": m})
}

// runDevice measures the instructions of a GPU.
func (b *benchCmd) runDevice(ctx context.Context, args []string, f *pflag.FlagSet) error {
	if err := excluded(f, "device", "like", "only", "list", "count", "time", "soak"); err != nil {
		return hint.Add(err, "--device repeats an instruction a thousand times, on one multiprocessor")
	}
	if len(args) > 0 {
		return hint.New("leave it out, or measure it in a command of its own", "--device measures no section %s", args[0])
	}
	target := cmp.Or(b.target, "cuda:0")
	if kind, _, _ := strings.Cut(target, ":"); kind != "cuda" {
		return hint.New("mmafuzz bench targets --target "+target+" measures this one", "--device is for cuda: targets, not %s", target)
	}
	loads := bench.Loads(b.inst) // all without --inst
	var insts []*mma.Instruction
	if b.inst == "" || len(loads) == 0 {
		var err error
		if insts, err = b.deviceInstructions(target); err != nil {
			return err
		}
	}
	b.line.last = time.Now()
	all, without, err := bench.Pipelines(ctx, target, insts, loads, func(n int, name string) {
		b.line.show(statusField{text: fmt.Sprintf("%d/%d  %s", n+1, len(insts)+len(loads), name)})
	})
	b.line.clear()
	if b.json {
		for i := range all {
			if err := b.writeJSON(map[string]*bench.Pipeline{"pipeline": &all[i]}); err != nil {
				return err
			}
		}
		return err
	}
	return cmp.Or(bench.WritePipelines(b.stdout, all, without, b.verbose), err)
}

// deviceInstructions returns the instruction of --inst, or all of a target.
func (b *benchCmd) deviceInstructions(target string) ([]*mma.Instruction, error) {
	t, err := open.Target(target)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if b.inst != "" {
		i, err := open.Instruction(t, b.inst, "")
		return []*mma.Instruction{i}, err
	}
	var all []*mma.Instruction
	for _, i := range t.Instructions() {
		all = append(all, &i)
	}
	return all, nil
}

// runSoak runs the loop on all processors and watches the memory.
func (b *benchCmd) runSoak(ctx context.Context) error {
	here := measure.Here()
	if err := b.writeMachine(here); err != nil {
		return err
	}
	b.line.last = time.Now()
	soak := bench.Soak{Time: b.soak, Every: b.every, Progress: func(t time.Duration, tiles uint64) {
		b.line.show(statusField{text: fmt.Sprintf("%6s of %s  %s tiles", readable.Clock(t), b.soak, readable.Count(tiles))})
	}}
	if b.json {
		soak.Look = func(l bench.Look) error { return b.writeJSON(map[string]bench.Look{"look": l}) }
	}
	curve, err := soak.Run(ctx)
	b.line.clear()
	interrupted := ctx.Err()
	if err != nil && !errors.Is(err, context.Canceled) || len(curve) == 0 {
		return err
	}
	if b.out != "" {
		if err := b.saveTable(b.out, curve.Table()); err != nil {
			return err
		}
	}
	word, growing := curve.Verdict()
	last := curve[len(curve)-1]
	if b.json {
		err = b.writeJSON(map[string]any{"soak": map[string]any{"verdict": word, "looks": len(curve), "tiles": last.Tiles, "seconds": last.Seconds}})
	} else {
		err = b.writeDocument(curve.Document(here.Processors), "text", b.verbose)
	}
	switch {
	case err != nil:
		return err
	case interrupted != nil:
		t := time.Duration(last.Seconds * float64(time.Second))
		return incomplete(fmt.Errorf("interrupted after %s of %s: the verdict is about these", readable.Clock(t), b.soak))
	case growing != nil:
		return errMismatch
	}
	return nil
}
