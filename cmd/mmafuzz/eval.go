package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// evalCmd is mmafuzz eval.
type evalCmd struct {
	*app
	target, inst string
	like         string
	chain        bool
	hwvectors    bool
	explain      bool

	unit devices.Unit
}

func newEval(a *app) *cobra.Command {
	e := &evalCmd{app: a}
	c := &cobra.Command{
		Use:   "eval --target T --inst I",
		Short: "compute dot products read from standard input",
		Long: `eval reads one dot product a line and writes D, one line each, in hexadecimal:

  a0,a1,.. b0,b1,.. c [sa=..,.. sb=..,..]

in codes of whole digits of their formats: FP4, FP6, FP8 and scales two digits,
FP16 and BF16 four, TF32 (the register) and FP32 eight, FP64 sixteen. Shorter a
and b are filled up with zeros. Blank lines and lines that begin with # are
passed through.

  echo 3c00,3c00 3c00,0c00 00000000 | mmafuzz eval --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&e.target, "target", "", "target, such as sim:hopper (required)")
	f.StringVar(&e.inst, "inst", "", "instruction (required, unless the target has only one)")
	f.StringVar(&e.like, "like", "", "for reference arithmetic: a target whose instruction gives the formats, such as sim:hopper")
	f.BoolVar(&e.chain, "chain", false, "allow more than K elements: the instruction is executed repeatedly with C = the previous D")
	f.BoolVar(&e.hwvectors, "hwvectors", false, "read rows of recorded GPU results instead: a, b, c as FP32, and results, which are ignored; gzip or text")
	f.BoolVar(&e.explain, "explain", false, "print the picture of each dot product")
	completeTargets(c, "target", "like")
	completeInstructions(c, "inst", &e.target)
	return c
}

func (e *evalCmd) run(ctx context.Context) error {
	if e.target == "" {
		return errors.New("--target is missing, for example --target sim:hopper")
	}
	t, err := devices.Open(e.target)
	if err != nil {
		return err
	}
	defer t.Close()
	i, err := e.instruction(t)
	if err != nil {
		return err
	}
	if e.unit, err = t.Open(i); err != nil {
		return err
	}
	if e.hwvectors {
		return e.evalRecorded(ctx)
	}
	return e.evalLines(ctx)
}

// instruction finds the instruction that is meant.
func (e *evalCmd) instruction(t devices.Target) (*mma.Instruction, error) {
	rows := t.Instructions()
	if rows == nil {
		if e.like == "" {
			return nil, fmt.Errorf("%s works on any formats: give them with --like, for example --like sim:hopper", t.Name())
		}
		like, err := devices.Open(e.like)
		if err != nil {
			return nil, err
		}
		defer like.Close()
		return devices.Find(like, e.inst)
	}
	if e.inst == "" && len(rows) > 1 {
		return nil, fmt.Errorf("--inst is missing: %s has %d instructions (mmafuzz list instructions %s)", t.Name(), len(rows), t.Name())
	}
	return devices.Find(t, e.inst)
}

func (e *evalCmd) evalLines(ctx context.Context) error {
	i := e.unit.Instruction()
	out := bufio.NewWriter(e.stdout)
	defer out.Flush()
	lines := bufio.NewReaderSize(e.stdin, 1<<20)
	for n := 1; ctx.Err() == nil; n++ {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			return nil
		}
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			fmt.Fprintln(out, text)
			continue
		}
		d, err := mma.ParseDot(i.Formats, i.K, e.chain, strings.Fields(text))
		if err != nil {
			out.Flush()
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := e.evalDot(ctx, out, d); err != nil {
			out.Flush()
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return ctx.Err()
}

// evalDot computes one dot product and writes D, and its picture if asked for.
func (e *evalCmd) evalDot(ctx context.Context, out *bufio.Writer, d *mma.Dot) error {
	i := e.unit.Instruction()
	b := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: len(d.A), Tiles: 1})
	b.Set(0, d)
	res := make([]byte, i.D.Width())
	if err := e.unit.Run(ctx, b, res); err != nil {
		return err
	}
	code := mma.Load(res, i.D.Width(), 0)
	if e.explain {
		return e.explainDot(out, d, code)
	}
	fmt.Fprintln(out, mma.FormatCode(i.D, code))
	return nil
}

// evalRecorded computes the rows of a file of recorded results.
func (e *evalCmd) evalRecorded(ctx context.Context) error {
	out := bufio.NewWriter(e.stdout)
	defer out.Flush()
	_, _, err := corpus.HWFile(e.stdin, func(row corpus.HWRow) error {
		d, err := row.Dot(e.unit.Instruction(), e.chain)
		if err != nil {
			return err
		}
		return e.evalDot(ctx, out, d)
	})
	return err
}
