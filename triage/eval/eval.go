// Package eval computes dot products that are written as text, on any unit.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// eval, an object for each dot product:
//
//	line                            number    of the input, from 1
//	d                               string    the result
//	trace.name                      string?   with --explain, where the arithmetic is known: the target; all of trace as in a bundle's trace-a.json
//	trace.inferred                  bool?     true: the trace is of the program that explains the unit, not of the unit
//	trace.params                    object*?  parameters, as in a model: file
//	trace.d                         string?   the result
//	trace.products[].k              number?   index of the elements
//	trace.products[].subnormal      string?   the factors that are subnormal: a, b or ab
//	trace.products[].flushed        string?   the factors that were flushed, and count as zero
//	trace.products[].value          string?   exact, as %a of C writes it; +0, -0, +inf, -inf, nan
//	trace.products[].e              number?   nominal exponent, if it has one
//	trace.sums[].place              string?   stage0, stage1, join or late: go doc ./sim/mma
//	trace.sums[].exec               number?   execution of the instruction, with --chain
//	trace.sums[].lane               number?   accumulator
//	trace.sums[].step               number?   number of the first product of the step
//	trace.sums[].group              number?   index of this sum among the step's sums in this place
//	trace.sums[].e                  number?   exponent that the terms are aligned with
//	trace.sums[].terms[].from       string?   product, group, partial, c, acc, zero or lane
//	trace.sums[].terms[].k          number?   number of the product, group, sum or lane
//	trace.sums[].terms[].value      string?
//	trace.sums[].terms[].e          number?   nominal exponent, if it has one
//	trace.sums[].terms[].cut.q      number?   what lies below 2^q was rounded away
//	trace.sums[].terms[].cut.mode   string?   how it was rounded
//	trace.sums[].terms[].cut.value  string?   what is left
//	trace.sums[].value              string?   sum of the cut terms
//	trace.sums[].rounds[].name      string?   round, post, acc, late or out
//	trace.sums[].rounds[].round     object*?  as in a model: file
//	trace.sums[].rounds[].value     string?   value after the rounding
//
// The API of this package is not promised: it may change in any version.
package eval

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Evaluator computes dot products on a unit.
type Evaluator struct {
	Unit    devices.Unit
	Target  string // for pictures
	Chain   bool   // allows more than K elements: the instruction is executed repeatedly with C = the previous D
	Explain bool   // results have traces and pictures, where the arithmetic is known

	// Result gets each result, Comment each line that is blank or a comment, as it is, and
	// Idle is called before it waits for input. Each may be nil.
	Result  func(*Result) error
	Comment func(line string) error
	Idle    func()
}

// Result is the result of a line.
type Result struct {
	Line  int           `json:"line"`
	D     string        `json:"d"`
	Trace *report.Steps `json:"trace,omitempty"`

	input *report.Input
	side  *report.Side // nil: without Explain
}

// Write writes the result for people: D, or the picture of its computation.
func (r *Result) Write(w io.Writer, o report.TextOptions) error {
	if r.side != nil {
		if err := report.TextOne(w, r.input, r.side, o); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w)
		return err
	}
	_, err := fmt.Fprintln(w, r.D)
	return err
}

// longestLine is the limit of a line in bytes: more than the operands of any instruction.
const longestLine = 16 << 20

// lines reads lines in the background, until the context ends, so that an interrupt ends the
// program while it waits for one. The channel is closed at the end or after an error.
func lines(ctx context.Context, r io.Reader) (<-chan string, *error) {
	ch := make(chan string, 1024)
	failed := new(error)
	go func() {
		defer close(ch)
		*failed = parallel.Guarded(func() error { return send(ctx, r, ch) })
	}()
	return ch, failed
}

// send reads lines into a channel.
func send(ctx context.Context, r io.Reader, ch chan<- string) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), longestLine)
	n := 0
	for ; in.Scan(); n++ {
		select {
		case ch <- in.Text():
		case <-ctx.Done():
			return nil
		}
	}
	err := in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = errors.New("longer than 16 MiB: this is no dot product")
	}
	if err != nil {
		err = fmt.Errorf("line %d: %w", n+1, err)
	}
	return err
}

// Lines computes the dot products that it reads, one on a line.
func (e *Evaluator) Lines(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a bad line ends the reading, too
	ch, failed := lines(ctx, in)
	for n := 1; ; n++ {
		if len(ch) == 0 && e.Idle != nil {
			e.Idle()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-ch:
			if !more {
				return *failed
			}
			if err := e.line(ctx, n, line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
}

func (e *Evaluator) line(ctx context.Context, n int, line string) error {
	text := strings.TrimSpace(line)
	if text == "" || strings.HasPrefix(text, "#") {
		if e.Comment == nil {
			return nil
		}
		return e.Comment(line)
	}
	i := e.Unit.Instruction()
	d, err := mma.ParseDot(i.Formats, i.K, e.Chain, strings.Fields(text))
	if err != nil {
		return err
	}
	return e.dot(ctx, n, d)
}

// Recorded evaluates the inputs of a file of recorded results of GPUs; the recorded results are
// ignored.
func (e *Evaluator) Recorded(ctx context.Context, in io.Reader) error {
	_, _, err := corpus.HWFile(in, func(row corpus.HWRow) error {
		d, err := row.Dot(e.Unit.Instruction(), e.Chain)
		if err != nil {
			return err
		}
		return e.dot(ctx, row.Line, d)
	})
	return err
}

// dot computes the dot product of a line and reports the result.
func (e *Evaluator) dot(ctx context.Context, line int, d *mma.Dot) error {
	i := e.Unit.Instruction()
	code, err := devices.Result(ctx, e.Unit, d)
	if err != nil {
		return err
	}
	r := &Result{Line: line, D: mma.FormatCode(i.D, code)}
	if e.Explain {
		if r.side, err = e.side(d, code); err != nil {
			return err
		}
		r.input = &report.Input{Title: i.Name, Formats: i.Formats, Dot: d}
		r.Trace = report.StepsOf(r.side, i.D)
	}
	if e.Result == nil {
		return nil
	}
	return e.Result(r)
}

// side prepares the picture of a dot product.
func (e *Evaluator) side(d *mma.Dot, code uint64) (*report.Side, error) {
	i := e.Unit.Instruction()
	side := &report.Side{Name: e.Target + "/" + i.Name, Result: code}
	p := e.Unit.Model()
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
