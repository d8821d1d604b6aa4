package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/triage/eval"
)

// evalCmd is mmafuzz eval.
type evalCmd struct {
	*app
	unitFlags
	chain     bool
	hwvectors bool
	explain   bool
}

func newEval(a *app) *cobra.Command {
	e := &evalCmd{app: a}
	c := &cobra.Command{
		Use:   "eval --target T --inst I",
		Short: "compute dot products read from standard input",
		Long: `eval reads one dot product a line and writes D, one line each, in hexadecimal:

  a0,a1,.. b0,b1,.. c [sa=..,.. sb=..,..]

in codes of whole digits of their formats: FP4, FP6, FP8 and scales two digits,
FP16 and BF16 four, TF32 (the register) and FP32 eight, FP64 sixteen; - or nothing for the
C of an instruction without one. Conversions have a B: 00 or nothing where it is the format
one, random bits (rbits8 two digits, rbits16 four, rbits20 eight), or a scale,
which is the code that the hardware takes (exponent field of an FP32 scale), or both, the random
bits below the scale (ue8m0-inverse-rbits20 eight). Shorter a and b are filled up with zeros.
Blank lines and lines that begin with # are passed through.

  echo 3c00,3c00 3c00,0c00 00000000 | mmafuzz eval --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32

A bad line ends it: the line's number and what is wrong go to stderr, exit 2.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	f := c.Flags()
	e.unitFlags.add(c, "sim:hopper")
	f.BoolVar(&e.chain, "chain", false, "allow more than K elements: the instruction is executed repeatedly with C = the previous D")
	f.BoolVar(&e.hwvectors, "hwvectors", false, "read rows of recorded GPU results instead: a, b, c as FP32, and results, which are ignored; gzip or text")
	f.BoolVar(&e.explain, "explain", false, "print the picture of each dot product")
	return c
}

// run writes results before it waits for more input, so that another program can hold a
// dialogue with it.
func (e *evalCmd) run(ctx context.Context) error {
	t, u, err := e.open()
	if err != nil {
		return err
	}
	defer t.Close()
	out := bufio.NewWriter(printable.Raw(e.stdout))
	defer out.Flush()
	ev := eval.Evaluator{Unit: u, Target: e.target, Chain: e.chain, Explain: e.explain, Idle: func() { out.Flush() }}
	ev.Result = func(r *eval.Result) error {
		if e.json {
			return e.writeJSON(r)
		}
		return errors.Join(r.Write(out, e.textOptions()), e.stdout.Err())
	}
	ev.Comment = func(line string) error {
		if !e.json {
			fmt.Fprintln(out, printable.Text(line))
		}
		return e.stdout.Err()
	}
	if e.hwvectors {
		return ev.Recorded(ctx, e.stdin)
	}
	return ev.Lines(ctx, e.stdin)
}
