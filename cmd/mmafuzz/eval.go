package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// evalCmd is mmafuzz eval.
type evalCmd struct {
	*app
	unitFlags
	chain     bool
	hwvectors bool
	explain   bool

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
FP16 and BF16 four, TF32 (the register) and FP32 eight, FP64 sixteen; - for the
C of an instruction without one. Shorter a and b are filled up with zeros. Blank
lines and lines that begin with # are passed through.

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

func (e *evalCmd) run(ctx context.Context) error {
	t, u, err := e.open()
	if err != nil {
		return err
	}
	defer t.Close()
	e.unit = u
	if e.hwvectors {
		return e.evalRecorded(ctx)
	}
	return e.evalLines(ctx)
}

// longestLine is the limit of a line in bytes: more than the operands of any instruction.
const longestLine = 16 << 20

// lines reads lines in the background, so that an interrupt ends the program
// while it waits for one. The channel is closed at the end or after an error.
func lines(ctx context.Context, r io.Reader) (<-chan string, *error) {
	ch := make(chan string, 1024)
	failed := new(error)
	go func() {
		defer close(ch)
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, 1<<16), longestLine)
		n := 0
		for ; in.Scan(); n++ {
			select {
			case ch <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("longer than 16 MiB: this is no dot product")
		}
		if err != nil {
			*failed = fmt.Errorf("line %d: %w", n+1, err)
		}
	}()
	return ch, failed
}

// evalLines computes the dot products that it reads. It writes its results before it waits
// for more input, so that another program can hold a dialogue with it.
func (e *evalCmd) evalLines(ctx context.Context) error {
	out := bufio.NewWriter(printable.Raw(e.stdout))
	defer out.Flush()
	ch, failed := lines(ctx, e.stdin)
	for n := 1; ; n++ {
		if len(ch) == 0 {
			out.Flush()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-ch:
			if !more {
				return *failed
			}
			if err := e.evalLine(ctx, out, n, line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		if e.stdout.Err() != nil {
			return e.stdout.Err()
		}
	}
}

func (e *evalCmd) evalLine(ctx context.Context, out *bufio.Writer, n int, line string) error {
	text := strings.TrimSpace(line)
	if text == "" || strings.HasPrefix(text, "#") {
		if !e.json {
			fmt.Fprintln(out, printable.Text(line))
		}
		return nil
	}
	i := e.unit.Instruction()
	d, err := mma.ParseDot(i.Formats, i.K, e.chain, strings.Fields(text))
	if err != nil {
		return err
	}
	return e.evalDot(ctx, out, n, d)
}

// evaluated is a line of eval.
type evaluated struct {
	Line  int           `json:"line"`
	D     string        `json:"d"`
	Trace *report.Steps `json:"trace,omitempty"`
}

// evalDot computes the dot product of a line and writes D, and its picture if
// asked for.
func (e *evalCmd) evalDot(ctx context.Context, out *bufio.Writer, line int, d *mma.Dot) error {
	i := e.unit.Instruction()
	b := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: len(d.A), Tiles: 1})
	b.Set(0, d)
	res := make([]byte, i.D.Width())
	if err := e.unit.Run(ctx, b, res); err != nil {
		return err
	}
	code := mma.Load(res, i.D.Width(), 0)
	text := mma.FormatCode(i.D, code)
	var side *report.Side
	if e.explain {
		var err error
		if side, err = e.side(d, code); err != nil {
			return err
		}
	}
	switch {
	case e.json:
		return e.writeJSON(evaluated{line, text, report.StepsOf(side, i.D)})
	case e.explain:
		return e.draw(out, d, side)
	}
	fmt.Fprintln(out, text)
	return nil
}

// side prepares the picture of a dot product.
func (e *evalCmd) side(d *mma.Dot, code uint64) (*report.Side, error) {
	i := e.unit.Instruction()
	side := &report.Side{Name: e.target + "/" + i.Name, Result: code}
	p := e.unit.Model()
	if p == nil {
		return side, nil
	}
	model, err := sim.New(i.Formats, i.K, *p)
	if err != nil {
		return nil, err
	}
	side.Trace, side.Params = &sim.Trace{}, p
	model.Dot(d, side.Trace)
	return side, nil
}

// draw writes the picture of a dot product.
func (e *evalCmd) draw(w io.Writer, d *mma.Dot, side *report.Side) error {
	i := e.unit.Instruction()
	in := &report.Input{Title: i.Name, Formats: i.Formats, Dot: d}
	if err := report.TextOne(w, in, side, e.textOptions()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// evalRecorded computes the rows of a file of recorded results.
func (e *evalCmd) evalRecorded(ctx context.Context) error {
	out := bufio.NewWriter(printable.Raw(e.stdout))
	defer out.Flush()
	_, _, err := corpus.HWFile(e.stdin, func(row corpus.HWRow) error {
		d, err := row.Dot(e.unit.Instruction(), e.chain)
		if err != nil {
			return err
		}
		return errors.Join(e.evalDot(ctx, out, row.Line, d), e.stdout.Err())
	})
	return err
}
